package admission

import (
	"cmp"

	"bourse/hosts/matchmaking"
	"bourse/hosts/timetable"
)

// pricing is what a cluster asks for a contract: for its nodes and seconds, and for
// the laxity that it takes from what was sold before,
//
//	base n e + kappa max(0, zeta)
//
// zeta scaled as mli scales it, speed being 1 at the reference.
type pricing struct{ o ReserveOptions }

// on reports whether prices are asked at all.
func (p pricing) on() bool { return p.o.Base > 0 || p.o.Kappa > 0 }

// zeta returns the laxity in seconds that contracts still to start lose.
func (p pricing) zeta(q *timetable.Quote) int64 {
	if p.o.ZetaScope == "all" {
		return q.ZetaAll
	}
	return q.Zeta
}

// of returns the price of q in dollars.
func (p pricing) of(q *timetable.Quote) float64 {
	zeta, speed := float64(p.zeta(q)), float64(q.Speed)/1000
	switch p.o.ZetaScale {
	case "mul":
		zeta *= speed
	case "div":
		zeta /= speed
	}
	return p.o.Base*float64(q.Job.Nodes)*float64(q.Completion-q.Start) + p.o.Kappa*max(0, zeta)
}

// cheapest takes the cluster that asks the lowest price, equals by completion, then
// index. With base 0 it is mli where no zeta is negative: no price is below 0, so it
// does not tell clusters apart whose contracts would gain laxity.
type cheapest struct{ pricing }

// Match implements [matchmaking.Matchmaker].
func (c cheapest) Match(now int64, j timetable.Job, window []matchmaking.Seller) (matchmaking.Choice, bool) {
	var best matchmaking.Choice
	found := false
	for i, s := range window {
		q := s.Quote(now, j)
		if !q.Feasible {
			continue
		}
		if !found || cmp.Or(cmp.Compare(c.of(&q), c.of(&best.Quote)), cmp.Compare(q.Completion, best.Quote.Completion)) < 0 {
			best, found = matchmaking.Choice{Seller: i, Quote: q}, true
		}
	}
	return best, found
}
