package metrics

// DeadlinesFulfilled is the percentage of submitted jobs whose work was done in time.
// Rejected jobs and late jobs count as failures.
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

// fulfilledValue is the level of service weighted by value: jobs with a high value count more.
var fulfilledValue = Metric{
	Name:  "fulfilled_value",
	Unit:  "1",
	Bound: Proportion,
	Doc:   "value of the jobs fulfilled / value of the jobs submitted (§4.3, service for high-valued jobs); computed only if a figure or search names the metric",
	Of: func(o *Outcome) (float64, bool) {
		kept, all := 0.0, 0.0
		for i := range o.Jobs {
			j := &o.Jobs[i]
			all += j.Value
			if j.Fulfilled() {
				kept += j.Value
			}
		}
		return kept / all, all > 0
	},
}
