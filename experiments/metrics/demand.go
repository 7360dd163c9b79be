package metrics

import "bourse/experiments/stats"

// DemandCorrelation is Pearson's r between the mean host prices of this run and the mean host
// prices under best effort, which represent demand. It uses five-minute means over the time
// covered by both runs.
var DemandCorrelation = Metric{
	Name:  "demand_correlation",
	Unit:  "1",
	Bound: Correlation,
	Doc:   "Pearson correlation of 5-minute mean prices with the prices in the best-effort run (§4.2)",
	Of: func(o *Outcome) (float64, bool) {
		n := min(len(o.Prices), len(o.Demand))
		return stats.Pearson(o.Demand[:n], o.Prices[:n])
	},
}

// HostDemandCorrelation is the mean of Pearson's r per host, over the hosts on which both
// prices vary. Each host has its own price, as in Tycoon.
var HostDemandCorrelation = Metric{
	Name:  "demand_correlation_host",
	Unit:  "1",
	Bound: Correlation,
	Doc:   "Pearson correlation of 5-minute mean prices with those of the best-effort run, averaged over the hosts whose prices vary; computed only if a figure or search names the metric",
	Of: func(o *Outcome) (float64, bool) {
		sum, hosts := 0.0, 0.0
		for h := range min(len(o.HostPrices), len(o.HostDemand)) {
			n := min(len(o.HostPrices[h]), len(o.HostDemand[h]))
			if r, ok := stats.Pearson(o.HostDemand[h][:n], o.HostPrices[h][:n]); ok {
				sum += r
				hosts++
			}
		}
		return sum / hosts, hosts > 0
	},
}
