package broker

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"bourse/contracts"
	"bourse/contracts/floor"
	"bourse/hosts"
	"bourse/hosts/availability"
)

// leave gives the hosts of m random availability.
func (m *trial) leave(rule floor.Leaving, charged bool) *trial {
	rng := rand.New(rand.NewPCG(m.seed, 9))
	m.churn = &floor.Availability{Leaving: rule, Charged: charged}
	for range m.hosts {
		var records []availability.Record
		at, state := 0.0, availability.Available
		if rng.IntN(3) == 0 {
			state = availability.Unavailable
		}
		for at < 5000 {
			end := at + 1 + math.Floor(rng.ExpFloat64()*pick(rng, 20.0, 200, 1000))
			records = append(records, availability.Record{Start: at, End: end, State: state})
			at = end
			if state = availability.Available + availability.Unavailable - state; rng.IntN(8) == 0 {
				at += 10 // a time without a record
				state = availability.Available
			}
		}
		past, err := availability.NewHistory("", 1, records, 0)
		if err != nil {
			panic(err)
		}
		m.churn.Histories = append(m.churn.Histories, past)
	}
	return m
}

// TestLeaving checks random markets whose hosts come and go, under every rule. Money is
// conserved at each step. An absent host has no tasks, or its tasks do no work. All work done
// by hosts counts as done or as wasted work of contracts. The work of a fulfilled contract is
// done. Each budget is held once and never exceeded. Contracts that are open when the market
// closes pay nothing.
func TestLeaving(t *testing.T) {
	t.Parallel()
	losses, resent, broken, saved := 0, 0, 0, 0
	for seed := range uint64(450) {
		rule, charged := floor.Leaving(seed%3), seed%2 == 0
		m := newTrial(seed, 50).leave(rule, charged)
		delivered, rate, at := 0.0, 0.0, 0.0
		p := m.play(t, func(p *played) {
			b := p.broker
			delivered += rate * (b.now - at)
			rate, at = 0, b.now
			v := view{b}.Hosts()
			for h := range hosts.ID(v.Fleet()) {
				if v.Unavailable(h) == (func() bool { _, here := m.churn.Histories[h].At(b.now); return !here }()) {
					for _, s := range v.On(h) {
						rate += s.Rate
						if v.Unavailable(h) && (rule != floor.Suspend || s.Rate != 0 || s.Paying != 0) {
							t.Fatalf("%v: h%d is away with %+v on it", m, h, s)
						}
					}
					continue
				}
				t.Fatalf("%v: h%d away: %v at %v", m, h, v.Unavailable(h), b.now)
			}
			if n := len(p.decisions); n > 0 && m.asks[n-1].Submit == b.now {
				for _, pl := range p.decisions[n-1].Placements {
					if _, here := m.churn.Histories[pl.Host].At(b.now); !here {
						t.Fatalf("%v: request %d is put on h%d, which is away", m, n-1, pl.Host)
					}
				}
			}
			var sum int64
			for name, a := range p.ledger.Balances() {
				if sum += a.Micros(); a.Sign() < 0 && name != "mint" {
					t.Fatalf("%v: %s holds %v", m, name, a)
				}
			}
			if sum != 0 {
				t.Fatalf("%v: accounts add up to %d micro-dollars", m, sum)
			}
		})
		if err := p.broker.Close(math.Max(p.broker.now, 6000)); err != nil {
			t.Fatalf("%v: %v", m, err)
		}
		for name, a := range p.ledger.Balances() {
			if strings.HasPrefix(name, "escrow") {
				t.Fatalf("%v: %s is left with %v", m, name, a)
			}
		}
		work := 0.0
		for i := range p.broker.Ended() {
			c := &p.broker.Ended()[i]
			work += c.Done + c.Wasted
			losses += c.Losses
			resent += c.Resent
			if c.Outcome == contracts.Broken {
				broken++
			}
			if c.Losses > 0 && c.Outcome == contracts.Fulfilled {
				saved++
			}
			if all := m.asks[c.ID].truth * float64(c.Nodes); c.Outcome == contracts.Fulfilled && c.ByDue != all {
				t.Errorf("%v: contract %d is fulfilled with %v of %v", m, c.ID, c.ByDue, all)
			}
			if c.Paid.Cmp(c.SLA.Budget) > 0 || c.Paid.Sign() < 0 || c.Outcome == contracts.Unfinished && c.Paid.Sign() != 0 {
				t.Errorf("%v: contract %d, %v, paid %v of %v", m, c.ID, c.Outcome, c.Paid, c.SLA.Budget)
			}
			if rule == floor.Suspend && (c.Losses > 0 || c.Wasted > 0) || c.Resent > 0 && rule != floor.Resubmit {
				t.Errorf("%v: contract %d lost %v", m, c.ID, c.Losses)
			}
			if c.From == contracts.Waiting && c.Outcome != contracts.Unfinished && c.Outcome != contracts.Broken {
				t.Errorf("%v: contract %d waits and is %v", m, c.ID, c.Outcome)
			}
		}
		if !near(work, delivered, 1e-6*(1+delivered)) {
			t.Errorf("%v: hosts worked %v, contracts got %v", m, delivered, work)
		}
		if p.broker.Active() != 0 || !p.broker.Idle() {
			t.Errorf("%v: %d contracts are left", m, p.broker.Active())
		}
	}
	if losses < 500 || resent < 200 || broken < 50 || saved < 50 {
		t.Errorf("%d losses, %d resubmissions, %d broken, %d saved: too few to tell", losses, resent, broken, saved)
	}
}

// TestStaying checks that hosts that never leave give the same results as hosts without a
// history.
func TestStaying(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		want := newTrial(seed, 40).play(t, nil)
		m := newTrial(seed, 40)
		m.churn = &floor.Availability{}
		stays, err := availability.NewHistory("", 1, []availability.Record{{Start: 0, End: 1e9, State: availability.Available}}, 0)
		if err != nil {
			t.Fatal(err)
		}
		for range m.hosts {
			m.churn.Histories = append(m.churn.Histories, stays)
		}
		got := m.play(t, nil)
		if a, b := got.broker.Ended(), want.broker.Ended(); len(a) != len(b) {
			t.Fatalf("%v: %d contracts, want %d", m, len(a), len(b))
		}
		for i, c := range got.broker.Ended() {
			if w := want.broker.Ended()[i]; c.ID != w.ID || c.Ended != w.Ended || c.Paid != w.Paid || c.Outcome != w.Outcome {
				t.Errorf("%v: %+v, want %+v", m, c, w)
			}
		}
	}
}
