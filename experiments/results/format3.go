package results

import (
	"iter"
	"reflect"
)

// widened yields rows of an older format as rows of the newest one. Columns that do not exist
// in the older format are nil.
func widened[Old, R any](rows iter.Seq2[Old, error]) iter.Seq2[R, error] {
	var at []int // positions in R of the fields with the same names
	for f := range reflect.TypeFor[Old]().Fields() {
		to, _ := reflect.TypeFor[R]().FieldByName(f.Name)
		at = append(at, to.Index[0])
	}
	return func(yield func(R, error) bool) {
		for old, err := range rows {
			var row R
			from, to := reflect.ValueOf(old), reflect.ValueOf(&row).Elem()
			for i, k := range at {
				to.Field(k).Set(from.Field(i))
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

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

// A metric3 is a row of the metrics table in formats 1 to 3.
type metric3 struct {
	Configuration string   `parquet:"configuration"`
	Admission     string   `parquet:"admission"`
	Replication   int      `parquet:"replication"`
	Metric        string   `parquet:"metric"`
	Value         *float64 `parquet:"value,optional"`
}
