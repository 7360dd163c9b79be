package optimum

import (
	"math"
	"slices"
)

// narrow returns the largest loss among the width smallest, how many of those are as large,
// and the smallest beyond them. Where there are no more, nothing is as large, or beyond.
func (d *program) narrow(width int) (worst float64, equals int, dropped float64) {
	if len(d.losses) <= width {
		return math.Inf(1), 0, math.Inf(1)
	}
	if len(d.losses) >= worthCounting {
		width -= d.near(width)
	}
	divide(d.losses, width)
	worst, equals = slices.Max(d.losses[:width]), width
	for _, loss := range d.losses[:width] {
		if loss < worst {
			equals--
		}
	}
	return worst, equals, d.losses[width]
}

const (
	worthCounting = 2048 // losses
	sizes         = 1024
)

// near leaves of the losses those of sizes between the one at width, if all were sorted, and
// the next, and returns how many smaller ones it left out.
func (d *program) near(width int) (below int) {
	d.counts = zeroed(d.counts, sizes)
	size := func(loss float64) int { return min(int(loss/d.limit*sizes), sizes-1) } // all are less than the limit
	for _, loss := range d.losses {
		d.counts[size(loss)]++
	}
	from := 0
	for below+int(d.counts[from]) < width {
		below += int(d.counts[from])
		from++
	}
	to := from
	for upTo := below + int(d.counts[from]); upTo <= width; upTo += int(d.counts[to]) {
		to++
	}
	near := d.losses[:0]
	for _, loss := range d.losses {
		if at := size(loss); from <= at && at <= to {
			near = append(near, loss)
		}
	}
	d.losses = near
	return below
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
