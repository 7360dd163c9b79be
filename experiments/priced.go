package experiments

import (
	"fmt"
	"slices"

	"bourse/experiments/scenario"
	"bourse/hosts"
	"bourse/workloadgen/plugin"
)

// leastOf returns the floor prices f in dollars per second and unit. Counts are the names of the
// countable resources of the hosts.
func leastOf(f *scenario.Floor, counts []string) (least hosts.Floor, err error) {
	least[hosts.CPU] = f.Second()
	for name, price := range f.Held {
		k, ok := hosts.KindOf(name, counts)
		if !ok || !(price >= 0 && price <= 1e6) {
			return least, fmt.Errorf("fleet.floor_per_hour: found %s: %v, want cpu, memory, disk, bandwidth or a countable resource of the hosts, and a price of 0 to 1e6", plugin.Clip(name), price)
		}
		if least[k] = price / 3600; k < hosts.Countable {
			least[k] = price / (1e9 * 3600)
		}
	}
	return least, nil
}

// pricedOf returns the kinds of the resources of m that have a price in addition to processors, in
// order.
func pricedOf(m *scenario.Market, counts []string) (all []hosts.Kind, err error) {
	for _, name := range m.Resources {
		k, ok := hosts.KindOf(name, counts)
		if !ok || k == hosts.CPU || slices.Contains(all, k) {
			return nil, fmt.Errorf("market.resources: found %s, want memory, disk, bandwidth or a countable resource of the hosts, each once", plugin.Clip(name))
		}
		all = append(all, k)
	}
	slices.Sort(all)
	return all, nil
}
