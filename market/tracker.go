package market

import "slices"

// A tracker follows one price for [conformal]: plain data.
type tracker struct {
	ConformalOptions
	step   float64 // s, between forecasts
	origin float64 // instant of the first
	n      int64   // forecasts made
	at     float64 // instant up to which the price has been followed
	still  int     // forecasts made since the price last changed

	past   []Rate // prices when the forecasts of the last window were made, oldest first
	scores []Rate // the latest; score k at k modulo their number
	scored int64  // scores made
	sorted []Rate // the same scores in order of size

	levels []level
}

// A level is a probability that was asked for.
type level struct {
	g, alpha float64
	pending  []forecast // made in the last window, oldest first
}

// A forecast waits to be judged.
type forecast struct {
	price Rate
	over  float64 // s for which the price stood higher
}

// stillEnough forecasts of a price that stands still are enough: no more are made until
// it changes. By default it is a thousand windows.
const stillEnough = 10_000

func newTracker(o ConformalOptions, step, now float64) *tracker {
	return &tracker{ConformalOptions: o, step: step, origin: now, at: now}
}

// level returns the level of g, which begins if it is asked for the first time.
func (t *tracker) level(g float64) *level {
	for i := range t.levels {
		if t.levels[i].g == g {
			return &t.levels[i]
		}
	}
	t.levels = append(t.levels, level{g: g, alpha: 1 - g})
	return &t.levels[len(t.levels)-1]
}

// pass lets time pass until now, at price p since t.at.
func (t *tracker) pass(now float64, p Rate) {
	for t.at < now {
		if t.still >= stillEnough {
			t.rest(now)
			return
		}
		next := t.origin + float64(t.n)*t.step
		until := min(now, max(next, t.at))
		for i := range t.levels {
			t.levels[i].stand(p, until-t.at)
		}
		if t.at = until; next <= until {
			t.foretell(p)
		}
	}
}

// follow lets time pass until now at price was, and then at p.
func (t *tracker) follow(now float64, was, p Rate) {
	if t.pass(now, was); p != was {
		t.still = 0
	}
}

// rest lets time pass until now and foretells nothing: what has not been judged is forgotten.
func (t *tracker) rest(now float64) {
	t.at = now
	t.n = max(t.n, int64((now-t.origin)/t.step)+1)
	t.past = t.past[:0]
	for i := range t.levels {
		t.levels[i].pending = t.levels[i].pending[:0]
	}
}

// stand lets p stand for so many seconds.
func (l *level) stand(p Rate, seconds float64) {
	for i := range l.pending {
		if f := &l.pending[i]; p > f.price {
			f.over += seconds
		}
	}
}

// foretell judges the forecasts that are a window old, enters a score, and makes the next
// forecast of each level, at price p.
func (t *tracker) foretell(p Rate) {
	for i := range t.levels {
		if l := &t.levels[i]; len(l.pending) == t.Steps {
			err := min(1, l.pending[0].over/(t.step*float64(t.Steps)))
			l.alpha += t.Gamma * ((1 - l.g) - err)
			l.pending = slices.Delete(l.pending, 0, 1)
		}
	}
	// The lag of scores goes round all parts of a window, for whose whole length a
	// forecast is to hold.
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

// score enters a score in place of the oldest.
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
