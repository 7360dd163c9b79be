package metrics

// Queued is the number of jobs that are waiting when the run ends.
var Queued = Metric{
	Name: "queued", Less: true,
	Unit: "jobs",
	Doc:  "number of jobs still waiting for a host at the horizon",
	Of: func(o *Outcome) (float64, bool) {
		if !o.Volatile && !o.bounded() {
			return 0, false
		}
		n := 0.0
		for i := range o.Open {
			n += one(o.Open[i].waits())
		}
		return n, true
	},
}
