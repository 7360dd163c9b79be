package study

import (
	"math"
	"testing"

	"bourse/contracts"
	"bourse/experiments/metrics"
	"bourse/hosts"
	"bourse/market"
)

// A stage is a fake market with one host whose price the test sets.
type stage struct {
	contracts.View
	price, own market.Rate // own is the bid of contract 7, unless it is 0
	closed     bool        // whether reading the market is an error
	request    contracts.Request
}

func (s *stage) Hosts() contracts.View              { return s }
func (s *stage) Waiting() []int32                   { return nil }
func (s *stage) Request(int32) *contracts.Request   { return &s.request }
func (s *stage) Contract(int32) *contracts.Contract { return &contracts.Contract{Request: s.request} }

func (s *stage) Percentile(hosts.ID, float64) float64 { return 5 }

func (s *stage) Price(hosts.ID) market.Rate {
	if s.closed {
		panic("the market was looked at")
	}
	return s.price
}

func (s *stage) On(hosts.ID) []contracts.Allocation {
	if s.own == 0 {
		return nil
	}
	return []contracts.Allocation{{Bid: s.own}}
}

// An inquirer is a policy that requests a percentile when a request is submitted.
type inquirer struct{ g float64 }

func (inquirer) Next() (float64, bool) { return math.Inf(1), false }

func (p inquirer) Handle(_ float64, e contracts.Event, m contracts.Market) []contracts.Action {
	if e.Kind == contracts.Submitted {
		m.Request(e.Contract)
		m.Hosts().Percentile(0, p.g)
	}
	return nil
}

func watching(p contracts.Policy) *watcher { return &watcher{Policy: p} }

const dollar = market.Rate(1e9)

// TestWatcher checks one promise with values computed by hand: other bids are at most $5/s
// until 10 s. They are 0 for 2 s, 4 for 4 s (in addition to the contract's own bid of 4), and 8
// for the rest. The promise is kept for 6 s of 10. At g = 0.5, the loss is half of 5, 1 and 3.
func TestWatcher(t *testing.T) {
	t.Parallel()
	s := &stage{request: contracts.Request{ID: 7, SLA: contracts.SLA{Deadline: 10}}}
	w := watching(inquirer{0.5})
	tell := func(now float64, kind contracts.EventKind, price, own market.Rate) {
		s.price, s.own, s.closed = price, own, kind == contracts.Over
		w.Handle(now, contracts.Event{Kind: kind}, s)
	}
	tell(0, contracts.Submitted, 0, 0)
	tell(0, contracts.Continue, 0, 0)
	tell(2, contracts.Freed, 8*dollar, 4*dollar)
	tell(6, contracts.Over, 99*dollar, 99*dollar)
	tell(6, contracts.Freed, 12*dollar, 4*dollar)
	tell(20, contracts.Freed, 0, 0)
	if len(w.done) != 1 || len(w.hosts) != 0 {
		t.Fatalf("%d promises are over, %d hosts watched, want 1 and none", len(w.done), len(w.hosts))
	}
	p := &w.done[0]
	if got := p.share(); math.Abs(got-0.6) > 1e-12 {
		t.Errorf("kept for %v of the time, want 0.6", got)
	}
	if got := p.brier(); math.Abs(got-0.25) > 1e-12 {
		t.Errorf("Brier %v, want 0.25", got)
	}
	if got, want := p.pinball(100), (0.5*5*2+0.5*1*4+0.5*3*4)/10; math.Abs(got-want) > 1e-12 {
		t.Errorf("pinball %v, want %v", got, want)
	}
	if w.highest != 12*dollar {
		t.Errorf("highest price %v, want 12", w.highest)
	}
}

// TestWatcherEnd checks that a promise that was not observed to its end counts for the time
// observed.
func TestWatcherEnd(t *testing.T) {
	t.Parallel()
	s := &stage{request: contracts.Request{ID: 7, SLA: contracts.SLA{Deadline: 100}}, price: 9 * dollar}
	w := watching(inquirer{0.9})
	w.Handle(0, contracts.Event{Kind: contracts.Submitted}, s)
	w.Handle(4, contracts.Event{Kind: contracts.Freed}, s)
	tally := newTally(0.9)
	tally.add(w, &metrics.Outcome{})
	p := tally.point(Line{"c", "p", "f"}, nil)
	if p.Price.Promises != 1 || p.Price.Kept != 0 || math.Abs(p.Price.Brier-0.81) > 1e-12 || math.Abs(p.Pinball-0.9*4) > 1e-12 {
		t.Errorf("%+v, want one promise that was not kept at all", p)
	}
	other := newTally(0.8) // the policy requests a percentile other than the one that it promises
	other.add(w, &metrics.Outcome{})
	if p := other.point(Line{"c", "p", "f"}, nil); p.Price.Promises != 0 {
		t.Errorf("%+v, want no promise of price", p)
	}
}

// TestPinball checks the loss of percentiles outside the range of prices. The loss must be that
// of the nearest possible price.
func TestPinball(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ told, want float64 }{
		{2, (0.7*4*1 + 0.3*2*3) / 4}, // a price of 6 for 1 s and of 0 for 3 s
		{-1, 0.7 * 6 * 1 / 4.},
		{1e9, 0.3 * (10*4 - 6) / 4},
	} {
		p := promise{g: 0.7, price: c.told}
		p.stand(6, 1)
		p.stand(0, 3)
		if got := p.pinball(10); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("loss of %v is %v, want %v", c.told, got, c.want)
		}
	}
}

// TestKept checks the fractions and intervals of tallies. If all promises were kept, each
// counts as a trial.
func TestKept(t *testing.T) {
	t.Parallel()
	k := promises{whole: true}
	for range 4 {
		k.add(25, 25, 1)
	}
	// The lower end for 100 of 100 is n/(n+t²), with t = 3.182 for the 3 degrees of freedom
	// of 4 replications.
	if s := k.sum(); s.Promises != 100 || s.Kept != 1 || math.Abs(*s.Lo95-100/(100+3.182446*3.182446)) > 1e-6 || *s.Hi95 != 1 {
		t.Errorf("%+v (from %v to %v), want all of 100 kept", s, *s.Lo95, *s.Hi95)
	}
	k = promises{}
	k.add(10, 5, 2)
	if s := k.sum(); s.Kept != 0.5 || s.Brier != 0.2 || s.Lo95 != nil {
		t.Errorf("%+v, want half kept and no interval of one replication", s)
	}
	k.add(20, 16, 8)
	if s := k.sum(); math.Abs(s.Kept-0.65) > 1e-12 || !(*s.Lo95 < 0.65 && 0.65 < *s.Hi95) {
		t.Errorf("%+v, want 0.65 within an interval", s)
	}
}
