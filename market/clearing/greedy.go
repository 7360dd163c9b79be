package clearing

import (
	"slices"

	"bourse/market"
)

// A greedy considers the bids in descending order of value / size^norm and accepts each one
// that fits. Winners pay their critical values (Lehmann, O'Callaghan, Shoham, "Truth revelation
// in approximately efficient combinatorial auctions", 2002). With this payment, a bidder that
// bids only once gains nothing by misreporting its value.
type greedy struct {
	bundles
	rank      []int // indices in bids
	used, all usage
	rest      usage
	won       []bool // by rank: whether the bid wins
}

// NewGreedy returns greedy.
func NewGreedy(o BundleOptions) (Mechanism, error) { return newGreedyRule(o) }

func newGreedyRule(o BundleOptions) (*greedy, error) {
	reserve, err := market.Dollars(o.Reserve)
	return &greedy{bundles: bundles{BundleOptions: o, reserve: reserve}}, err
}

// Clear implements [Mechanism].
func (g *greedy) Clear(b *Book, r *Result) error {
	r.reset(b)
	g.read(b, b.Capacity)
	g.rank = g.rank[:0]
	g.all.copy(&g.room)
	for i := range g.bids {
		g.rank = append(g.rank, i)
		g.all.add(g.bids[i].first, g.bids[i].last, g.bids[i].units)
	}
	slices.SortStableFunc(g.rank, func(i, j int) int {
		x, y := &g.bids[i], &g.bids[j]
		return g.compare(ratio{y.value, y.size}, ratio{x.value, x.size})
	})

	g.won = zeroed(g.won, len(g.rank))
	g.used.copy(&g.room)
	for at, i := range g.rank {
		if j := &g.bids[i]; g.used.fits(j, b.Capacity) {
			g.used.add(j.first, j.last, j.units)
			g.won[at] = true
			r.award(j.at, j.units)
		}
	}
	slices.Sort(r.Order)

	// Removing a winner does not change which bids before it are accepted, so a second pass
	// recreates the state in which each winner was considered.
	g.used.copy(&g.room)
	for at, i := range g.rank {
		if j := &g.bids[i]; g.won[at] {
			r.Pay[j.at] = max(j.least, g.pays(at, b.Capacity))
			g.used.add(j.first, j.last, j.units)
		}
	}
	return nil
}

// pays returns the critical value of the winner at the given rank: the value below which a bid
// that ranks after it would take its place.
func (g *greedy) pays(at, capacity int) int64 {
	j := &g.bids[g.rank[at]]
	if g.all.peak(j.first, j.last) <= capacity {
		return 0 // no bid needs the winner's units
	}
	g.rest.copy(&g.used)
	for _, i := range g.rank[at+1:] {
		o := &g.bids[i]
		if !g.rest.fits(o, capacity) {
			continue
		}
		g.rest.add(o.first, o.last, o.units)
		if o.first < j.last && j.first < o.last && !g.rest.fits(j, capacity) {
			return g.critical(ratio{o.value, o.size}, j.size)
		}
	}
	return 0
}
