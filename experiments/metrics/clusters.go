package metrics

import (
	"math"

	"bourse/contracts"
)

// ClusterUtilization is U, the mean utilization of the clusters. ClusterLeast and ClusterMost
// are the lowest and the highest utilization of a single cluster. The measurement ends with the
// last arrival, because no more jobs enter the system afterwards. A gang uses its nodes from
// its first start to its end.
var (
	ClusterUtilization = Metric{
		Name:  "cluster_utilization",
		Unit:  "1",
		Bound: Proportion,
		Doc:   "node-seconds used / node-seconds available, from the first to the last arrival, U (Reservations, eq. 4.2)",
		Of: booked(func(o *Outcome) (float64, bool) {
			return clusters(o, 0, func(a, b float64) float64 { return a + b }, o.Hosts)
		}),
	}
	ClusterLeast = Metric{
		Name:  "cluster_utilization_min",
		Unit:  "1",
		Bound: Proportion,
		Doc:   ClusterUtilization.Doc + ", for the cluster with the lowest utilization",
		Of:    booked(func(o *Outcome) (float64, bool) { return clusters(o, math.Inf(1), math.Min, 1) }),
	}
	ClusterMost = Metric{
		Name:  "cluster_utilization_max",
		Unit:  "1",
		Bound: Proportion,
		Doc:   ClusterUtilization.Doc + ", for the cluster with the highest utilization",
		Of:    booked(func(o *Outcome) (float64, bool) { return clusters(o, 0, math.Max, 1) }),
	}
)

// clusters combines the utilizations of all hosts with fold and divides the result by n.
func clusters(o *Outcome, start float64, fold func(a, b float64) float64, n int) (float64, bool) {
	if len(o.Jobs) == 0 {
		return 0, false
	}
	from, to := 0.0, o.Jobs[len(o.Jobs)-1].Arrival
	if len(o.Earlier) > 0 {
		from = o.Jobs[0].Arrival
	}
	if to <= from {
		return 0, false
	}
	busy := make([]float64, o.Hosts)
	for _, jobs := range [][]Job{o.Earlier, o.Jobs} {
		for i := range jobs {
			j := &jobs[i]
			c := &j.Contract
			if !c.Gang {
				continue
			}
			span := overlap(c.Began, c.Ended, from, to)
			booked := contracts.Booked{}
			if c.Booked != nil {
				booked = *c.Booked
			}
			parts := booked.Placements
			if len(parts) == 0 {
				parts = []contracts.Placement{{Host: c.Host, Nodes: j.Nodes}}
			}
			for _, p := range parts {
				busy[p.Host] += float64(p.Nodes) * span
			}
			for _, p := range booked.Paused {
				on := &parts[p.Part]
				busy[on.Host] -= float64(on.Nodes) * overlap(p.From, min(p.To, c.Ended), from, to)
			}
		}
	}
	u := start
	for _, b := range busy {
		u = fold(u, b/(o.Processors*(to-from)))
	}
	return u / float64(n), true
}

// overlap returns the length of the intersection of two time intervals.
func overlap(begin, end, from, to float64) float64 {
	return max(0, min(end, to)-max(begin, from))
}
