package metrics

// CompletedLength is the mean size of completed jobs: where it is short a high ratio
// is selection.
var CompletedLength = Metric{
	Name: "completed_length",
	Unit: "s",
	Doc:  "mean CPU time of the jobs completed, all nodes together",
	Of: func(o *Outcome) (float64, bool) {
		return mean(o, func(j *Job) (float64, bool) { return j.Work(), j.completed() })
	},
}
