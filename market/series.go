package market

// A Series records the sum of many prices over a whole run, as a step function of time. The
// sum is exact, and recorded steps never change. The zero value has a sum of 0.
type Series struct {
	total Rate
	steps []Step // the Total of the last step is stored only when the step ends or is queried
	now   float64
}

// A Step records that the sum of the prices is Total from the time At until the next step.
type Step struct {
	At    float64
	Total Rate
}

// Add changes the sum by delta from now on. It panics if now is negative or earlier than the
// last change, or if the sum would overflow an int64.
func (s *Series) Add(now float64, delta Rate) {
	if now != s.now || len(s.steps) == 0 {
		s.begin(now)
	}
	was := s.total
	if s.total += delta; (s.total^was)&(s.total^delta) < 0 { // overflow: the sign of the sum differs from the signs of both operands
		panic("market: sum of prices out of range")
	}
}

// begin starts a new step at now.
func (s *Series) begin(now float64) {
	if !(now >= s.now) {
		panic("market: time goes back")
	}
	s.close()
	s.steps = append(s.steps, Step{At: now})
	s.now = now
}

// close stores the current total in the last step.
func (s *Series) close() {
	if n := len(s.steps); n > 0 {
		s.steps[n-1].Total = s.total
	}
}

// Steps returns the steps in order of time, at most one per time. Before the first step the
// sum is 0. The slice belongs to the series: callers must not change it, and it is valid until
// the next Add.
func (s *Series) Steps() []Step {
	s.close()
	return s.steps
}

// Averages appends to out the time-weighted averages of the sum, in dollars per second, over
// the bins [0, width), [width, 2·width) and so on until end. The last bin ends at end. It
// panics unless width is above 0.
//
// To obtain the mean price of n hosts, divide the average by n.
func (s *Series) Averages(width, end float64, out []float64) []float64 {
	if !(width > 0) {
		panic("market: bins without width")
	}
	s.close()
	next, total := 0, Rate(0)
	for bin := 0; float64(bin)*width < end; bin++ {
		from := float64(bin) * width
		to := min(float64(bin+1)*width, end)
		// Add up the areas of the steps within [from, to). The variables next and total carry
		// over from the previous bin, so all bins together need one pass over the steps.
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

// Reset discards all steps, for another run from time 0. It reuses the allocated memory.
func (s *Series) Reset() { s.total, s.steps, s.now = 0, s.steps[:0], 0 }
