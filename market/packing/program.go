package packing

import (
	"math"
	"math/bits"
	"slices"
)

// A program is the dynamic program over the items of a part.
//
// The loss of a plan has three parts. A rejected item with a positive gain adds that gain. A
// chosen item with a negative gain adds the absolute value of the gain. Each row adds its price
// for every idle node.
type program struct {
	part     *part
	capacity int32
	ahead    []float64 // per row and one more: loss that no plan avoids from there on
	limit    float64   // plans with at least this loss are discarded
	dropped  float64   // lower bound of the losses of plans discarded by the run
	visited  int       // number of states, over all runs

	now, next []state
	free      uint64    // bit mask of the slots without an item
	slots     [64]int32 // item of each slot
	slot      []int32   // per item: its slot, everyone or outside
	trail     []decision
	full      int // length of the trail at which it is compacted

	table  []int32   // index in next plus 1, by hash of set
	losses []float64 // losses of both decisions; scratch memory
	near   []float64 // losses near the largest loss to keep; scratch memory
	alive  []int32
	spare  []float64
}

// A state represents the best plan so far among those with the same set of chosen items still
// active.
type state struct {
	set   uint64  // bit mask of the slots of those items
	loss  float64 // loss of the plan
	used  int32   // number of nodes in use, including the nodes of items that are chosen in every state
	trail int32   // last decision of the plan, or none
}

// A decision is the choice of an item after earlier decisions.
type decision struct{ before, item int32 }

const (
	none     = -1
	outside  = -1 // the item is not active, or is chosen in no state
	everyone = -2 // the item is chosen in every state
)

// A found is the result of a run. It contains the best plan below the limit (with infinite
// loss if there is none) and a lower bound on the losses of discarded plans.
type found struct {
	loss, dropped float64
	trail         int32
}

// run finds the plan with the smallest loss below limit in the rows [from, to), keeping at most
// width states. Items that start before these rows may be chosen or not without loss, because
// only losses in these rows count.
func (d *program) run(from, to int32, width int, limit float64) found {
	p := d.part
	d.limit, d.dropped = limit, math.Inf(1)
	d.now = append(d.now[:0], state{trail: none})
	d.free = math.MaxUint64
	d.trail, d.full = d.trail[:0], compactAt
	d.slot = zeroed(d.slot, len(p.items))
	for i := range d.slot {
		d.slot[i] = outside
	}

	for row := from; row < to; row++ {
		d.leave(p.over(row))
		begin, end := p.begin(row)
		if row == from {
			begin = 0
		}
		for i := begin; i < end; i++ {
			it := &p.items[i]
			if it.last < row {
				continue
			}
			gain := it.gain
			if it.first < from {
				gain = 0
			}
			if d.free == 0 || math.Abs(gain) >= limit {
				d.settle(i, it.nodes, gain)
			} else {
				d.dropped = min(d.dropped, d.branch(i, it.nodes, gain, width)+d.ahead[row+1])
			}
		}
		d.idle(row)
		if len(d.trail) >= d.full {
			d.compact()
		}
	}

	f := found{loss: math.Inf(1), dropped: d.dropped, trail: none}
	for _, s := range d.now {
		if s.loss < f.loss {
			f.loss, f.trail = s.loss, s.trail
		}
	}
	return f
}

// leave removes items that have ended, and merges states that become equal.
func (d *program) leave(gone []int32) {
	var over uint64
	var released int32 // nodes of ended items that were chosen in every state
	for _, i := range gone {
		switch s := d.slot[i]; s {
		case outside:
		case everyone:
			released += d.part.items[i].nodes
		default:
			over |= 1 << s
		}
	}
	if over == 0 && released == 0 {
		return
	}
	size := 4
	for size < 2*len(d.now) {
		size *= 2
	}
	d.table = zeroed(d.table, size)
	d.next = d.next[:0]
	for _, s := range d.now {
		s.used -= released
		for g := s.set & over; g != 0; g &= g - 1 {
			s.used -= d.part.items[d.slots[bits.TrailingZeros64(g)]].nodes
		}
		s.set &^= over
		d.merge(s)
	}
	d.now, d.next = d.next, d.now
	d.free |= over
}

