package metrics

// The following metrics are quantities in the paper's §5, which compares the spot market with
// the reservation market.
var (
	// Admission is p_a.
	Admission = Metric{
		Name:    "p_a",
		Label:   "p_a",
		Unit:    "1",
		Bound:   Proportion,
		Decided: true,
		Doc:     "probability of admission: requests admitted / requests (§5)",
		Trials:  requests,
		Of: func(o *Outcome) (float64, bool) {
			return mean(o, func(j *Job) (float64, bool) { return one(j.Admitted()), true })
		},
	}

	// Fulfilment is p_w.
	Fulfilment = Metric{
		Name:   "p_w",
		Label:  "p_w",
		Unit:   "1",
		Bound:  Proportion,
		Doc:    "probability of fulfilment: mean over admitted jobs (§5)",
		Trials: promises,
		Of: func(o *Outcome) (float64, bool) {
			return mean(o, func(j *Job) (float64, bool) { return one(j.Fulfilled()), j.judged() })
		},
	}

	// Completion is p_d.
	Completion = Metric{
		Name:   "p_d",
		Label:  "p_d",
		Unit:   "1",
		Bound:  Proportion,
		Doc:    "fraction of work completed by the deadline: mean of min(w_d/w, 1) over admitted jobs (§5)",
		Trials: promises,
		Of: func(o *Outcome) (float64, bool) {
			return mean(o, func(j *Job) (float64, bool) { return min(j.Contract.ByDue/j.Work(), 1), j.judged() })
		},
	}

	// CostOverValue is q. It is a ratio of sums, because §5 uses q linearly in cost and value.
	CostOverValue = Metric{
		Name: "q", Less: true,
		Label: "q",
		Unit:  "1",
		Bound: Proportion,
		Doc:   "ratio of cost to value: sum of p / sum of v over admitted jobs (§5)",
		Of: func(o *Outcome) (float64, bool) {
			paid, worth := 0.0, 0.0
			for i := range o.Jobs {
				if j := &o.Jobs[i]; j.Admitted() {
					paid += j.Contract.Paid.Float64()
					worth += j.worth()
				}
			}
			return paid / worth, worth > 0
		},
	}

	// MeanCostOverValue is the other interpretation of q.
	MeanCostOverValue = Metric{
		Name: "q_mean", Less: true,
		Label:  "q, mean of ratios",
		Unit:   "1",
		Bound:  Proportion,
		Doc:    "ratio of cost to value: mean of p/v over admitted jobs (§5)",
		Trials: func(o *Outcome) int { n, _ := count((*Job).Admitted)(o); return int(n) },
		Of: func(o *Outcome) (float64, bool) {
			return mean(o, func(j *Job) (float64, bool) {
				return j.Contract.Paid.Float64() / j.worth(), j.Admitted()
			})
		},
	}
)
