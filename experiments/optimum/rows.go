package optimum

import "math"

// rows finds the instants that bind.
type rows struct {
	active []int32 // items, in the order of arrival
	load   []int   // one per row: nodes wanted there
	before []int32 // one per row and one more: binding rows before it
}

// build gives each item, sorted by arrival, its first and last binding row, and
// returns those that have any; the others never compete and are chosen.
//
// A row opens at an arrival before which, since the last row opened, somebody has
// left: between the two the active set only grew, and the later row says it all.
func (r *rows) build(items []item, capacity int32, chosen []bool) []item {
	r.load = r.load[:0]
	r.active = r.active[:0]
	row, leaves := int32(-1), math.Inf(-1)
	for i := range items {
		it := &items[i]
		if it.arrival >= leaves {
			row++
			leaves = r.open(items, it.arrival, row)
		}
		it.first = row
		r.active = append(r.active, int32(i))
		r.load[row] += int(it.nodes)
		leaves = min(leaves, it.end)
	}
	for _, i := range r.active {
		items[i].last = row
	}

	r.before = append(r.before[:0], 0)
	for _, load := range r.load {
		n := r.before[len(r.before)-1]
		if load > int(capacity) {
			n++
		}
		r.before = append(r.before, n)
	}
	competing := items[:0]
	for _, it := range items {
		it.first, it.last = r.before[it.first], r.before[it.last+1]-1
		if it.first <= it.last {
			competing = append(competing, it)
		} else {
			chosen[it.job] = true
		}
	}
	return competing
}

// open starts a row at an instant with those still active then, and returns when
// the next of them leaves.
func (r *rows) open(items []item, at float64, row int32) (leaves float64) {
	leaves = math.Inf(1)
	load := 0
	stay := r.active[:0]
	for _, i := range r.active {
		it := &items[i]
		if it.end <= at {
			it.last = row - 1
			continue
		}
		stay = append(stay, i)
		load += int(it.nodes)
		leaves = min(leaves, it.end)
	}
	r.active = stay
	r.load = append(r.load, load)
	return leaves
}
