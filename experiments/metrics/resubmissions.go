package metrics

// Resubmissions is the number of times that jobs had to be placed again.
var Resubmissions = Metric{
	Name: "resubmissions", Less: true,
	Unit: "attempts",
	Doc:  "number of times that a job was placed again, or waits to be placed again, because a host left",
	Of: volatile(func(o *Outcome) (float64, bool) {
		return sumOpen(o, func(j *Job) float64 { return float64(j.Contract.Resent) }), true
	}),
}
