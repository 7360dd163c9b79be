package eventheap

import (
	"math"
	"math/bits"
)

// A Tournament keeps the first of n items that are all held all the time, such
// as the hosts of a fleet with their next completions: a binary tree in which
// every node is the winner of the two below it.
//
// It does less than a [Heap], which knows the order of a few among many, but a
// change is a match on each level against a rival known beforehand: nothing waits
// for memory, and there is no branch to mispredict.
type Tournament struct {
	due   []uint64 // by item: bits of its instant, which order as the instants do
	first []int32  // by node, the root at 1, items last: the item below it that is due first
}

// never is +Inf, in bits.
const never = 0x7FF0_0000_0000_0000

// Reset makes items 0 to n-1 due never.
func (t *Tournament) Reset(n int) {
	size := 1 << bits.Len(uint(max(1, n)-1))
	if cap(t.due) < size {
		t.due, t.first = make([]uint64, size), make([]int32, 2*size)
	}
	t.due, t.first = t.due[:size], t.first[:2*size]
	for i := range t.due {
		t.due[i], t.first[size+i] = never, int32(i)
	}
	for i := size - 1; i > 0; i-- {
		t.first[i] = t.first[2*i]
	}
}

// Set makes item due at that instant, at least 0; +Inf is never.
func (t *Tournament) Set(item int32, at float64) {
	all, first, due := t.due, t.first, math.Float64bits(at)
	all[item] = due
	for i := uint(len(all)) + uint(item); i > 1; i /= 2 {
		rival := first[i^1]
		if d := all[rival]; d < due+uint64(i%2) { // of two due at once, the left
			item, due = rival, d
		}
		first[i/2] = item
	}
}

// Min returns the item that is due first, the lowest of those due at one
// instant, and the instant. If that is +Inf, none is due.
func (t *Tournament) Min() (item int32, at float64) {
	item = t.first[1]
	return item, math.Float64frombits(t.due[item])
}
