// Package packing chooses the most valuable of a set of items that each need some units of one
// capacity during an interval.
//
// It maximises the sum of v_j x_j over x_j in {0,1}, such that the chosen items that are active at
// the same time never need more units than the capacity. An interval is half open, [from, to). The
// package is independent of the meaning of items, units and values.
//
// # Design
//
// A time can limit a plan only if the set of active items is maximal then, and not all of these
// items fit. These times are called rows. Groups of rows that no item connects are separate
// problems. Each is solved in three steps:
//
//   - The fractional problem is a flow: units move through time, idle from row to row or along
//     items. Its dual gives every row a price. With these prices, every decision has a loss:
//     the part of the fractional value that it gives up. The losses of a plan add up to the
//     difference between the fractional value and its own value. Nearly optimal prices are also
//     valid; they are used for very large parts (descent).
//   - A dynamic program visits the items in order of their start. Its state is the set of
//     chosen items that are still active. Among plans with the same state, only the one with
//     the smallest loss survives, and only if this loss is below that of the best plan known. A
//     narrow run finds a good plan; wider runs improve it or prove that it is optimal.
//   - Between wide runs, the solver computes the loss that no plan avoids in each stretch of
//     rows. These losses tighten both the pruning and the bound.
//
// Branch and bound over the same fractional problem would solve that problem again at each node
// of the search tree, and would visit the same state many times.
package packing

import (
	"cmp"
	"math"
	"slices"
)

// Limits bound the effort of a solution. They do not depend on time, so equal input gives equal
// output.
type Limits struct {
	// Width is the maximum number of states stored at once; 0 means 16,384. Large problems do
	// not reach it: only the first run, with a width of 32, may raise the total number of
	// states visited above 25 million.
	Width int

	// Whole states that all values are whole numbers. A plan then counts as proven if no other
	// plan is better by 1 or more. Such a plan is exactly optimal if the sum of the values is
	// far below 2^53.
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
	Value  float64 // total value of the chosen items
	Chosen []bool  // one per item, in the order given

	// Bound is at least the value of every plan. Proven reports that Bound equals Value: no
	// plan is better, except for rounding (a relative error of 1e-12).
	Bound  float64
	Proven bool

	States int // number of states visited
}

// A Solver solves problems one after another. It reuses its memory, so it allocates nothing
// after the largest problem. Its zero value is ready for use.
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

// An item is an [Item] that competes with others for units.
type item struct {
	at           int32 // index among the caller's items
	nodes        int32
	first, last  int32 // rows of the program in which the item is active
	arrival, end float64
	value        float64
	gain         float64 // value minus the price of its rows
}

const (
	defaultWidth = 1 << 14
	mostStates   = 3 << 23
	mostCapacity = 1 << 30 // twice this value fits an int32
)

// Solve returns a plan for items, which may be in any order, on the given capacity. Items
// without value are not chosen. Chosen is valid until the next call.
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

// admit selects the items whose choice is open and sorts them by start. It chooses the items
// without duration, which need no units.
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
