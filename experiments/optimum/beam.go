package optimum

import "slices"

// narrow keeps the width states with the smallest loss, the earlier of equals,
// and returns the smallest loss given up.
func (d *program) narrow(width int) (dropped float64) {
	d.losses = d.losses[:0]
	for _, s := range d.now {
		d.losses = append(d.losses, s.loss)
	}
	slices.Sort(d.losses)
	worst := d.losses[width-1]
	first, _ := slices.BinarySearch(d.losses, worst)
	equals := width - first
	kept := d.now[:0]
	for _, s := range d.now {
		if s.loss == worst {
			equals--
		}
		if s.loss < worst || s.loss == worst && equals >= 0 {
			kept = append(kept, s)
		}
	}
	d.now = kept
	return d.losses[width]
}

// compactAt is the length of the trail, in decisions, that is not worth the
// trouble.
const compactAt = 1 << 16

// compact forgets the decisions of plans that did not survive. Those that did
// share most of theirs.
func (d *program) compact() {
	d.alive = zeroed(d.alive, len(d.trail)) // first a mark, then the new position plus 1
	for _, s := range d.now {
		for t := s.trail; t != none && d.alive[t] == 0; t = d.trail[t].before {
			d.alive[t] = 1
		}
	}
	kept := d.trail[:0]
	for t, step := range d.trail {
		if d.alive[t] == 0 {
			continue
		}
		if step.before != none {
			step.before = d.alive[step.before] - 1
		}
		kept = append(kept, step)
		d.alive[t] = int32(len(kept))
	}
	for i := range d.now {
		if s := &d.now[i]; s.trail != none {
			s.trail = d.alive[s.trail] - 1
		}
	}
	d.trail = kept
	d.full = max(compactAt, 4*len(kept))
}
