package results

import "iter"

// A job1 is a row of the jobs table in format 1.
type job1 struct {
	Configuration string   `parquet:"configuration"`
	Admission     string   `parquet:"admission"`
	Replication   int      `parquet:"replication"`
	Job           string   `parquet:"job"`
	User          string   `parquet:"user"`
	Arrival       float64  `parquet:"arrival"`
	Runtime       float64  `parquet:"runtime"`
	Nodes         int      `parquet:"nodes"`
	Value         Money    `parquet:"value,decimal(6:18)"`
	Decision      string   `parquet:"decision"`
	Reason        string   `parquet:"reason"`
	Start         *float64 `parquet:"start,optional"`
	End           *float64 `parquet:"end,optional"`
	Work          float64  `parquet:"work"`
	WorkDone      *float64 `parquet:"work_done,optional"`
	Paid          *Money   `parquet:"paid,optional,decimal(6:18)"`
	Penalty       *Money   `parquet:"penalty,optional,decimal(6:18)"`
	Fulfilled     *bool    `parquet:"fulfilled,optional"`
	Losses        *int     `parquet:"losses,optional"`
	Wasted        *float64 `parquet:"wasted,optional"`
}

// jobsOf1 yields the jobs of results in format 1. Columns that do not exist in format 1 are
// nil.
func jobsOf1(d *Dir, wanted func(replication int) bool, row *int) iter.Seq2[Job, error] {
	return func(yield func(Job, error) bool) {
		for j, err := range rowsOf[job1](d, "jobs", wanted, row) {
			if !yield(Job{
				Configuration: j.Configuration, Admission: j.Admission, Replication: j.Replication, Job: j.Job, User: j.User,
				Arrival: j.Arrival, Runtime: j.Runtime, Nodes: j.Nodes, Value: j.Value,
				Decision: j.Decision, Reason: j.Reason, Start: j.Start, Finish: j.End, Work: j.Work, WorkDone: j.WorkDone,
				Paid: j.Paid, Penalty: j.Penalty, Fulfilled: j.Fulfilled, Losses: j.Losses, Wasted: j.Wasted,
			}, err) {
				return
			}
		}
	}
}
