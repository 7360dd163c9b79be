package predictors

import (
	"math/big"

	"bourse/hosts/availability"
)

// An Exact is a [Forecast] in exact fractions, in the order of its fields.
type Exact [4]*big.Rat

// Exact returns the forecast in exact fractions, given that instants and length
// are whole seconds. It is for checks: it allocates, and takes its time.
func (p *TDE) Exact(h *availability.History, now, length float64) Exact {
	days, counts := Exact{}, Exact{}
	for i := range days {
		days[i], counts[i] = new(big.Rat), new(big.Rat)
	}
	n := int64(0)
	for d := 1; d <= p.days; d++ {
		t := p.day(h, now, length, d)
		var f Exact
		switch t.rule {
		case skip:
			continue
		case zero:
			f = whole(0, 0, 0, 1)
		case one:
			f = whole(1, 0, 0, 0)
		case counted:
			f = whole(t.fits, t.exits[availability.UserPresent], t.exits[availability.Busy], t.exits[availability.Unavailable])
			if p.round == nil {
				unit := new(big.Rat).SetFloat64(p.unit * length)
				f[0].Quo(f[0], unit)
			}
			counts.add(f)
			f = f.over(f.sum())
		}
		days.add(f)
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
