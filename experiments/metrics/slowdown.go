package metrics

// Slowdown is the ratio of response time to runtime, averaged over the jobs done in time.
var Slowdown = Metric{
	Name: "slowdown", Less: true,
	Unit: "1",
	Doc:  "mean of (end - arrival) / runtime over jobs done by their deadline (Risk, §4)",
	Of: func(o *Outcome) (float64, bool) {
		return mean(o, func(j *Job) (float64, bool) {
			if !j.Fulfilled() || j.Runtime <= 0 {
				return 0, false
			}
			return j.response() / j.Runtime, true
		})
	},
}
