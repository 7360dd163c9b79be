package metrics

// Makespan is the mean time that completed jobs took, including lost attempts.
var Makespan = Metric{
	Name: "makespan", Less: true,
	Unit: "s",
	Doc:  "mean of end - arrival over completed jobs (Volunteers, §5)",
	Of: func(o *Outcome) (float64, bool) {
		return mean(o, func(j *Job) (float64, bool) { return j.response(), j.completed() })
	},
}
