package metrics

// UtilityAchieved is the provider's utility by eq. 1 of the SLA paper. It is the sum over
// jobs of the payment minus the penalty owed, even if the provider could not pay the
// penalty.
var UtilityAchieved = Metric{
	Name:  "utility",
	Label: "Utility achieved",
	Unit:  "$",
	Doc:   "sum over jobs of the payment minus the penalty owed, whether paid or not (SLA, eq. 1)",
	Of: func(o *Outcome) (float64, bool) {
		sum := 0.0
		for i := range o.Jobs {
			c := &o.Jobs[i].Contract
			sum += c.Paid.Float64() - c.Owed.Float64()
		}
		return sum, true
	},
}
