package predictors

import "bourse/hosts/availability"

// A Past is the history of a host for one who asks about it again and again, at instants
// that as a rule do not decrease: it keeps where it was at the same time of day on past
// days, of which most questions need no more.
type Past struct {
	History *availability.History
	at      float64
	days    []cursor // by days ago, from 1 on
}

// A cursor is the first interval that ends after an instant.
type cursor struct {
	start, end float64
	index      int32 // in the history; as many as it has if none does
}

// see readies p for questions of now about that many days.
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

// after returns the first interval that ends after t, which is d days ago.
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
