package queue

import (
	"math/bits"
	"slices"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/hosts"
)

// A hostSet is a set of hosts, stored as one bit per host.
type hostSet struct {
	bits  []uint64
	count int
}

// put adds h to s if in is true and removes h if not.
func (s *hostSet) put(h hosts.ID, in bool) {
	for int(h/64) >= len(s.bits) {
		s.bits = append(s.bits, 0)
	}
	word, bit := &s.bits[h/64], uint64(1)<<(h%64)
	switch was := *word&bit != 0; {
	case in && !was:
		s.count++
	case was && !in:
		s.count--
	default:
		return
	}
	*word ^= bit
}

// has reports whether h is in s. The method put must have been called for h before.
func (s *hostSet) has(h hosts.ID) bool { return s.bits[h/64]>>(h%64)&1 != 0 }

// first appends to out the lowest-numbered hosts of s that fit a node of r, one per node, and
// reports whether it found r.Nodes hosts. Every host in s must be present, and out must be
// empty.
func (s *hostSet) first(r *contracts.Request, v contracts.View, out []hosts.ID) (found []hosts.ID, enough bool) {
	anywhere := r.Needs.Min.Resources.Zero()
	for w, word := range s.bits {
		for ; word != 0; word &= word - 1 {
			h := hosts.ID(w*64 + bits.TrailingZeros64(word))
			if !anywhere && !contracts.Eligible(h, r, v) {
				continue
			}
			if out = append(out, h); len(out) == r.Nodes {
				return out, true
			}
		}
	}
	return out, false
}

// free is the set of present hosts that have fewer tasks than processors.
type free struct {
	hostSet
	found      []hosts.ID // hosts on which the request examined last can start
	placements []contracts.Placement
	order      []packing // memory that pack reuses

	tasks   []int   // maximum number of tasks of each host
	left    []int   // number of free processors of each host
	slots   int     // sum of left
	fastest float64 // speed of the fastest host
}

// see updates the hosts that have changed, and returns them. In the first call, it returns all
// hosts.
func (f *free) see(v contracts.View) []hosts.ID {
	changed, all := admission.Changed(v, len(f.tasks))
	if all {
		*f = free{tasks: make([]int, v.Fleet()), left: make([]int, v.Fleet()), found: f.found, placements: f.placements, order: f.order}
		for h := range f.tasks {
			spec := v.Spec(hosts.ID(h))
			f.tasks[h], f.fastest = max(1, int(spec.CPUs)), max(f.fastest, spec.Speed)
		}
	}
	for _, h := range changed {
		left := 0
		if !v.Unavailable(h) {
			left = max(0, f.tasks[h]-len(v.On(h)))
		}
		f.slots += left - f.left[h]
		f.left[h] = left
		f.put(h, left > 0)
	}
	return changed
}

// start finds the lowest-numbered suitable free hosts, and reports whether r can start on them.
func (f *free) start(r *contracts.Request, v contracts.View) (can bool) {
	f.found = f.found[:0]
	switch {
	case r.Packed && f.slots >= r.Nodes:
		can = f.pack(r, v)
	case !r.Packed && f.count >= r.Nodes:
		f.found, can = f.first(r, v, f.found)
	}
	return can
}

// pack finds free processors for the nodes of r. If some hosts have enough processors for all
// nodes, it chooses the one with the fewest free processors. Ties go to the lowest-numbered
// host. If there is no such host, it fills hosts, starting with those that have the most free
// processors, so that the job uses few hosts.
func (f *free) pack(r *contracts.Request, v contracts.View) bool {
	f.order = f.order[:0]
	tightest, least := hosts.ID(-1), 0
	for w, word := range f.bits {
		for ; word != 0; word &= word - 1 {
			h := hosts.ID(w*64 + bits.TrailingZeros64(word))
			n := holds(r, v.Spec(h), v.Room(h), f.left[h])
			if n >= r.Nodes && (tightest < 0 || f.left[h] < least) {
				tightest, least = h, f.left[h]
			}
			f.order = append(f.order, packing{h, n})
		}
	}
	if tightest >= 0 {
		f.order = append(f.order[:0], packing{tightest, r.Nodes})
	}
	slices.SortStableFunc(f.order, func(a, b packing) int { return b.nodes - a.nodes })
	for _, p := range f.order {
		for range p.nodes {
			if f.found = append(f.found, p.host); len(f.found) == r.Nodes {
				return true
			}
		}
	}
	return false
}

// A packing is a number of nodes on a host.
type packing struct {
	host  hosts.ID
	nodes int
}

// holds returns the number of nodes of r for which a host has room, up to the given maximum.
func holds(r *contracts.Request, spec *hosts.Spec, room hosts.Resources, most int) (n int) {
	for ; n < most && r.Needs.Fits(spec, room); n++ {
		room = room.Sub(r.Needs.Holds(spec, room))
	}
	return n
}

// slowest returns the lowest speed of the hosts found.
func (f *free) slowest(v contracts.View) float64 {
	speed := v.Spec(f.found[0]).Speed
	for _, h := range f.found[1:] {
		speed = min(speed, v.Spec(h).Speed)
	}
	return speed
}

// accept accepts r on the hosts found.
func (f *free) accept(r *contracts.Request) contracts.Decision {
	f.placements = f.placements[:0]
	for _, h := range f.found {
		f.placements = append(f.placements, contracts.Placement{Host: h, Bid: r.LeastBid()})
	}
	return contracts.Decision{Verdict: contracts.Accept, Placements: f.placements}
}

// everHolds reports whether enough hosts would have room for r if all were idle. If not, the
// request can never start.
func everHolds(r *contracts.Request, v contracts.View) bool {
	least := r.Needs.Min.Resources
	if r.Packed {
		n := 0
		for h := hosts.ID(0); int(h) < v.Fleet() && n < r.Nodes; h++ {
			spec := v.Spec(h)
			n += holds(r, spec, spec.Offers(), max(1, int(spec.CPUs)))
		}
		return n >= r.Nodes
	}
	if least.Zero() {
		return r.Nodes <= v.Fleet()
	}
	n := 0
	for h := range hosts.ID(v.Fleet()) {
		if spec := v.Spec(h); r.Needs.Fits(spec, spec.Offers()) {
			n++
		}
	}
	return r.Nodes <= n
}
