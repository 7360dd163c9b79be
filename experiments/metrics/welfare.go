package metrics

// Welfare is the value of a market to all its participants. Payments between participants
// cancel out.
var Welfare = Metric{
	Name: "welfare", Unit: "$",
	Doc: "utility of all users plus revenue (§4.2, eq. 9 at α = 1), which is the value of work done on time; computed only if a figure or search names the metric",
	Of: func(o *Outcome) (sum float64, ok bool) {
		for i := range o.Jobs {
			j := &o.Jobs[i]
			sum += j.Utility(1)
			if j.Admitted() {
				sum += j.revenue()
			}
		}
		return sum, len(o.Jobs) > 0
	},
}
