package admission

import (
	"math/big"

	"github.com/shopspring/decimal"

	"bourse/hosts/matchmaking"
	"bourse/hosts/timetable"
)

// pricing is what a cluster asks for a contract: for its nodes and seconds, and for
// the laxity that it takes from what was sold before,
//
//	base n e + kappa max(0, zeta)
//
// zeta scaled as mli scales it. It is exact, so that equal prices are equal: of
// clusters at speeds 1.3 and 0.7, who takes 21 s and who takes 39 s ask the same.
type pricing struct {
	impact      matchmaking.ImpactOptions
	base, kappa *big.Rat
}

func newPricing(o *ReserveOptions) pricing {
	return pricing{o.impact("completion"), decimal.NewFromFloat(o.Base).Rat(), decimal.NewFromFloat(o.Kappa).Rat()}
}

// on reports whether prices are asked at all.
func (p *pricing) on() bool { return p.base.Sign() > 0 || p.kappa.Sign() > 0 }

// of returns the price of q in dollars.
func (p *pricing) of(q *timetable.Quote) *big.Rat {
	zeta := p.impact.Impact(q)
	lost := big.NewRat(max(0, zeta.Num), zeta.Den)
	used := big.NewRat(q.Completion-q.Start, 1)
	used.Mul(used, big.NewRat(int64(q.Job.Nodes), 1))
	return used.Add(used.Mul(used, p.base), lost.Mul(lost, p.kappa))
}

// all returns the sum of the prices of those quotes, in dollars.
func (p *pricing) all(of []matchmaking.Choice) float64 {
	sum := p.of(&of[0].Quote)
	for n := range of[1:] {
		sum.Add(sum, p.of(&of[1+n].Quote))
	}
	ask, _ := sum.Float64()
	return ask
}

// cheapest takes the cluster that asks the lowest price, equals by completion, then
// index. With base 0 it is mli where no zeta is negative: no price is below 0, so it
// does not tell clusters apart whose contracts would gain laxity.
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
