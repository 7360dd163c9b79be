package packing

import "slices"

// A rows finds the binding times, at which the active items may need more units than the
// capacity.
type rows struct {
	ends   []float64 // ends of the items, sorted
	opened []float64 // per row: time at which it opens
	load   []int     // per row and one more: number of nodes that the active items need
	before []int32   // per row and one more: number of binding rows before it
}

// build sets the first and last binding row of each item and returns the items that have any.
// Items must be sorted by arrival. The other items never compete for units, so they are chosen.
//
// A row opens at an arrival if some item has ended since the last row opened. Between two such
// arrivals the active set only grows, so it is sufficient to consider the last time.
func (r *rows) build(items []item, capacity int32, chosen []bool) []item {
	r.ends = r.ends[:0]
	for _, it := range items {
		r.ends = append(r.ends, it.end)
	}
	slices.Sort(r.ends)

	r.opened = r.opened[:0]
	left := 0
	for i := range items {
		it := &items[i]
		if i == 0 || r.ends[left] <= it.arrival {
			r.opened = append(r.opened, it.arrival)
		}
		for r.ends[left] <= it.arrival {
			left++
		}
		it.first = int32(len(r.opened) - 1)
	}
	r.load = zeroed(r.load, len(r.opened)+1)
	for i := range items {
		it := &items[i]
		after, _ := slices.BinarySearch(r.opened, it.end)
		it.last = int32(after - 1)
		r.load[it.first] += int(it.nodes)
		r.load[after] -= int(it.nodes)
	}

	r.before = append(r.before[:0], 0)
	load, binding := 0, int32(0)
	for _, change := range r.load[:len(r.opened)] {
		if load += change; load > int(capacity) {
			binding++
		}
		r.before = append(r.before, binding)
	}
	competing := items[:0]
	for _, it := range items {
		it.first, it.last = r.before[it.first], r.before[it.last+1]-1
		if it.first <= it.last {
			competing = append(competing, it)
		} else {
			chosen[it.at] = true
		}
	}
	return competing
}
