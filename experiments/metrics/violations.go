package metrics

// Violations is the fraction of admitted contracts that missed their deadline. The paper
// defines the complement, j_s/j_a, under this name, but plots this metric.
var Violations = Metric{
	Name: "violations", Less: true,
	Unit:   "1",
	Bound:  Proportion,
	Doc:    "contracts that missed their deadline / contracts admitted, 1 - j_s/j_a (§4.2)",
	Trials: promises,
	Of: func(o *Outcome) (float64, bool) {
		return mean(o, func(j *Job) (float64, bool) { return one(!j.Fulfilled()), j.judged() })
	},
}
