package packing

const (
	narrowest = 32      // width of the first run, which finds a good plan quickly
	widen     = 16      // maximum ratio of the widths of successive runs
	mostFlow  = 1 << 20 // maximum of items times paths in a part that a flow solves
	stretch   = 32      // number of items in each stretch that foresee examines separately
)

// solve plans the current part with at most width states stored at once and most states visited
// in total, and marks the chosen items. It returns an upper bound on how much better another
// plan could be. The bound is 0 if this plan is proven to be optimal.
func (s *Solver) solve(width, most int) (gap float64) {
	var bound float64
	if n := len(s.part.items); n*min(n, int(s.capacity)) <= mostFlow {
		bound = s.flow.price(&s.part, s.capacity)
	} else {
		bound = s.descent.price(&s.part, s.capacity)
	}
	tiny := 1e-12 * bound
	if s.whole {
		tiny = 0.5
	}
	d := &s.program
	d.part, d.capacity = &s.part, s.capacity
	d.ahead = zeroed(d.ahead, int(s.part.rows)+1)

	upper, value := bound, 0.0
	most += d.visited
	for w := min(narrowest, width); ; {
		before := d.visited
		f := d.run(0, s.part.rows, w, bound-value-tiny)
		if v := s.valueOf(f.trail); v > value {
			value = v
			s.choose(f.trail)
		}
		if upper = min(upper, bound-f.dropped); upper-value <= tiny {
			return 0
		}
		// The next step, foresee and run, visits twice as many states as a run of that width.
		// With many items, the factor is therefore less than widen; a run that is hardly wider
		// than the last is not worth its cost.
		wider := min(widen, (most-d.visited)/2/max(1, d.visited-before))
		if w == width || wider < widen && (wider < widen/4 || wider*w > width) {
			return upper - value
		}
		next := min(wider*w, width)
		if w > narrowest {
			s.foresee(stretch, next, bound-value)
			if upper = min(upper, bound-d.ahead[0]); upper-value <= tiny {
				return 0
			}
		}
		w = next
	}
}

// foresee bounds the loss ahead of each row, for plans that lose less than limit. The losses
// that no plan avoids in separate stretches of rows, each with the given number of arriving
// items, add up.
func (s *Solver) foresee(jobs int32, width int, limit float64) {
	p, d := &s.part, &s.program
	clear(d.ahead)
	ahead := zeroed(d.spare, int(p.rows)+1)
	for to := p.rows; to > 0; {
		from := to - 1
		for from > 0 && p.starts[to]-p.starts[from] < jobs {
			from--
		}
		f := d.run(from, to, width, limit)
		for r := from + 1; r < to; r++ {
			ahead[r] = ahead[to]
		}
		ahead[from] = ahead[to] + min(f.loss, f.dropped, limit)
		to = from
	}
	d.ahead, d.spare = ahead, d.ahead
}

func (s *Solver) valueOf(trail int32) (value float64) {
	for t := trail; t != none; t = s.program.trail[t].before {
		value += s.part.items[s.program.trail[t].item].value
	}
	return value
}

// choose marks the items of a plan, and unmarks all other items of the part.
func (s *Solver) choose(trail int32) {
	for i := range s.part.items {
		s.chosen[s.part.items[i].at] = false
	}
	for t := trail; t != none; t = s.program.trail[t].before {
		s.chosen[s.part.items[s.program.trail[t].item].at] = true
	}
}
