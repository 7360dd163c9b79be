package metrics

import (
	"slices"
	"strings"
)

// A Held states how much of one resource of the hosts tasks reserved. Both numbers are amounts
// times seconds, summed over all hosts, from the first arrival, including the warm-up, to the
// end of the run.
type Held struct {
	Name  string  // name of the resource, such as memory or gpu
	Used  float64 // amount that tasks reserved
	Could float64 // amount that all hosts offered while they were present
}

const ofHeld = "utilization_"

// HeldName returns the name of the metric of the utilization of a resource, such as
// utilization_gpu.
func HeldName(resource string) string { return ofHeld + resource }

// heldOf returns the metric with the given name, if it is the utilization of a resource that
// tasks hold.
func heldOf(name string) (Metric, bool) {
	resource, ok := strings.CutPrefix(name, ofHeld)
	return Metric{
		Name:  name,
		Unit:  "1",
		Bound: Proportion,
		Doc:   "amount of " + resource + " that tasks held x time / (amount that the hosts offer x time from the first arrival to the end of the run); measured if " + resource + " has a price, or if a figure or search names the metric",
		Of: func(o *Outcome) (float64, bool) {
			i := slices.IndexFunc(o.Held, func(h Held) bool { return h.Name == resource })
			if i < 0 {
				return 0, false
			}
			x, ok := over(o.Held[i].Used, o.Held[i].Could)
			return min(max(0, x), 1), ok // limited to [0,1], because rounding errors may exceed it
		},
	}, ok
}

// named returns the metric of a resource.
func named(resource string) Metric {
	m, _ := heldOf(HeldName(resource))
	return m
}
