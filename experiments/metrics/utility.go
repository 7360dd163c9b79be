package metrics

// UtilityAchieved is what the provider's side earns: under the payment rule
// budget, the sum of budgets less penalties over the jobs completed.
var UtilityAchieved = Metric{
	Name:  "utility",
	Label: "Utility achieved",
	Unit:  "$",
	Doc:   "sum over jobs of what was paid less penalties paid back (SLA, eq. 1)",
	Of: func(o *Outcome) (float64, bool) {
		sum := 0.0
		for i := range o.Jobs {
			sum += o.Jobs[i].revenue()
		}
		return sum, true
	},
}
