package calibrate

import (
	"math"
	"slices"

	"bourse/contracts"
	"bourse/experiments/metrics"
	"bourse/experiments/stats"
)

// A Tally collects what replications have kept of what one policy promised with one
// probability.
type Tally struct {
	g      float64
	prices kept
	ends   kept
	other  bool // it asked for other percentiles than that of g: it promises no price

	pinball                         []float64 // by replication that has promises of price
	rejections, revenue, efficiency []float64 // by replication; NaN is undefined
}

// NewTally returns an empty tally of promises that hold with probability g.
func NewTally(g float64) *Tally { return &Tally{g: g, ends: kept{whole: true}} }

// kept are promises of one kind.
type kept struct {
	n             int
	whole         bool      // each is kept or not
	share, briers []float64 // by replication that has any
}

// Add enters a replication: what w saw, and what became of its jobs.
func (t *Tally) Add(w *Watcher, o *metrics.Outcome) {
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
	number := func(to *[]float64, x float64, ok bool) {
		if !ok {
			x = math.NaN()
		}
		*to = append(*to, x)
	}
	x, ok := metrics.Rejections.Of(o)
	number(&t.rejections, x, ok)
	x, ok = metrics.Revenue.Of(o)
	number(&t.revenue, x, ok)
	t.efficiency = append(t.efficiency, metrics.Efficiency(o, 1)...)
}

func (k *kept) add(n int, share, brier float64) {
	k.n += n
	k.share, k.briers = append(k.share, share/float64(n)), append(k.briers, brier/float64(n))
}

// A Kept is what was kept of promises that hold with probability g.
type Kept struct {
	Promises int      `json:"promises" doc:"how many, over all replications"`
	Kept     float64  `json:"kept" doc:"mean over replications of the share that was kept; 0 without promises"`
	Lo95     *float64 `json:"lo95" doc:"lower end of its 95 % interval, the score interval of clustered trials; null of fewer than two replications"`
	Hi95     *float64 `json:"hi95"`
	Brier    float64  `json:"brier" doc:"mean over replications of the mean of (g - kept)²; less is better"`
}

func (k *kept) sum() Kept {
	q := stats.Quantity{Hi: 1, Dependent: !k.whole}
	if k.whole {
		q.Trials = k.n
	}
	s := stats.Summarize(k.share, q)
	sum := Kept{Promises: k.n, Kept: s.Mean, Brier: stats.Summarize(k.briers, q).Mean}
	if s.HasInterval() {
		sum.Lo95, sum.Hi95 = &s.Lo95, &s.Hi95
	}
	return sum
}

// A Mean is over replications, with Student's 95 % interval.
type Mean struct {
	Mean float64  `json:"mean"`
	Lo95 *float64 `json:"lo95" doc:"null of fewer than two replications, or where all are equal"`
	Hi95 *float64 `json:"hi95"`
}

// mean returns that of xs that are defined.
func mean(xs []float64) Mean {
	s := stats.Summarize(slices.DeleteFunc(slices.Clone(xs), math.IsNaN), stats.Quantity{})
	m := Mean{Mean: s.Mean}
	if s.HasInterval() {
		m.Lo95, m.Hi95 = &s.Lo95, &s.Hi95
	}
	return m
}

// A Cost is what came of the jobs beside promises, each a mean over replications.
type Cost struct {
	Rejections Mean `json:"rejections" doc:"share of the jobs"`
	Revenue    Mean `json:"revenue" doc:"$"`
	Efficiency Mean `json:"efficiency" doc:"of inelastic users (eq. 9, alpha 1)"`
}

// cost returns what t cost, or what it did less another, replication by replication.
func (t *Tally) cost(less *Tally) Cost {
	of := func(xs func(*Tally) []float64) Mean {
		all := slices.Clone(xs(t))
		for i := range all {
			if less != nil {
				all[i] -= xs(less)[i]
			}
		}
		return mean(all)
	}
	return Cost{
		of(func(t *Tally) []float64 { return t.rejections }), of(func(t *Tally) []float64 { return t.revenue }),
		of(func(t *Tally) []float64 { return t.efficiency }),
	}
}

// Point returns the point of the diagram that t is; less, unless it is nil, is of another
// policy on the same jobs.
func (t *Tally) Point(configuration, policy, forecaster string, less *Tally) Point {
	if t.other {
		t.prices, t.pinball = kept{}, nil
	}
	p := Point{
		Configuration: configuration, Policy: policy, Forecaster: forecaster, G: t.g,
		Price: t.prices.sum(), Pinball: stats.Summarize(t.pinball, stats.Quantity{}).Mean, Contract: t.ends.sum(), Cost: t.cost(nil),
	}
	if less != nil && less != t {
		p.Less = new(t.cost(less))
	}
	return p
}
