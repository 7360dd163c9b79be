package metrics

import "bourse/experiments/stats"

// DemandCorrelation is Pearson's r between the 5-minute mean host prices of this run and those
// under best effort, which represent demand, over the time that both cover.
var DemandCorrelation = Metric{
	Name:  "demand_correlation",
	Unit:  "1",
	Bound: Correlation,
	Doc:   "Pearson r of 5-minute mean prices with those of the best-effort run (§4.2)",
	Of: func(o *Outcome) (float64, bool) {
		n := min(len(o.Prices), len(o.Demand))
		return stats.Pearson(o.Demand[:n], o.Prices[:n])
	},
}
