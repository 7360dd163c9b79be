package predictors

import "bourse/hosts/availability"

// A Past speeds up repeated queries about one host at mostly non-decreasing times. It caches
// the position in the history at the same time of day on past days, which is all that most
// queries need.
type Past struct {
	History *availability.History
	at      float64
	days    []cursor // cursors by number of days before the query, from 1
}

// A cursor is the first interval that ends after a given time.
type cursor struct {
	start, end float64
	index      int32 // index in the history; the number of intervals if there is none
}

// see prepares p for queries at now that cover the given number of past days.
func (p *Past) see(now float64, days int) {
	if now >= p.at && len(p.days) >= days {
		p.at = now
		return
	}
	p.at, p.days = now, p.days[:0]
	for d := range days {
		p.days = append(p.days, cursor{})
		p.days[d].move(p.History, p.History.After(now-float64(d+1)*availability.Day))
	}
}

// after returns the first interval that ends after t, which lies d days before the query.
func (p *Past) after(d int, t float64) *cursor {
	c := &p.days[d-1]
	for c.end <= t {
		c.move(p.History, int(c.index)+1)
	}
	return c
}

func (c *cursor) move(h *availability.History, index int) {
	*c = cursor{never, never, int32(index)}
	if all := h.Intervals(); index < len(all) {
		c.start, c.end = all[index].Start, all[index].End
	}
}
