package hosts

// A Kind is a kind of resource of a host. The order of kinds breaks ties, for example if a task
// claims the same fraction of two resources.
type Kind uint8

// The kinds of resources. Countable is the first of [MaxCounts] kinds, in the order of a market's
// names.
const (
	CPU Kind = iota // processors
	Memory
	Disk
	Bandwidth
	Countable
	Kinds = Countable + MaxCounts // the number of kinds
)

// Name returns the name of k. The argument counts has the names of the countable resources of
// the market.
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

// A Floor has the floor price of each kind of resource, in dollars per second and unit.
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
