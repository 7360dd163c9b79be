package market

// A Series records the sum of many prices over a whole run, as a step function of time. The
// sum is exact, and recorded steps never change. The zero value has a sum of 0.
type Series struct {
	total Rate
	steps []Step // the Total of the last step is stored only when the step ends or is queried
	now   float64

	drained int  // number of bins whose steps [Series.Drain] has discarded
	before  Rate // sum at the start of the next bin
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

// Steps returns the steps in order of time, at most one per time. Before the first step of a
// run the sum is 0. The slice belongs to the series: callers must not change it, and it is
// valid until the next Add.
func (s *Series) Steps() []Step {
	s.close()
	return s.steps
}

// Averages appends to out the time-weighted averages of the sum, in dollars per second, over
// the bins [0, width), [width, 2·width) and so on until end. The last bin ends at end. Bins
// that Drain has returned are omitted. It panics unless width is above 0.
//
// To obtain the mean price of n hosts, divide the average by n.
func (s *Series) Averages(width, end float64, out []float64) []float64 {
	of := *s
	of.close()
	return of.averages(width, end, out)
}

// Drain does the same for the bins that have ended by the last change, and discards their
// steps. All calls must have the same width.
func (s *Series) Drain(width float64, out []float64) []float64 {
	bins := s.drained
	for float64(bins+1)*width <= s.now {
		bins++
	}
	if bins == s.drained {
		return out
	}
	steps := s.steps
	s.close()
	out = s.averages(width, float64(bins)*width, out)
	s.steps = steps[:copy(steps, s.steps)]
	return out
}

// averages appends the averages until end and removes the steps and the bins before end.
func (s *Series) averages(width, end float64, out []float64) []float64 {
	if !(width > 0) {
		panic("market: bins without width")
	}
	next, total := 0, s.before
	for ; float64(s.drained)*width < end; s.drained++ {
		from := float64(s.drained) * width
		to := min(float64(s.drained+1)*width, end)
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
	s.steps, s.before = s.steps[next:], total
	return out
}

// Reset discards all steps, for another run from time 0. It reuses the allocated memory.
func (s *Series) Reset() { *s = Series{steps: s.steps[:0]} }
