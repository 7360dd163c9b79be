package metrics

// CompletedLength is the mean size of completed jobs. If this mean is low, a high completion
// ratio may result from the selection of short jobs.
var CompletedLength = Metric{
	Name: "completed_length",
	Unit: "s",
	Doc:  "mean CPU time of completed jobs, summed over nodes",
	Of: func(o *Outcome) (float64, bool) {
		return mean(o, func(j *Job) (float64, bool) { return j.Work(), j.completed() })
	},
}
