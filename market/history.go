package market

import (
	"fmt"
	"math"
	"slices"
)

// defaultWindow is the length of a history in seconds. The paper averages prices over 5
// minutes (§3).
const defaultWindow = 300.0

// A History records the recent past of a price. The price is a step function of time. It is 0
// before the first observation, and afterwards the value observed last.
//
// Queries at time now cover the window [now-W, now], which never starts before time 0. Each
// price is weighted by the time for which it was in force within the window. A price that was
// replaced at the time it was observed has no weight. Steps older than the window are
// discarded.
//
// The zero value has the window defaultWindow.
type History struct {
	now float64 // latest time passed to a method

	// From index head on, steps holds the step in force at the start of the window and all
	// later steps. Each step has a different price and a later time than the one before. The
	// entries before head are discarded steps, whose memory makeRoom reuses.
	steps  []step
	head   int
	window float64 // seconds; 0 means defaultWindow

	// sum and squares are the time integrals of the price and of its square, in nano-dollars.
	// They cover the oldest summed steps. Moments adds steps to them; drop subtracts the steps
	// that leave the window.
	summed       int // number of oldest steps in the sums; less than the number of all steps
	sum, squares twofloat

	tracked *tracker // nil until a conformal forecaster is used
}

// A step is a price and the time from which it is in force.
type step struct {
	at    float64
	price Rate
}

// NewHistory returns a history with a window of the given number of seconds; 0 means
// defaultWindow. It fails if the window is negative, infinite or NaN.
func NewHistory(window float64) (History, error) {
	if !(window >= 0) || math.IsInf(window, 1) {
		return History{}, fmt.Errorf("price window of %v seconds: want a number above 0", window)
	}
	return History{window: window}, nil
}

// Window returns W, the length of the window in seconds.
func (h *History) Window() float64 {
	if h.window == 0 {
		return defaultWindow
	}
	return h.window
}

// Observe records that the price is p from time now on. It panics if now is earlier than a
// time already passed to Observe or to a query.
func (h *History) Observe(now float64, p Rate) {
	if h.tracked != nil {
		h.tracked.follow(now, h.Price(), p)
	}
	h.setNow(now)
	if len(h.steps) == cap(h.steps) {
		h.makeRoom(now)
	}
	if len(h.steps) == 0 {
		h.steps = append(h.steps, step{}) // the price is 0 from time 0 until the first observation
	}
	n := len(h.steps)
	last := &h.steps[n-1]
	switch {
	case last.price == p:
	case last.at < now:
		h.steps = append(h.steps, step{now, p})
	case n-1 > h.head && h.steps[n-2].price == p:
		h.steps = h.steps[:n-1] // the price changed and returned to its old value at the same time
	default:
		last.price = p
	}
}

// Price returns the price last observed, or 0 before the first observation.
func (h *History) Price() Rate {
	if len(h.steps) == 0 {
		return 0
	}
	return h.steps[len(h.steps)-1].price
}

// Moments returns the time-weighted mean and standard deviation of the price over the window
// that ends at now, both in dollars per second. If the price did not change in the window, the
// deviation is exactly 0. At time 0 the window has no length: the deviation is 0 and the mean
// is the current price.
//
// The cost does not depend on the number of steps in the window, only on the number added or
// discarded since the last call. Moments panics if now is earlier than a time already passed
// to h.
func (h *History) Moments(now float64) (mean, deviation float64) {
	from := h.advance(now)
	steps := h.steps[h.head:]
	if len(steps) == 0 {
		return 0, 0
	}
	for h.summed+1 < len(steps) && steps[h.summed+1].at < now {
		sum, squares := steps[h.summed].integrals(steps[h.summed+1].at)
		h.sum, h.squares = h.sum.plus(sum), h.squares.plus(squares)
		h.summed++
	}
	first, last := &steps[0], &steps[h.summed]
	if first == last {
		return first.price.Float64(), 0
	}

	// The sums cover whole steps. Subtract the part of the oldest step that lies before the
	// window. Add the current step up to now.
	before, before2 := first.integrals(from)
	since, since2 := last.integrals(now)
	sum, squares := h.sum.minus(before).plus(since), h.squares.minus(before2).plus(since2)
	length := difference(now, from)
	variance := squares.times(length).minus(sum.times(sum)).hi // the variance multiplied by length²
	return sum.hi / length.hi / nano, math.Sqrt(max(0, variance)) / length.hi / nano
}

// Snapshot returns a copy of h. Queries of the copy leave h unchanged. The copy shares the
// prices with h, so it is valid until h observes the next price.
func (h *History) Snapshot() History {
	s := *h
	if h.tracked != nil {
		s.tracked = h.tracked.clone()
	}
	return s
}

// Reset discards all prices, for another run from time 0. It keeps the window and the
// allocated memory.
func (h *History) Reset() {
	h.now, h.steps, h.head = 0, h.steps[:0], 0
	h.sum, h.squares, h.summed = twofloat{}, twofloat{}, 0
	h.tracked = nil
}

// setNow moves the clock of h to now. It panics if now is earlier than the current time of the
// clock.
func (h *History) setNow(now float64) {
	if !(now >= h.now) {
		panic("market: time goes back")
	}
	h.now = now
}

// advance moves the end of the window to now, discards the steps that lie before the window,
// and returns the start of the window.
func (h *History) advance(now float64) (from float64) {
	h.setNow(now)
	from = max(0, now-h.Window())
	past, steps := 0, h.steps[h.head:]
	for past+1 < len(steps) && steps[past+1].at <= from {
		past++
	}
	if past > 0 {
		h.drop(past)
	}
	return from
}

// drop discards the n oldest steps and subtracts them from the sums.
func (h *History) drop(n int) {
	oldest := h.steps[h.head : h.head+n+1]
	h.head += n
	if h.summed -= n; h.summed <= 0 {
		h.sum, h.squares, h.summed = twofloat{}, twofloat{}, 0 // removes accumulated rounding errors
		return
	}
	for i := range n {
		sum, squares := oldest[i].integrals(oldest[i+1].at)
		h.sum, h.squares = h.sum.minus(sum), h.squares.minus(squares)
	}
}

// makeRoom makes room for more steps. It reuses the memory of discarded steps. It allocates
// only if the steps in the window fill more than about half of the memory.
func (h *History) makeRoom(now float64) {
	h.advance(now)
	h.steps, h.head = append(h.steps[:0], h.steps[h.head:]...), 0
	if len(h.steps)+2 > cap(h.steps)/2 {
		h.steps = slices.Grow(h.steps, cap(h.steps)+4)
	}
}

// integrals returns the integrals of the price and of its square over [s.at, end].
func (s *step) integrals(end float64) (sum, squares twofloat) {
	price := float64(s.price)
	sum = difference(end, s.at).scale(price)
	return sum, sum.scale(price)
}

// A Stay is a price and the number of seconds for which it was in force.
type Stay struct {
	Price   Rate
	Seconds float64
}

// Stays appends to out the prices in the window that ends at now, in order of time, each with
// the number of seconds for which it was in force. It appends nothing if the window has no
// length.
func (h *History) Stays(now float64, out []Stay) []Stay {
	from := h.advance(now)
	steps := h.steps[h.head:]
	for i, s := range steps {
		end := now
		if i+1 < len(steps) {
			end = steps[i+1].at
		}
		if end > max(from, s.at) {
			out = append(out, Stay{s.price, end - max(from, s.at)})
		}
	}
	return out
}
