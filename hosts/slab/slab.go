// Package slab keeps the memory of many short lists that grow and shrink: it is
// lent to those that need it and taken back from those that do not, so that
// together they hold what is in them now, not the most that each ever held. It
// does not know what is in the lists.
//
// # Design
//
// Memory comes in powers of two. A list that is full moves to the next, one that is
// a quarter full to the last, so that between two moves its length changes by a
// quarter of its memory at least. In a steady state next to nothing is allocated.
// BenchmarkScale of experiments asks for it: with lists that only grow, 10^5 hosts keep
// the most that ever ran on each.
package slab

import "math/bits"

// A Slab has the memory that no list of Ts needs at present. The zero value has
// none. The memory is not cleared: T should hold no pointer.
type Slab[T any] struct {
	free [][][]T // by the power of two that they have room for
}

const (
	least = 2  // the power of two of the smallest lists
	spare = 64 // lists of one size that are kept; more are left to the garbage collector
)

// Grow returns list with room for one more. If it was full it has moved: the list that
// was given is not to be used again. One that the slab did not make is then left to
// the garbage collector.
func (s *Slab[T]) Grow(list []T) []T {
	if len(list) == cap(list) {
		return s.move(list, max(least, bits.Len(uint(cap(list)))))
	}
	return list
}

// Loose reports whether a list of n with room for size is one that [Slab.Trim] moves.
func Loose(n, size int) bool { return size > 1<<least && n <= size/4 }

// Trim returns list in less memory if it is a quarter full or less. The list that it
// was given is then not to be used again.
func (s *Slab[T]) Trim(list []T) []T {
	if n := cap(list); Loose(len(list), n) {
		return s.move(list, bits.Len(uint(n))-2)
	}
	return list
}

// move returns list in memory of that power of two.
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
