package metrics

// Rejections is the fraction of requests that were rejected.
var Rejections = Metric{
	Name: "rejections", Less: true,
	Unit:    "1",
	Bound:   Proportion,
	Decided: true,
	Doc:     "requests rejected / requests, j_r/j_t (§4.2)",
	Trials:  requests,
	Of: func(o *Outcome) (float64, bool) {
		return mean(o, func(j *Job) (float64, bool) { return one(!j.Admitted()), true })
	},
}
