package contracts

import (
	"fmt"
	"maps"
	"slices"

	"bourse/hosts"
)

// Licences are units that belong to the whole market, such as licences of a program. A contract
// holds units from its acceptance to its end. Units are counted and have a floor price, but are
// not auctioned, because they belong to no host.
type Licences struct {
	Names  []string  // names of the licences, sorted
	Units  []int32   // number of units of each licence
	Floors []float64 // floor price of each licence, dollars per second and unit
}

// NewLicences returns licences with the given numbers of units, by name. Prices are in dollars
// per hour. The prices of licences are floor prices. NewLicences returns the other prices.
func NewLicences(units map[string]int, prices map[string]float64) (l Licences, others map[string]float64, err error) {
	others = maps.Clone(prices)
	for _, name := range slices.Sorted(maps.Keys(units)) {
		price := prices[name]
		switch delete(others, name); {
		case units[name] < 0 || units[name] > 1<<30:
			err = fmt.Errorf("market.licences: found %.40s: %d, want 0 to %d units", name, units[name], 1<<30)
		case name == hosts.CPU.Name(nil) || slices.Contains([]string{"memory", "disk", "bandwidth", "gpu"}, name):
			err = fmt.Errorf("market.licences: found %s, want names other than those of resources of hosts", name)
		case !(price >= 0 && price <= 1e6):
			err = fmt.Errorf("floor_per_hour: found %.40s: %v, want a price of 0 to 1e6", name, price)
		}
		l.Names, l.Units, l.Floors = append(l.Names, name), append(l.Units, int32(units[name])), append(l.Floors, price/3600)
	}
	if len(l.Names) > hosts.MaxCounts {
		err = fmt.Errorf("market.licences: found %d names, want at most %d", len(l.Names), hosts.MaxCounts)
	}
	return l, others, err
}

// Of returns the given units in the order of l, or nil if there are none. It reports whether l has
// all of their names.
func (l *Licences) Of(units map[string]int32) (of []int32, ok bool) {
	known := 0
	for k, name := range l.Names {
		n, is := units[name]
		if is {
			known++
		}
		if n > 0 {
			if of == nil {
				of = make([]int32, len(l.Names))
			}
			of[k] = n
		}
	}
	return of, known == len(units)
}

// Floor returns the floor price of the given units in dollars per second.
func (l *Licences) Floor(units []int32) (sum float64) {
	for k, n := range units {
		sum += l.Floors[k] * float64(n)
	}
	return sum
}
