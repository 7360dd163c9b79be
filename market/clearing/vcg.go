package clearing

import "bourse/market/packing"

// A vcg accepts the set of bids with the highest total value. Each winner pays the loss that
// its presence causes to the others (Vickrey, Clarke, Groves). The set is optimal if the book
// has at most Exact bids. The mechanism greedy clears larger books, because with VCG payments
// for an approximate solution a bidder could gain by misreporting its value.
type vcg struct {
	greedy
	solver packing.Solver
	items  []packing.Item
	chosen []bool // whether each bid is in the best set found so far
}

// NewVCG returns vcg.
func NewVCG(o BundleOptions) (Mechanism, error) {
	g, err := newGreedyRule(o)
	if err != nil {
		return nil, err
	}
	return &vcg{greedy: *g}, nil
}

// mostValue is an upper bound on the sum of the values. Every sum up to it is exact as a
// float64.
const mostValue = 1 << 53

// Clear implements [Mechanism].
func (v *vcg) Clear(b *Book, r *Result) error {
	r.reset(b)
	v.read(b, b.Capacity)
	if len(v.bids) > v.Exact || !v.solve(b.Capacity, r) {
		err := v.greedy.Clear(b, r)
		r.Approximate = true
		return err
	}
	return nil
}

// solve sets the winners and their payments. It reports whether all solutions are proven to be
// optimal. Among several best sets, solve chooses the one that contains the earliest bid in
// which they differ.
func (v *vcg) solve(capacity int, r *Result) bool {
	v.won, v.chosen = zeroed(v.won, len(v.bids)), zeroed(v.chosen, len(v.bids))
	v.used.copy(&v.room)
	all, ok := v.best(capacity, 0)
	if !ok {
		return false
	}
	for i := range v.bids {
		j := &v.bids[i]
		if v.won[i] = v.chosen[i]; v.won[i] {
			v.used.add(j.first, j.last, j.units)
		} else if v.used.fits(j, capacity) {
			v.won[i] = true
			v.used.add(j.first, j.last, j.units)
			with, ok := v.best(capacity, all)
			if !ok {
				return false
			}
			if with < all {
				v.won[i] = false
				v.used.add(j.first, j.last, -j.units)
			}
		}
		if v.won[i] {
			r.award(j.at, j.units)
		}
	}

	// For each winner in turn, find the best set of the other bids.
	v.chosen = append(v.chosen[:0], v.won...)
	clear(v.won)
	v.used.copy(&v.room)
	for i, won := range v.chosen {
		if j := &v.bids[i]; won {
			gain := j.value - j.least
			j.value = j.least
			others, ok := v.best(capacity, mostValue)
			if !ok {
				return false
			}
			j.value += gain
			r.Pay[j.at] = j.least + others - (all - gain)
		}
	}
	return true
}

// best returns the highest welfare, the sum of value minus reserve price, of any set that
// includes the bids that have already won. Their units are in use. The result proven reports
// whether the welfare is proven to be the highest. If the welfare is at least enough, best
// stores the set in chosen.
func (v *vcg) best(capacity int, enough int64) (welfare int64, proven bool) {
	v.items = v.items[:0]
	large := int64(1) // value assigned to the units in use, which exceeds the value of all bids together
	for i := range v.bids {
		j := &v.bids[i]
		it := packing.Item{Units: j.units, From: v.times[j.first], To: v.times[j.last]}
		if gain := j.value - j.least; v.won[i] {
			welfare += gain
		} else {
			it.Value = float64(gain)
			large += gain
		}
		v.items = append(v.items, it)
	}
	n := len(v.items)
	for at := range max(1, len(v.times)) - 1 {
		used := min(v.used.peak(at, at+1), capacity)
		if last := len(v.items) - 1; last >= n && v.items[last].Units == used && v.items[last].To == v.times[at] {
			v.items[last].To = v.times[at+1]
		} else if used > 0 {
			v.items = append(v.items, packing.Item{Value: float64(large), Units: used, From: v.times[at], To: v.times[at+1]})
		}
	}
	held := int64(len(v.items) - n)
	if large >= mostValue/(held+1) {
		return 0, false
	}
	s := v.solver.Solve(v.items, capacity, packing.Limits{Whole: true})
	welfare += int64(s.Value) - held*large
	if welfare >= enough {
		for i := range v.chosen {
			v.chosen[i] = v.won[i] || s.Chosen[i]
		}
	}
	return welfare, s.Proven
}
