package metrics

// Completed is the number of jobs whose work was done, in time or late.
var Completed = Metric{
	Name: "completed",
	Unit: "jobs",
	Doc:  "jobs whose work was done, in time or late (SLA, §5)",
	Of: func(o *Outcome) (float64, bool) {
		n := 0.0
		for i := range o.Jobs {
			n += one(o.Jobs[i].completed())
		}
		return n, true
	},
}
