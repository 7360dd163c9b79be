package market

import (
	"fmt"
	"math"
	"slices"
)

// defaultWindow is the length of a history in seconds: the paper averages prices
// over 5 minutes (§3).
const defaultWindow = 300.0

// A History is the recent past of a price. The price is a step function of time:
// 0 before the first observation, then what was observed last.
//
// What it tells at instant now is about the window [now-W, now], cut off at the
// origin 0. A price counts for as long as it stood in the window; one that stood
// for no time, because another followed at the same instant, does not count.
// Steps older than the window are forgotten.
//
// The zero value has the window defaultWindow.
type History struct {
	now float64 // the latest instant told

	// steps holds, from head on, the step in force at the start of the window and
	// all later ones, each at another price and later than the one before. What
	// stands before head is forgotten.
	steps  []step
	head   int
	window float64 // seconds; 0 is defaultWindow

	// sum and squares are the integrals of the price and its square, in
	// nano-dollars, while the oldest summed steps stood. Steps are added when a
	// question is asked and taken away when they leave the window.
	summed       int // less than the number of steps
	sum, squares twofloat

	tracked *tracker // nil until a conformal forecaster asks
}

// A step is a price from an instant on.
type step struct {
	at    float64
	price Rate
}

// newHistory returns a history with a window of that many seconds, 0 meaning
// defaultWindow. It fails if the window is negative, infinite or NaN.
func newHistory(window float64) (History, error) {
	if !(window >= 0) || math.IsInf(window, 1) {
		return History{}, fmt.Errorf("price window of %v seconds: want a number above 0", window)
	}
	return History{window: window}, nil
}

// Window returns W in seconds.
func (h *History) Window() float64 {
	if h.window == 0 {
		return defaultWindow
	}
	return h.window
}

// Observe records that the price is p from now on. It panics if now is before
// an instant already told, by Observe or by a question.
func (h *History) Observe(now float64, p Rate) {
	if h.tracked != nil {
		h.tracked.follow(now, h.Price(), p)
	}
	h.tell(now)
	if len(h.steps) == cap(h.steps) {
		h.makeRoom(now)
	}
	if len(h.steps) == 0 {
		h.steps = append(h.steps, step{}) // a price of 0 from the origin
	}
	n := len(h.steps)
	last := &h.steps[n-1]
	switch {
	case last.price == p:
	case last.at < now:
		h.steps = append(h.steps, step{now, p})
	case n-1 > h.head && h.steps[n-2].price == p:
		h.steps = h.steps[:n-1] // changed and changed back at one instant
	default:
		last.price = p
	}
}

// Price returns the price last observed, 0 before the first.
func (h *History) Price() Rate {
	if len(h.steps) == 0 {
		return 0
	}
	return h.steps[len(h.steps)-1].price
}

// Moments returns the time-weighted mean and standard deviation of the price
// over the window before now, both in dollars per second. The deviation of a
// price that did not change in the window is exactly 0, and so it is at the
// origin, where the window has no length and the mean is the current price.
//
// It panics if now is before an instant already told.
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

	before, before2 := first.integrals(from)
	since, since2 := last.integrals(now)
	sum, squares := h.sum.minus(before).plus(since), h.squares.minus(before2).plus(since2)
	length := difference(now, from)
	variance := squares.times(length).minus(sum.times(sum)).hi // times length²
	return sum.hi / length.hi / nano, math.Sqrt(max(0, variance)) / length.hi / nano
}

// Reset forgets all prices, for another run from instant 0. The window and the
// storage are kept.
func (h *History) Reset() {
	h.now, h.steps, h.head = 0, h.steps[:0], 0
	h.sum, h.squares, h.summed = twofloat{}, twofloat{}, 0
	h.tracked = nil
}

// prefetch reads what the next Observe will.
func (h *History) prefetch() float64 {
	if n := len(h.steps); n > 0 {
		return h.steps[n-1].at
	}
	return h.now
}

// tell lets time pass until now.
func (h *History) tell(now float64) {
	if !(now >= h.now) {
		panic("market: time goes back")
	}
	h.now = now
}

// advance moves the window to end at now, forgets the steps before it, and
// returns its start.
func (h *History) advance(now float64) (from float64) {
	h.tell(now)
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

// drop forgets the n oldest steps.
func (h *History) drop(n int) {
	oldest := h.steps[h.head : h.head+n+1]
	h.head += n
	if h.summed -= n; h.summed <= 0 {
		h.sum, h.squares, h.summed = twofloat{}, twofloat{}, 0 // roundings end here
		return
	}
	for i := range n {
		sum, squares := oldest[i].integrals(oldest[i+1].at)
		h.sum, h.squares = h.sum.minus(sum), h.squares.minus(squares)
	}
}

// makeRoom makes room for steps: where those forgotten stood, and elsewhere if they
// were few.
func (h *History) makeRoom(now float64) {
	h.advance(now)
	h.steps, h.head = append(h.steps[:0], h.steps[h.head:]...), 0
	if len(h.steps)+2 > cap(h.steps)/2 {
		h.steps = slices.Grow(h.steps, cap(h.steps)+4)
	}
}

// integrals returns the integrals of the price and its square over [at, end].
func (s *step) integrals(end float64) (sum, squares twofloat) {
	price := float64(s.price)
	sum = difference(end, s.at).scale(price)
	return sum, sum.scale(price)
}

// stays appends to out the prices of the window before now, in order of time,
// with the seconds for which each stood; nothing if the window has no length.
func (h *History) stays(now float64, out []stay) []stay {
	from := h.advance(now)
	steps := h.steps[h.head:]
	for i, s := range steps {
		end := now
		if i+1 < len(steps) {
			end = steps[i+1].at
		}
		if end > max(from, s.at) {
			out = append(out, stay{s.price, end - max(from, s.at)})
		}
	}
	return out
}
