package admission

import (
	"math/bits"

	"bourse/contracts"
	"bourse/hosts"
)

// idle remembers which hosts have a free processor: fewer tasks on them than
// processors.
type idle struct {
	free  []uint64 // a bit a host
	count int
	fleet int
}

// see looks at the hosts that have changed.
func (f *idle) see(v contracts.View) {
	if f.fleet != v.Fleet() {
		*f = idle{free: make([]uint64, (v.Fleet()+63)/64), fleet: v.Fleet()}
		for h := range hosts.ID(f.fleet) {
			f.look(h, v)
		}
		return
	}
	for _, h := range v.Changed() {
		f.look(h, v)
	}
}

func (f *idle) look(h hosts.ID, v contracts.View) {
	word, bit := &f.free[h/64], uint64(1)<<(h%64)
	was := *word&bit != 0
	is := len(v.On(h)) < max(1, int(v.Spec(h).CPUs))
	switch {
	case is && !was:
		*word |= bit
		f.count++
	case was && !is:
		*word &^= bit
		f.count--
	}
}

// take enters the lowest free hosts that r can have in c, one a node, and reports
// whether there are so many.
func (f *idle) take(r *contracts.Request, v contracts.View, c *chooser) bool {
	c.found = c.found[:0]
	if f.count < r.Nodes {
		return false
	}
	for w, word := range f.free {
		for ; word != 0; word &= word - 1 {
			h := hosts.ID(w*64 + bits.TrailingZeros64(word))
			if !holds(h, r, v) {
				continue
			}
			if c.add(h, 0); len(c.found) == r.Nodes {
				return true
			}
		}
	}
	return false
}

// slowest returns the least speed of the hosts found.
func (c *chooser) slowest(v contracts.View) float64 {
	speed := v.Spec(c.found[0].host).Speed
	for _, f := range c.found[1:] {
		speed = min(speed, v.Spec(f.host).Speed)
	}
	return speed
}
