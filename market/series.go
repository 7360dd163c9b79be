package market

// A Series is the sum of many prices over a whole run, as a step function of
// time: exact, and append-only. The zero value has a sum of 0.
type Series struct {
	total Rate
	steps []Step // the last has its total once it is over, or asked for
	now   float64
}

// A Step says that the sum of the prices is Total from the instant At until the
// next step.
type Step struct {
	At    float64
	Total Rate
}

// Add changes the sum by delta from now on. It panics if now is before the last
// change or the origin, or if the sum would exceed an int64.
func (s *Series) Add(now float64, delta Rate) {
	if now != s.now || len(s.steps) == 0 {
		s.begin(now)
	}
	was := s.total
	if s.total += delta; (s.total^was)&(s.total^delta) < 0 { // the sign is neither's
		panic("market: sum of prices out of range")
	}
}

// begin begins a step.
func (s *Series) begin(now float64) {
	if !(now >= s.now) {
		panic("market: time goes back")
	}
	s.close()
	s.steps = append(s.steps, Step{At: now})
	s.now = now
}

// close tells the last step its total.
func (s *Series) close() {
	if n := len(s.steps); n > 0 {
		s.steps[n-1].Total = s.total
	}
}

// Steps returns the steps in order of time, at most one an instant; before the
// first the sum is 0. The slice is the series' own: it is read only, and good
// until the next Add.
func (s *Series) Steps() []Step {
	s.close()
	return s.steps
}

// Averages appends to out the time-weighted averages of the sum, in dollars per
// second, over the bins [0, width), [width, 2·width) and so on until end. The
// last bin is cut off at end. It panics unless width is above 0.
//
// The mean price of n hosts is the average divided by n.
func (s *Series) Averages(width, end float64, out []float64) []float64 {
	if !(width > 0) {
		panic("market: bins without width")
	}
	s.close()
	next, total := 0, Rate(0)
	for bin := 0; float64(bin)*width < end; bin++ {
		from := float64(bin) * width
		to := min(float64(bin+1)*width, end)
		integral, at := 0.0, from
		for ; next < len(s.steps) && s.steps[next].At < to; next++ {
			integral += (s.steps[next].At - at) * total.Float64()
			at, total = s.steps[next].At, s.steps[next].Total
		}
		integral += (to - at) * total.Float64()
		out = append(out, integral/(to-from))
	}
	return out
}

// Reset forgets all, for another run from instant 0. The storage is kept.
func (s *Series) Reset() { s.total, s.steps, s.now = 0, s.steps[:0], 0 }
