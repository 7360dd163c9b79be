package results

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
	Finish        *float64 `parquet:"end,optional"`
	Work          float64  `parquet:"work"`
	WorkDone      *float64 `parquet:"work_done,optional"`
	Paid          *Money   `parquet:"paid,optional,decimal(6:18)"`
	Penalty       *Money   `parquet:"penalty,optional,decimal(6:18)"`
	Fulfilled     *bool    `parquet:"fulfilled,optional"`
	Losses        *int     `parquet:"losses,optional"`
	Wasted        *float64 `parquet:"wasted,optional"`
}
