package metrics

// DeadlinesFulfilled is the percentage of submitted jobs whose work was done in time. Rejected
// and late jobs count as failures.
var DeadlinesFulfilled = Metric{
	Name:   "deadlines_fulfilled",
	Unit:   "%",
	Bound:  Percent,
	Doc:    "jobs done by their deadline / jobs submitted (Risk, §4)",
	Trials: submitted,
	Of: func(o *Outcome) (float64, bool) {
		x, ok := mean(o, func(j *Job) (float64, bool) { return one(j.Fulfilled()), true })
		return 100 * x, ok
	},
}
