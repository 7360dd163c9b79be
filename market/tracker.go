package market

import "slices"

// A tracker follows one price for [conformal]. It is plain data, so that it can be stored and
// copied.
type tracker struct {
	ConformalOptions
	step   float64 // seconds between forecasts
	origin float64 // time of the first forecast
	n      int64   // number of forecasts made
	at     float64 // time up to which the price has been followed
	still  int     // number of forecasts since the price last changed

	past   []Rate // prices at the times of the forecasts in the last window, oldest first
	scores []Rate // the latest scores; score number k is at index k modulo the maximum number of scores
	scored int64  // number of scores computed so far
	sorted []Rate // the same scores, sorted

	levels []level
}

// A level is a probability that callers have requested, with the current α for it.
type level struct {
	g, alpha float64
	pending  []forecast // forecasts of the last window, oldest first
}

// A forecast is a predicted price that has not been scored yet.
type forecast struct {
	price Rate
	over  float64 // seconds during which the price was higher than the forecast
}

// stillEnough is the maximum number of consecutive forecasts for an unchanged price. No more
// forecasts are made until the price changes. With the default options, this number of
// forecasts covers a thousand windows.
const stillEnough = 10_000

// newTracker returns a tracker that makes its first forecast at now and the next ones every
// step seconds.
func newTracker(o ConformalOptions, step, now float64) *tracker {
	return &tracker{ConformalOptions: o, step: step, origin: now, at: now}
}

// clone returns a copy of t.
func (t *tracker) clone() *tracker {
	c := *t
	c.past, c.scores, c.sorted, c.levels = slices.Clone(t.past), slices.Clone(t.scores), slices.Clone(t.sorted), slices.Clone(t.levels)
	for i := range c.levels {
		c.levels[i].pending = slices.Clone(c.levels[i].pending)
	}
	return &c
}

// level returns the level for g. It creates the level at the first request.
func (t *tracker) level(g float64) *level {
	for i := range t.levels {
		if t.levels[i].g == g {
			return &t.levels[i]
		}
	}
	t.levels = append(t.levels, level{g: g, alpha: 1 - g})
	return &t.levels[len(t.levels)-1]
}

// pass moves the tracker to now and makes the forecasts that are due. The price has been p
// since t.at.
func (t *tracker) pass(now float64, p Rate) {
	for t.at < now {
		if t.still >= stillEnough {
			t.skip(now)
			return
		}
		next := t.origin + float64(t.n)*t.step
		until := min(now, max(next, t.at))
		for i := range t.levels {
			t.levels[i].observe(p, until-t.at)
		}
		if t.at = until; next <= until {
			t.forecast(p)
		}
	}
}

// follow moves the tracker to now, when the new price p replaces the old price. It records
// whether the two prices differ.
func (t *tracker) follow(now float64, was, p Rate) {
	if t.pass(now, was); p != was {
		t.still = 0
	}
}

// skip moves the tracker to now without making forecasts, and discards the forecasts that have
// not been scored.
func (t *tracker) skip(now float64) {
	t.at = now
	t.n = max(t.n, int64((now-t.origin)/t.step)+1)
	t.past = t.past[:0]
	for i := range t.levels {
		t.levels[i].pending = t.levels[i].pending[:0]
	}
}

// observe records that the price was p for the given number of seconds.
func (l *level) observe(p Rate, seconds float64) {
	for i := range l.pending {
		if f := &l.pending[i]; p > f.price {
			f.over += seconds
		}
	}
}

// forecast makes the next forecast of each level at the price p. Before that, it adjusts each α
// by the forecast that is one window old, and adds a new score to the distribution.
func (t *tracker) forecast(p Rate) {
	for i := range t.levels {
		if l := &t.levels[i]; len(l.pending) == t.Steps {
			err := min(1, l.pending[0].over/(t.step*float64(t.Steps)))
			l.alpha += t.Gamma * ((1 - l.g) - err)
			l.pending = slices.Delete(l.pending, 0, 1)
		}
	}
	// A forecast applies to a whole window, and not to one point in time. The lag of the
	// scores therefore cycles through all steps of a window.
	if lag := int(t.n)%t.Steps + 1; lag <= len(t.past) {
		t.score(p - t.past[len(t.past)-lag])
	}
	if len(t.past) == t.Steps {
		t.past = slices.Delete(t.past, 0, 1)
	}
	t.past = append(t.past, p)
	for i := range t.levels {
		l := &t.levels[i]
		l.pending = append(l.pending, forecast{price: t.quantile(l.alpha, p)})
	}
	t.n++
	t.still++
}

// score adds a score. If the number of scores has reached its maximum, x replaces the oldest
// one.
func (t *tracker) score(x Rate) {
	if len(t.scores) < t.Scores {
		t.scores = append(t.scores, x)
	} else {
		oldest := &t.scores[t.scored%int64(t.Scores)]
		at, _ := slices.BinarySearch(t.sorted, *oldest)
		t.sorted = slices.Delete(t.sorted, at, at+1)
		*oldest = x
	}
	t.scored++
	at, _ := slices.BinarySearch(t.sorted, x)
	t.sorted = slices.Insert(t.sorted, at, x)
}
