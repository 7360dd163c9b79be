package study

import (
	"math"

	"bourse/contracts"
	"bourse/experiments/metrics"
	"bourse/experiments/stats"
)

// A tally counts how the promises of one policy with one probability were realized, over
// replications.
type tally struct {
	g      float64
	prices promises
	ends   promises
	other  bool // whether the policy also queries percentiles other than g, so that its price promises are not compared

	pinball []float64    // one value per replication that has price promises
	costs   [3][]float64 // rejections, revenue and efficiency by replication; NaN if undefined
}

// newTally returns an empty tally of promises with probability g.
func newTally(g float64) *tally { return &tally{g: g, ends: promises{whole: true}} }

// A promises contains the results of the promises of one kind.
type promises struct {
	n             int
	whole         bool      // whether each promise is either kept or broken
	share, briers []float64 // one value per replication that has such promises
}

// add adds one replication: the observations of w and the outcomes of the jobs.
func (t *tally) add(w *watcher, o *metrics.Outcome) {
	w.end()
	var share, brier, loss float64
	for i := range w.done {
		p := &w.done[i]
		t.other = t.other || p.g != t.g
		share += p.share()
		brier += p.brier()
		loss += p.pinball(w.highest.Float64())
	}
	if n := len(w.done); n > 0 {
		t.prices.add(n, share, brier)
		t.pinball = append(t.pinball, loss/float64(n))
	}
	fulfilled, verdicts := 0, 0
	for i := range o.Jobs {
		switch end := o.Jobs[i].Contract.Outcome; {
		case end == contracts.Fulfilled:
			fulfilled++
			verdicts++
		case end.Violated():
			verdicts++
		}
	}
	if verdicts > 0 {
		whole := promise{g: t.g, span: float64(verdicts), under: float64(fulfilled)}
		t.ends.add(verdicts, float64(fulfilled), whole.brier()*float64(verdicts))
	}
	for i, m := range []metrics.Metric{metrics.Rejections, metrics.Revenue} {
		x, ok := m.Of(o)
		if !ok {
			x = math.NaN()
		}
		t.costs[i] = append(t.costs[i], x)
	}
	t.costs[2] = append(t.costs[2], metrics.Efficiency(o, 1)...)
}

func (k *promises) add(n int, share, brier float64) {
	k.n += n
	k.share, k.briers = append(k.share, share/float64(n)), append(k.briers, brier/float64(n))
}

// sum returns how the promises were realized.
func (k *promises) sum() kept {
	q := stats.Quantity{Hi: 1, Dependent: !k.whole}
	if k.whole {
		q.Trials = k.n
	}
	s := stats.Summarize(k.share, q)
	sum := kept{Promises: k.n, Kept: s.Mean, Brier: stats.Summarize(k.briers, q).Mean}
	sum.Lo95, sum.Hi95 = ends(s)
	return sum
}

// ends returns the bounds of the interval of s, or nil if there is no interval.
func ends(s stats.Summary) (lo, hi *float64) {
	if s.HasInterval() {
		lo, hi = &s.Lo95, &s.Hi95
	}
	return lo, hi
}

// cost returns the cost of t for each replication. If less is not nil, it subtracts the
// cost of less.
func (t *tally) cost(less *tally) *Cost {
	var means [3]meanValue
	for i := range means {
		xs := defined(t.costs[i])
		if less != nil {
			xs = defined(pairwise(t.costs[i], less.costs[i]))
		}
		s := stats.Summarize(xs, stats.Quantity{})
		means[i].Mean = s.Mean
		means[i].Lo95, means[i].Hi95 = ends(s)
	}
	return &Cost{means[0], means[1], means[2]}
}

// pairwise returns the differences between the elements of xs and ys.
func pairwise(xs, ys []float64) (all []float64) {
	for i := range xs {
		all = append(all, xs[i]-ys[i])
	}
	return all
}

// point returns the point in the diagram that represents t. If less is not nil, it must be
// the tally of another policy on the same jobs.
func (t *tally) point(at Line, less *tally) Point {
	if t.other {
		t.prices, t.pinball = promises{}, nil
	}
	p := Point{
		Line: at, G: t.g, Price: t.prices.sum(), Pinball: stats.Summarize(t.pinball, stats.Quantity{}).Mean,
		Contract: t.ends.sum(), Cost: *t.cost(nil),
	}
	if less != nil && less != t {
		p.Less = t.cost(less)
	}
	return p
}
