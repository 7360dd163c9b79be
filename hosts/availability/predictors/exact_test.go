package predictors

import (
	"math/big"

	"bourse/hosts/availability"
)

// An Exact is a [Forecast] in exact fractions, in the order of its fields.
type Exact [4]*big.Rat

// Exact returns the forecast in exact fractions if times and length are whole seconds. It is
// for tests: it allocates memory and is slow.
func (p *TDE) Exact(h *availability.History, now, length float64) Exact {
	days, counts := Exact{}, Exact{}
	for i := range days {
		days[i], counts[i] = new(big.Rat), new(big.Rat)
	}
	n := int64(0)
	for d := 1; d <= p.days; d++ {
		w := p.window(now, length, d)
		rule := p.rule(w, h)
		f := p.counts(h, w, length)
		if total := f.sum(); rule == counted && total.Sign() > 0 {
			counts.add(f)
			days.add(f.over(total))
		} else if rule == counted {
			rule = p.empty
		}
		switch rule {
		case skip:
			continue
		case zero:
			days.add(whole(0, 0, 0, 1))
		case one:
			days.add(whole(1, 0, 0, 0))
		}
		n++
	}
	switch total := counts.sum(); {
	case p.pooled && total.Sign() > 0:
		return counts.over(total)
	case n == 0:
		f := whole(p.noHistory, 0, 0, 0)
		f[3].Sub(big.NewRat(1, 1), f[0])
		return f
	default:
		return days.over(big.NewRat(n, 1))
	}
}

// counts returns the counts in w. Fractions of fits are summed in seconds, which are whole.
func (p *TDE) counts(h *availability.History, w window, length float64) Exact {
	first := h.After(w.from)
	x := w.exits(h.Intervals()[first:])
	if p.rounding != exact {
		fits, _ := p.count(h, w, length, first)
		return whole(fits, x.UserPresent, x.Busy, x.Unavailable)
	}
	f := whole(h.Available(w.from, w.to), x.UserPresent, x.Busy, x.Unavailable)
	f[0].Quo(f[0], new(big.Rat).SetFloat64(p.unit*length))
	return f
}

func whole(x ...float64) (f Exact) {
	for i := range f {
		f[i] = new(big.Rat).SetFloat64(x[i])
	}
	return f
}

func (f Exact) add(g Exact) {
	for i := range f {
		f[i].Add(f[i], g[i])
	}
}

func (f Exact) sum() *big.Rat {
	sum := new(big.Rat)
	for i := range f {
		sum.Add(sum, f[i])
	}
	return sum
}

func (f Exact) over(n *big.Rat) (g Exact) {
	for i := range f {
		g[i] = new(big.Rat).Quo(f[i], n)
	}
	return g
}