// merge adds s to next. If next contains an equal state, it keeps the better one.
func (d *program) merge(s state) {
	mask := len(d.table) - 1
	at := int((s.set*0x9e3779b97f4a7c15)>>32) & mask
	for d.table[at] != 0 {
		if t := &d.next[d.table[at]-1]; t.set == s.set {
			if s.loss < t.loss {
				*t = s
			}
			return
		}
		at = (at + 1) & mask
	}
	d.next = append(d.next, s)
	d.table[at] = int32(len(d.next))
}

// branch decides item i both ways in every state. It keeps the width states with the smallest
// loss. Among equal losses, earlier states are preferred. It returns the smallest loss
// discarded, or infinity if there is none.
func (d *program) branch(i, nodes int32, gain float64, width int) (dropped float64) {
	slot := bits.TrailingZeros64(d.free)
	bit := uint64(1) << slot
	d.free &^= bit
	d.slots[slot], d.slot[i] = i, int32(slot)

	with, without := max(0, -gain), max(0, gain)
	below, dropped, equals := d.limit, math.Inf(1), 0
	crowded := 2*len(d.now) > width
	if crowded {
		d.collect(nodes, with, without)
		d.visited += len(d.losses)
		if len(d.losses) > width {
			dropped, equals = d.narrow(width)
			below = dropped
		}
	}
	if equals > 0 {
		below = math.Nextafter(dropped, math.Inf(1)) // include all states with this loss; trim removes some of them later
	}
	d.split(i, nodes, bit, with, without, below)
	if !crowded {
		d.visited += len(d.next)
	}
	if equals > 0 {
		d.trim(dropped, equals)
	}
	d.now, d.next = d.next, d.now
	return dropped
}

// split decides an item both ways in every state, and keeps the states with a loss below the
// limit.
func (d *program) split(i, nodes int32, bit uint64, with, without, below float64) {
	d.next = room(d.next, 2*len(d.now))
	next, n := d.next, 0
	t := len(d.trail)
	trail := slices.Grow(d.trail, len(d.now))[:t+len(d.now)]
	most := d.capacity - nodes
	for _, s := range d.now {
		loss := s.loss + with
		next[n] = state{s.set | bit, loss, s.used + nodes, int32(t)}
		trail[t] = decision{s.trail, i}
		kept := one(s.used <= most) & one(loss < below)
		n += kept
		t += kept

		s.loss += without
		next[n] = s
		n += one(s.loss < below)
	}
	d.next, d.trail = next[:n], trail[:t]
}

// settle decides item i the same way in every state, by the sign of its gain. The caller uses
// settle if the other decision would reach the limit, or if no slot is free.
func (d *program) settle(i, nodes int32, gain float64) {
	fits := func(s state) bool { return s.used+nodes <= d.capacity }
	with, without := max(0, -gain), max(0, gain)
	choose := gain > 0 && slices.ContainsFunc(d.now, fits)
	if choose {
		d.slot[i] = everyone
	}
	kept := d.now[:0]
	for _, s := range d.now {
		switch {
		case choose:
			d.dropped = min(d.dropped, s.loss+without)
			if !fits(s) {
				continue
			}
			s.trail = d.follow(s, i)
			s.used += nodes
			s.loss += with
		case fits(s):
			d.dropped = min(d.dropped, s.loss+with)
			fallthrough
		default:
			s.loss += without
		}
		if s.loss < d.limit {
			kept = append(kept, s)
		}
	}
	d.now = kept
	d.visited += len(d.now)
}

// follow records that item i is chosen after the plan of s.
func (d *program) follow(s state, i int32) (trail int32) {
	d.trail = append(d.trail, decision{s.trail, i})
	return int32(len(d.trail) - 1)
}

// idle charges every state for the nodes that a row leaves unused.
func (d *program) idle(row int32) {
	price, limit := d.part.prices[row], d.limit-d.ahead[row+1]
	kept := d.now[:0]
	for _, s := range d.now {
		if s.loss += price * float64(d.capacity-s.used); s.loss < limit {
			kept = append(kept, s)
		}
	}
	d.now = kept
}
