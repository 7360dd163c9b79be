package results

import "iter"

// A job3 is a row of the jobs table in formats 2 and 3.
type job3 struct {
	Configuration string   `parquet:"configuration"`
	Admission     string   `parquet:"admission"`
	Replication   int      `parquet:"replication"`
	Job           string   `parquet:"job"`
	User          string   `parquet:"user"`
	Arrival       float64  `parquet:"arrival"`
	Runtime       float64  `parquet:"runtime"`
	Estimate      *float64 `parquet:"estimate,optional"`
	Deadline      *float64 `parquet:"deadline,optional"`
	Nodes         int      `parquet:"nodes"`
	Value         Money    `parquet:"value,decimal(6:18)"`
	Bid           *float64 `parquet:"bid,optional"`
	Decision      string   `parquet:"decision"`
	Reason        string   `parquet:"reason"`
	Start         *float64 `parquet:"start,optional"`
	Finish        *float64 `parquet:"finish,optional"`
	Share         *float64 `parquet:"share,optional"`
	Work          float64  `parquet:"work"`
	WorkDone      *float64 `parquet:"work_done,optional"`
	Paid          *Money   `parquet:"paid,optional,decimal(6:18)"`
	Penalty       *Money   `parquet:"penalty,optional,decimal(6:18)"`
	Fulfilled     *bool    `parquet:"fulfilled,optional"`
	Losses        *int     `parquet:"losses,optional"`
	Wasted        *float64 `parquet:"wasted,optional"`
}

// jobsOf3 yields the jobs of results in formats 2 and 3. Columns that do not exist in these
// formats are nil.
func jobsOf3(d *Dir, wanted func(replication int) bool, row *int) iter.Seq2[Job, error] {
	return func(yield func(Job, error) bool) {
		for j, err := range rowsOf[job3](d, "jobs", wanted, row) {
			if !yield(Job{
				Configuration: j.Configuration, Admission: j.Admission, Replication: j.Replication, Job: j.Job, User: j.User, Arrival: j.Arrival,
				Runtime: j.Runtime, Estimate: j.Estimate, Deadline: j.Deadline, Nodes: j.Nodes, Value: j.Value, Bid: j.Bid, Decision: j.Decision,
				Reason: j.Reason, Start: j.Start, Finish: j.Finish, Share: j.Share, Work: j.Work, WorkDone: j.WorkDone, Paid: j.Paid,
				Penalty: j.Penalty, Fulfilled: j.Fulfilled, Losses: j.Losses, Wasted: j.Wasted,
			}, err) {
				return
			}
		}
	}
}

// A metric3 is a row of the metrics table in formats 1 to 3.
type metric3 struct {
	Configuration string   `parquet:"configuration"`
	Admission     string   `parquet:"admission"`
	Replication   int      `parquet:"replication"`
	Metric        string   `parquet:"metric"`
	Value         *float64 `parquet:"value,optional"`
}

// metricsOf3 yields the metrics of results in formats 1 to 3, without trials.
func metricsOf3(d *Dir) iter.Seq2[Metric, error] {
	return func(yield func(Metric, error) bool) {
		for m, err := range rowsOf[metric3](d, "metrics", nil, nil) {
			if !yield(Metric{Configuration: m.Configuration, Admission: m.Admission, Replication: m.Replication, Metric: m.Metric, Value: m.Value}, err) {
				return
			}
		}
	}
}
