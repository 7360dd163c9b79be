// Package slab manages the memory of many short lists that grow and shrink. It lends memory to
// lists that need it and takes it back from those that do not. In total, the lists use memory
// for their current elements, not for the most that each ever had. The package is independent
// of the elements.
//
// # Design
//
// Memory blocks have power-of-two sizes. A full list moves to the next larger size, and a list
// that is a quarter full moves to the next smaller one. Between two moves, its length therefore
// changes by at least a quarter of its size, and in a steady state almost nothing is allocated.
// BenchmarkScale in package experiments needs this: with lists that only grow, 10^5 hosts would
// retain memory for the most tasks that ever ran on each.
package slab

import "math/bits"

// A Slab contains memory that no list currently uses. The zero value is empty. Memory is not
// cleared, so T should not contain pointers.
type Slab[T any] struct {
	free [][][]T // by the power of two of their capacity
}

const (
	least = 2  // power of two of the smallest blocks
	spare = 64 // maximum number of free blocks per size; others are left to the garbage collector
)

// Grow returns list with space for one more element. If list was full, the result is a new list
// and the old one must not be used again. A list that the slab did not allocate is then left to
// the garbage collector.
func (s *Slab[T]) Grow(list []T) []T {
	if len(list) == cap(list) {
		return s.move(list, max(least, bits.Len(uint(cap(list)))))
	}
	return list
}

// Loose reports whether [Slab.Trim] would move a list with n elements and capacity size.
func Loose(n, size int) bool { return size > 1<<least && n <= size/4 }

// Trim returns list in a smaller block if it is at most a quarter full. The old list must then
// not be used again.
func (s *Slab[T]) Trim(list []T) []T {
	if n := cap(list); Loose(len(list), n) {
		return s.move(list, bits.Len(uint(n))-2)
	}
	return list
}

// move returns list in a block with 1<<power elements.
func (s *Slab[T]) move(list []T, power int) []T {
	var to []T
	if power < len(s.free) && len(s.free[power]) > 0 {
		last := len(s.free[power]) - 1
		to, s.free[power] = s.free[power][last], s.free[power][:last]
	} else {
		to = make([]T, 0, 1<<power)
	}
	to = append(to, list...)
	if n := cap(list); n >= 1<<least && n&(n-1) == 0 {
		was := bits.Len(uint(n)) - 1
		for len(s.free) <= was {
			s.free = append(s.free, nil)
		}
		if len(s.free[was]) < spare {
			s.free[was] = append(s.free[was], list[:0])
		}
	}
	return to
}
