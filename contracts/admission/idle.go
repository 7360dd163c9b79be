package admission

import (
	"math/bits"

	"bourse/contracts"
	"bourse/hosts"
)

// A hostSet is a set of hosts, stored as one bit per host.
type hostSet struct {
	bits  []uint64
	count int
}

// put adds h to s if in is true, and otherwise removes it.
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

// has reports whether h is in s. put must have been called for h.
func (s *hostSet) has(h hosts.ID) bool { return s.bits[h/64]>>(h%64)&1 != 0 }

// take adds to c the lowest-numbered hosts of s with room for r, one per node, and reports
// whether it found r.Nodes of them. Every host in s must be present.
func (s *hostSet) take(r *contracts.Request, v contracts.View, c *chooser) bool {
	taken, anywhere := 0, r.Needs.Min.Resources.Zero()
	for w, word := range s.bits {
		for ; word != 0; word &= word - 1 {
			h := hosts.ID(w*64 + bits.TrailingZeros64(word))
			if !anywhere && !holds(h, r, v) {
				continue
			}
			c.add(h, 0)
			if taken++; taken == r.Nodes {
				return true
			}
		}
	}
	return false
}

// free is the set of present hosts that have fewer tasks than processors.
type free struct {
	hostSet
	tasks   []int   // maximum number of tasks, by host
	fastest float64 // speed of the fastest host
}

// see updates the hosts that have changed, or all hosts in the first call, and returns them.
func (f *free) see(v contracts.View) []hosts.ID {
	changed, anew := news(v, len(f.tasks))
	if anew {
		*f = free{tasks: make([]int, v.Fleet())}
		for h := range f.tasks {
			spec := v.Spec(hosts.ID(h))
			f.tasks[h], f.fastest = max(1, int(spec.CPUs)), max(f.fastest, spec.Speed)
		}
	}
	for _, h := range changed {
		f.put(h, !v.Away(h) && len(v.On(h)) < f.tasks[h])
	}
	return changed
}

// start adds the lowest-numbered suitable free hosts to c, and reports whether r can start
// there.
func (f *free) start(r *contracts.Request, v contracts.View, c *chooser) bool {
	c.found = c.found[:0]
	return f.count >= r.Nodes && f.take(r, v, c)
}
