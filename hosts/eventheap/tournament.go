package eventheap

import (
	"math"
	"math/bits"
)

// A Tournament keeps the first of n items that are all held all the time, such
// as the hosts of a fleet with their next completions: a tree in which every
// node is the least of its eight children, a cache line.
//
// It does less than a [Heap], which knows the order of a few among many, but
// a change costs a few minimums without a branch to mispredict, and most stop
// on the first level.
type Tournament struct {
	levels [][]uint64 // bits of instants, which order as the instants do; leaves first
	firsts [][]uint8  // by level and node above it: which child is the least
}

const fan = 8

// never is +Inf, in bits.
const never = 0x7FF0_0000_0000_0000

// Reset makes items 0 to n-1 due never.
func (t *Tournament) Reset(n int) {
	for level := 0; ; level++ {
		width := max(1, (n+fan-1)/fan) * fan
		if level == len(t.levels) {
			t.levels, t.firsts = append(t.levels, nil), append(t.firsts, nil)
		}
		if cap(t.levels[level]) < width {
			t.levels[level], t.firsts[level] = make([]uint64, width), make([]uint8, width/fan)
		}
		nodes := t.levels[level][:width]
		for i := range nodes {
			nodes[i] = never
		}
		t.levels[level], t.firsts[level] = nodes, t.firsts[level][:width/fan]
		clear(t.firsts[level])
		if width == fan {
			t.levels, t.firsts = t.levels[:level+1], t.firsts[:level+1]
			return
		}
		n = width / fan
	}
}

// Set makes item due at that instant, at least 0; +Inf is never.
func (t *Tournament) Set(item int32, at float64) {
	value, i := math.Float64bits(at), uint(item)
	for level, nodes := range t.levels {
		was := nodes[i]
		if was == value {
			return
		}
		nodes[i] = value
		node, child := i/fan, uint8(i%fan)
		children, first := (*[fan]uint64)(nodes[node*fan:]), &t.firsts[level][node]
		switch {
		case child == *first && value < was: // and so it stays
		case child == *first:
			value = least(children)
			*first = find(children, value)
		case value < children[*first] || value == children[*first] && child < *first:
			*first = child
		default:
			return // the first is another
		}
		i = node
	}
}

// Min returns the item that is due first, the lowest of those due at one
// instant, and the instant. If that is +Inf, none is due.
func (t *Tournament) Min() (item int32, at float64) {
	i := uint(0)
	for level := len(t.firsts) - 1; level >= 0; level-- {
		i = i*fan + uint(t.firsts[level][i])
	}
	return int32(i), math.Float64frombits(t.levels[0][i])
}

// least is the least of a node's children.
func least(n *[fan]uint64) uint64 {
	a, b := min(n[0], n[1]), min(n[2], n[3])
	c, d := min(n[4], n[5]), min(n[6], n[7])
	return min(min(a, b), min(c, d))
}

// find returns the first of a node's children that is value.
func find(n *[fan]uint64, value uint64) uint8 {
	at := equal(n[0], value) | equal(n[1], value)<<1 | equal(n[2], value)<<2 | equal(n[3], value)<<3 |
		equal(n[4], value)<<4 | equal(n[5], value)<<5 | equal(n[6], value)<<6 | equal(n[7], value)<<7
	return uint8(bits.TrailingZeros8(at))
}

func equal(a, b uint64) uint8 {
	if a == b {
		return 1
	}
	return 0
}
