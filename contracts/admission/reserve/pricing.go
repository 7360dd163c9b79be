package reserve

import (
	"math/big"

	"github.com/shopspring/decimal"

	"bourse/hosts/matchmaking"
	"bourse/hosts/timetable"
)

// pricing computes the price that a cluster asks for a contract. It charges for the
// node-seconds used and for the laxity that earlier contracts lose:
//
//	base n e + kappa max(0, zeta)
//
// Here n is the number of nodes, e is the planned runtime in seconds, and zeta is the loss of
// laxity in seconds, scaled as in the matchmaker mli. Laxity is the time by which a contract
// can still be delayed. For example, let base be 0.01 $ and kappa 0.1 $. A contract that uses 4
// nodes for 100 s and costs other contracts 20 s of laxity then costs 4 + 2 = 6 $.
//
// Prices are exact rational numbers, so that equal prices compare as equal. For example, 21 s
// of laxity on a cluster of speed 1.3 and 39 s on a cluster of speed 0.7 both scale to 27.3 s,
// and therefore have the same price.
type pricing struct {
	impact      matchmaking.ImpactOptions
	base, kappa *big.Rat
}

// newPricing returns the pricing with the given options.
func newPricing(o *Options) pricing {
	return pricing{o.impact("completion"), decimal.NewFromFloat(o.Base).Rat(), decimal.NewFromFloat(o.Kappa).Rat()}
}

// on reports whether clusters charge any price.
func (p *pricing) on() bool { return p.base.Sign() > 0 || p.kappa.Sign() > 0 }

// of returns the price of q in dollars.
func (p *pricing) of(q *timetable.Quote) *big.Rat {
	zeta := p.impact.Impact(q)
	lost := big.NewRat(max(0, zeta.Num), zeta.Den)
	used := big.NewRat(q.Completion-q.Start, 1)
	used.Mul(used, big.NewRat(int64(q.Job.Nodes), 1))
	return used.Add(used.Mul(used, p.base), lost.Mul(lost, p.kappa))
}

// all returns the sum of the prices of the quotes, in dollars.
func (p *pricing) all(of []matchmaking.Choice) float64 {
	sum := p.of(&of[0].Quote)
	for n := range of[1:] {
		sum.Add(sum, p.of(&of[1+n].Quote))
	}
	ask, _ := sum.Float64()
	return ask
}

// cheapest chooses the cluster with the lowest price; ties go to the earlier completion, then
// to the lower index. With base 0, it makes the same choices as mli as long as no zeta is
// negative. cheapest cannot distinguish clusters whose contracts would gain laxity, because no
// price is below 0.
type cheapest struct{ pricing }

// Match implements [matchmaking.Matchmaker].
func (c cheapest) Match(now int64, j timetable.Job, window []matchmaking.Seller) (matchmaking.Choice, bool) {
	var best matchmaking.Choice
	var lowest *big.Rat
	for i, s := range window {
		q := s.Quote(now, j)
		if !q.Feasible {
			continue
		}
		// Compare by price, then by completion. The strict comparison prefers the lower index
		// if both are equal.
		price := c.of(&q)
		order := -1
		if lowest != nil {
			order = price.Cmp(lowest)
		}
		if order < 0 || order == 0 && q.Completion < best.Quote.Completion {
			best, lowest = matchmaking.Choice{Seller: i, Quote: q}, price
		}
	}
	return best, lowest != nil
}
