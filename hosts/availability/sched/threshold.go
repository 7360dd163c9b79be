package sched

import (
	"bourse/hosts"
	"bourse/hosts/availability/predictors"
	"bourse/workloadgen/config"
	"bourse/workloadgen/plugin"
)

// ThresholdOptions are the options of "threshold".
type ThresholdOptions struct {
	// Threshold is T, the minimum reliability of a host: in [0,1], default 0.5. A threshold of
	// 0 accepts every host without a forecast.
	Threshold float64 `yaml:"threshold" validate:"min=0,max=1" doc:"T, the minimum reliability of a host; 0 accepts every host"`

	// Order is the order in which idle hosts are examined. With "fifo" (the default), it is the
	// order in which they became idle, which at low thresholds is round-robin, as in the paper.
	// With "index", it is the order of index. With "rotate", it is the order of index, starting
	// after the last chosen host.
	Order string `yaml:"idle_order" validate:"oneof=fifo index rotate" doc:"order in which idle hosts are examined: fifo (as they became idle), index or rotate"`

	// Predictor predicts reliability; default tde.
	Predictor config.Spec `yaml:"predictor" doc:"predictor of reliability"`
}

// Threshold examines idle hosts one at a time and chooses the first whose probability of
// completing the job is at least the threshold. This is the paper's algorithm (§4).
type Threshold struct {
	least     float64
	order     string
	predictor predictors.Predictor
	judge     predictors.Judge // predictor, if it implements Judge; nil if it does not
	limits    *limits          // nil if the predictor is not a limiter
	last      hosts.ID         // the host chosen last
}

// slack is the tolerance for forecasts that equal the threshold as fractions but differ as
// floats.
const slack = 1e-9

func newThreshold(decode plugin.Decoder) (Matchmaker, error) {
	o := ThresholdOptions{Threshold: 0.5, Order: "fifo", Predictor: config.Spec{Name: "tde"}}
	if err := decode(&o); err != nil {
		return nil, err
	}
	p, err := predictors.Table().New(o.Predictor.Name, o.Predictor.Decode)
	if err != nil {
		return nil, err
	}
	return NewThreshold(o.Threshold, o.Order, p)
}

// NewThreshold creates the matchmaker. The error names the invalid option.
func NewThreshold(threshold float64, order string, p predictors.Predictor) (*Threshold, error) {
	if err := config.Check(&ThresholdOptions{Threshold: threshold, Order: order}); err != nil {
		return nil, err
	}
	t := &Threshold{least: threshold, order: order, predictor: p, last: None}
	t.judge, _ = p.(predictors.Judge)
	if l, ok := p.(predictors.Limiter); ok && threshold > 0 {
		t.limits = newLimits(l, threshold-slack)
	}
	return t, nil
}

// Match implements [Matchmaker].
func (t *Threshold) Match(now, length float64, p *Pool) hosts.ID {
	if t.limits == nil || p.speeds {
		return t.first(now, length, p)
	}
	if t.limits.exclude(now, length, p) {
		return None
	}
	h := t.first(now, length, p)
	if h == None {
		t.limits.refused(now, p)
	}
	return h
}

// first returns the first sufficiently reliable idle host.
func (t *Threshold) first(now, length float64, p *Pool) hosts.ID {
	if t.order == "fifo" {
		for h := p.firstIdle(); h != None; h = p.nextIdle(h) {
			if t.reliable(now, length, p, h) {
				return h
			}
		}
		return None
	}
	h, n := hosts.ID(0), hosts.ID(p.Len())
	if t.order == "rotate" {
		h = (t.last + 1) % n
	}
	for range n {
		if p.isIdle(h) && t.reliable(now, length, p, h) {
			t.last = h
			return h
		}
		if h++; h == n {
			h = 0
		}
	}
	return None
}

func (t *Threshold) reliable(now, length float64, p *Pool, h hosts.ID) bool {
	length /= p.Speed(h)
	switch {
	case t.least == 0:
		return true
	case t.limits != nil && !p.speeds && t.limits.excludes(now, length, p, h):
		return false
	case t.judge != nil:
		return t.judge.AtLeast(&p.pasts[h], now, length, t.least-slack)
	}
	return t.predictor.Predict(p.History(h), now, length).Completes >= t.least-slack
}

// Piles implements [Matchmaker].
func (*Threshold) Piles() bool { return false }
