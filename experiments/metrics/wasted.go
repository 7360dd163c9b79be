package metrics

// Wasted is the work that was lost because hosts left.
var Wasted = Metric{
	Name: "wasted", Less: true,
	Unit: "s",
	Doc:  "CPU time lost because hosts left (Volunteers, §5)",
	Of: volatile(func(o *Outcome) (float64, bool) {
		return sumOpen(o, func(j *Job) float64 { return j.Contract.Wasted }), true
	}),
}
