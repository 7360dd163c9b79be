// Package packing chooses the most valuable of a set of items that each need some units of one
// capacity during an interval.
//
// It maximises the sum of v_j x_j over x_j in {0,1}, such that the chosen items that are active
// at the same time never need more units than there are. An interval is half open, [from, to).
// The package is independent of what items, units and values are.
//
// # Design
//
// Only times at which the set of active items is maximal can bind (rows), and among these only
// the ones at which not all items would fit. Rows that no item connects are separate problems.
// Each is solved in three steps:
//
//   - The fractional problem is a flow: units walk through time, past the
//     rows or along items. Its dual prices every row, and so every decision has a
//     loss, the part of the fractional value that it gives away. The losses of a
//     plan add up to the distance between its value and the fractional one. Prices
//     near the best do as well, and are what very large parts get (descent).
//   - A dynamic program visits the items by their start. Its state is the set of chosen
//     items still active; of plans with the same state the one with the smallest
//     loss survives, and none whose loss reaches that of the best plan known. A
//     narrow run finds a good plan, wider ones prove or improve it.
//   - Between wide runs, the loss that no plan avoids in each stretch of rows,
//     taken by itself, tightens both the pruning and the bound.
//
// Branch and bound over the same fractional problem would solve it again at each
// of its nodes, and meet the same state many times.
package packing

import (
	"cmp"
	"math"
	"slices"
)

// Limits bound the effort, never by time: equal input gives equal output.
type Limits struct {
	// Width is the most states kept at once, 0 for 16,384. Large plans do not get
	// there: no run is begun that could pass 25 million states visited in all, except the
	// first, of 32.
	Width int

	// Whole states that all values are whole numbers. A plan is then proven if no other is
	// better by 1; as long as the sum of the values is far below 2^53, it is optimal exactly.
	Whole bool
}

// An Item needs a number of units in [From, To).
type Item struct {
	Value    float64
	Units    int
	From, To float64
}

// A Solution is the best plan found.
type Solution struct {
	Value  float64 // of the chosen items
	Chosen []bool  // one per item, in the order given

	// Bound is at least the value of every plan. Proven reports that Bound equals Value: no
	// plan is better, except for rounding (a relative error of 1e-12).
	Bound  float64
	Proven bool

	States int // visited: the effort
}

// A Solver keeps its memory from one problem to the next: after the largest it
// allocates nothing. Its zero value is ready.
type Solver struct {
	capacity int32
	whole    bool
	chosen   []bool
	items    []item

	rows    rows
	part    part
	flow    flow
	descent descent
	program program
}

// An item is one that competes with others.
type item struct {
	at           int32 // position among the caller's items
	nodes        int32
	first, last  int32 // rows at which it is active
	arrival, end float64
	value        float64
	gain         float64 // value less the price of its rows
}

const (
	defaultWidth = 1 << 14
	mostStates   = 3 << 23
	mostCapacity = 1 << 30 // twice this value fits an int32
)

// Solve returns a plan for items, in any order, on that capacity. Items without value are not
// chosen. Chosen is valid until the next call.
//
// Solve panics unless times and values are finite, From at most To, units at least 1 and
// capacity at least 0. Capacity beyond 2^30 counts as 2^30.
func (s *Solver) Solve(items []Item, capacity int, limits Limits) Solution {
	if capacity < 0 {
		panic("packing: negative capacity")
	}
	s.capacity = int32(min(capacity, mostCapacity))
	s.chosen = zeroed(s.chosen, len(items))
	s.whole = limits.Whole
	s.admit(items)
	s.items = s.rows.build(s.items, s.capacity, s.chosen)

	width := limits.Width
	if width <= 0 {
		width = defaultWidth
	}
	s.program.visited = 0
	var gap float64
	for rest := s.items; len(rest) > 0; {
		n := s.part.cut(rest)
		gap += s.solve(width, mostStates/len(s.items)*n)
		rest = rest[n:]
	}

	sol := Solution{Chosen: s.chosen, States: s.program.visited, Proven: gap == 0}
	for i, yes := range s.chosen {
		if yes {
			sol.Value += items[i].Value
		}
	}
	sol.Bound = sol.Value + gap
	return sol
}

// admit takes the items that may or may not be chosen, by start.
func (s *Solver) admit(items []Item) {
	s.items = s.items[:0]
	for i := range items {
		it := &items[i]
		if !finite(it.From) || !finite(it.To) || !finite(it.Value) || it.To < it.From || it.Units < 1 {
			panic("packing: an item's numbers are out of range")
		}
		switch {
		case it.Value <= 0:
		case it.To <= it.From:
			s.chosen[i] = true
		case it.Units <= int(s.capacity):
			s.items = append(s.items, item{at: int32(i), nodes: int32(it.Units), arrival: it.From, end: it.To, value: it.Value})
		}
	}
	slices.SortFunc(s.items, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.arrival, b.arrival), cmp.Compare(a.at, b.at))
	})
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
