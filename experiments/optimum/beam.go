package optimum

import "slices"

// narrow keeps the width states with the smallest loss, the earlier of equals,
// and returns the smallest loss given up.
func (d *program) narrow(width int) (dropped float64) {
	d.losses = d.losses[:0]
	for _, s := range d.now {
		d.losses = append(d.losses, s.loss)
	}
	divide(d.losses, width)
	worst, equals := slices.Max(d.losses[:width]), width
	for _, loss := range d.losses[:width] {
		if loss < worst {
			equals--
		}
	}
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

// divide puts in x[k] what would stand there if x were sorted, and before it no greater
// and after it no smaller ones (Hoare's find).
func divide(x []float64, k int) {
	for from, to := 0, len(x)-1; from < to; {
		a, b, c := x[from], x[(from+to)/2], x[to]
		middle := max(min(a, b), min(max(a, b), c))
		i, j := from, to
		for i <= j {
			for x[i] < middle {
				i++
			}
			for middle < x[j] {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i, j = i+1, j-1
			}
		}
		if k >= i {
			from = i
		} else if k <= j {
			to = j
		} else {
			return
		}
	}
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
