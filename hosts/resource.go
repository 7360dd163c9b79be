package hosts

import (
	"fmt"
	"slices"
)

// A Kind is a kind of resource of a host. This order breaks ties, for example if a task claims
// the same fraction of two resources.
type Kind uint8

// The kinds of resources. Countable is the first of [MaxCounts] consecutive kinds, in the
// market's order of names.
const (
	CPU Kind = iota // processors
	Memory
	Disk
	Bandwidth
	Countable
	Kinds = Countable + MaxCounts // the number of kinds
)

// Name returns the name of k. The argument counts contains the names of the countable
// resources of the market.
func (k Kind) Name(counts []string) string {
	if k < Countable {
		return [...]string{"cpu", "memory", "disk", "bandwidth"}[k]
	}
	return counts[k-Countable]
}

// KindOf returns the kind with the given name, and reports whether there is one.
func KindOf(name string, counts []string) (k Kind, ok bool) {
	for k = range Countable + Kind(len(counts)) {
		if k.Name(counts) == name {
			return k, true
		}
	}
	return 0, false
}

// Of returns the amount of kind k, in the unit of the field for that kind. It returns 0 for
// processors.
func (r *Resources) Of(k Kind) float64 {
	switch k {
	case CPU:
		return 0
	case Memory:
		return r.Memory
	case Disk:
		return r.Disk
	case Bandwidth:
		return r.Bandwidth
	}
	return float64(r.Counts[k-Countable])
}

// A Floor contains the floor price of each kind of resource, in dollars per second and unit.
type Floor [Kinds]float64

// Held returns the floor price of all resources in r, in dollars per second. Processors do not
// count. For example, at $0.001/s for a GPU, two of them cost at least $0.002/s.
func (f *Floor) Held(r *Resources) (sum float64) {
	for k := Memory; k < Kinds; k++ {
		if f[k] > 0 {
			sum += f[k] * r.Of(k)
		}
	}
	return sum
}

// OnHeld reports whether any resource other than processors has a floor price.
func (f *Floor) OnHeld() bool {
	g := *f
	g[CPU] = 0
	return g != Floor{}
}

// Floors converts floor prices from dollars per hour. The argument cpu is the price of a
// processor. The argument held contains the prices of other resources by name: per GB (1e9
// bytes) of memory and disk, per GB/s of bandwidth, and per unit of a countable resource. The
// names of the countable resources are in counts.
func Floors(cpu float64, held map[string]float64, counts []string) (f Floor, err error) {
	f[CPU] = cpu / 3600
	for name, price := range held {
		k, ok := KindOf(name, counts)
		if !ok || !(price >= 0 && price <= 1e6) {
			return f, fmt.Errorf("floor_per_hour: found %.40s: %v, want cpu, memory, disk, bandwidth or a countable resource of the hosts, and a price of 0 to 1e6", name, price)
		}
		if f[k] = price / 3600; k < Countable {
			f[k] = price / (1e9 * 3600)
		}
	}
	return f, nil
}

// Priced returns the kinds with the given names, in the order of kinds. These are the kinds
// that have a price in addition to processors. The names of the countable resources are in
// counts.
func Priced(names, counts []string) (all []Kind, err error) {
	for _, name := range names {
		k, ok := KindOf(name, counts)
		if !ok || k == CPU || slices.Contains(all, k) {
			return nil, fmt.Errorf("market.resources: found %.40s, want memory, disk, bandwidth or a countable resource of the hosts, each once", name)
		}
		all = append(all, k)
	}
	slices.Sort(all)
	return all, nil
}
