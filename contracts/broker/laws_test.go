package broker

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/hosts"
)

// TestMoneyIsConserved checks 10,000 random contracts with every payment rule, hard and soft
// deadlines, penalties and broken promises. At every step all accounts add up to the amount
// issued, and no account is negative. No escrow is left at the end (spec §8).
func TestMoneyIsConserved(t *testing.T) {
	t.Parallel()
	contractsSeen, violated, fined := 0, 0, 0
	for seed := uint64(0); contractsSeen < 10_000; seed++ {
		m := newTrial(seed, 60)
		var issued bank.Amount
		p := m.play(t, func(p *played) {
			var sum int64
			for name, a := range p.ledger.Balances() {
				sum += a.Micros()
				if a.Sign() < 0 && name != "mint" {
					t.Fatalf("%v: %s holds %v", m, name, a)
				}
			}
			if issued == (bank.Amount{}) {
				issued = p.ledger.Issued()
			}
			if sum != 0 || p.ledger.Issued() != issued {
				t.Fatalf("%v: accounts add up to %d micro-dollars, issued %v of %v", m, sum, p.ledger.Issued(), issued)
			}
		})
		for name, a := range p.ledger.Balances() {
			if strings.HasPrefix(name, "escrow") {
				t.Fatalf("%v: %s is left with %v", m, name, a)
			}
		}
		for i := range p.broker.Ended() {
			c := &p.broker.Ended()[i]
			contractsSeen++
			if c.Outcome.Violated() {
				violated++
			}
			if c.Penalty.Sign() > 0 {
				fined++
			}
			if all := m.asks[c.ID].truth * float64(c.Nodes); c.Outcome == contracts.Fulfilled && c.ByDue != all {
				t.Errorf("%v: contract %d is fulfilled with %v of %v", m, c.ID, c.ByDue, all)
			}
			if c.Paid.Cmp(c.SLA.Budget) > 0 || c.Paid.Sign() < 0 {
				t.Errorf("%v: contract %d paid %v of %v", m, c.ID, c.Paid, c.SLA.Budget)
			}
		}
		if p.broker.Active() != 0 {
			t.Errorf("%v: %d contracts never end", m, p.broker.Active())
		}
	}
	if violated < 500 || fined < 500 {
		t.Errorf("%d contracts were violated and %d fined: too few to tell", violated, fined)
	}
}

// TestSharesOfHosts checks that the tasks on a host get at most its capacity, that no task gets
// more than its limit, and that no capacity is idle that a task could use (spec §1:
// work-conserving). A contract bids nothing if and only if it has spent its budget, and it then
// gets only capacity that bidders cannot use.
func TestSharesOfHosts(t *testing.T) {
	t.Parallel()
	spent, fed := 0, 0
	for seed := range uint64(60) {
		m := newTrial(seed, 60)
		m.play(t, func(p *played) {
			v := view{p.broker}.Hosts()
			for h := range hosts.ID(m.hosts) {
				sum, limits, leftover, wanting := 0.0, 0.0, 0.0, false
				for _, s := range v.On(h) {
					limit := m.spec.CPUs
					if m.spec.Cap > 0 {
						limit = min(limit, m.spec.Cap)
					}
					if l := v.Contract(s.Contract).Needs.Max.CPU; l > 0 {
						limit = min(limit, l)
					}
					if s.Rate > limit*m.spec.Speed*(1+1e-12) || s.Rate <= 0 && s.Bid > 0 {
						t.Fatalf("%v: task gets %v, at most %v CPUs", m, s.Rate, limit)
					}
					switch c := v.Contract(s.Contract); {
					case s.Bid > 0 && owes(v, c) > c.SLA.Budget.Float64()*(1+1e-7):
						t.Fatalf("%v: contract %d bids %v, and owes %v of %v", m, c.ID, s.Bid, owes(v, c), c.SLA.Budget)
					case s.Bid > 0:
						wanting = wanting || s.Rate < limit*m.spec.Speed*(1-1e-12)
					case owes(v, c) < c.SLA.Budget.Float64()*(1-1e-7): // a delay of the smallest time step has this effect
						t.Fatalf("%v: contract %d bids nothing, and owes %v of %v", m, c.ID, owes(v, c), c.SLA.Budget)
					default:
						spent++
						leftover += s.Rate
					}
					sum += s.Rate
					limits += limit
				}
				if wanting && leftover > 0 {
					t.Fatalf("%v: %v of h%d is for those who bid nothing, and another could use it", m, leftover, h)
				}
				if leftover > 0 {
					fed++
				}
				want := min(m.spec.CPUs, limits) * m.spec.Speed
				if math.Abs(sum-want) > 1e-12*want {
					t.Fatalf("%v: h%d gives %v, want %v", m, h, sum, want)
				}
			}
		})
	}
	if spent < 500 || fed < 200 {
		t.Errorf("%d tasks whose money is gone, and %d hosts with something left for them: too few to tell", spent, fed)
	}
}

// owes returns the charges that c has accrued by now.
func owes(v contracts.View, c *contracts.Contract) (sum float64) {
	for _, pl := range c.Placements {
		if sum += pl.Owed; pl.Left {
			continue
		}
		for _, s := range v.On(pl.Host) {
			if v.Contract(s.Contract) == c {
				sum += s.Owed
			}
		}
	}
	return sum
}

// TestCapacityKeepsPromises checks a market in which all requests use cac with the projected
// test. No contract is violated unless its owner understated the work, even if other contracts
// are admitted later (spec §3).
func TestCapacityKeepsPromises(t *testing.T) {
	t.Parallel()
	admitted, shared := 0, 0
	for seed := range uint64(400) {
		m := newTrial(seed, 60)
		m.policy = "cac"
		p := m.play(t, func(p *played) {
			v := view{p.broker}.Hosts()
			for h := range hosts.ID(v.Fleet()) {
				if len(v.On(h)) > 1 {
					shared++
				}
			}
		})
		for i := range p.broker.Ended() {
			c := &p.broker.Ended()[i]
			admitted++
			if truth := m.asks[c.ID].truth; c.Outcome != contracts.Fulfilled && truth <= c.Work {
				t.Errorf("%v: contract %d: %v with %v of %v at %v, due %v", m, c.ID, c.Outcome, c.ByDue, c.Total(), c.Ended, c.Due())
			}
		}
	}
	if admitted < 2000 || shared < 2000 {
		t.Errorf("%d contracts were admitted, and %d times hosts were shared: too few to tell", admitted, shared)
	}
}

// TestPartitionKeepsPromises checks that a partitioned market keeps the promises of
// reservations as a market with only cac does, even if it breaks promises in the spot partition
// (§5).
func TestPartitionKeepsPromises(t *testing.T) {
	t.Parallel()
	reserved, broken := 0, 0
	for seed := range uint64(300) {
		m := newTrial(seed, 60)
		m.policy = "partition"
		for i := range m.asks {
			m.asks[i].Class = []string{"cac", "be", ""}[i%3]
		}
		p := m.play(t, nil)
		for i := range p.broker.Ended() {
			c := &p.broker.Ended()[i]
			switch kept := c.Outcome == contracts.Fulfilled; {
			case c.Class == "cac":
				reserved++
				if truth := m.asks[c.ID].truth; !kept && truth <= c.Work {
					t.Errorf("%v: reservation %d: %v with %v of %v at %v, due %v", m, c.ID, c.Outcome, c.ByDue, c.Total(), c.Ended, c.Due())
				}
			case c.Class == "be" && !kept:
				broken++
			}
		}
	}
	if reserved < 300 || broken < 300 {
		t.Errorf("%d reservations were granted, and %d promises broken on the spot: too few to tell", reserved, broken)
	}
}

// TestBestEffortRefusesNothing checks that be admits every request that has no minimum
// requirement and at most as many nodes as there are hosts (spec §3).
func TestBestEffortRefusesNothing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		m := newTrial(seed, 60)
		m.policy = "be"
		for i := range m.asks {
			m.asks[i].Needs.Min = contracts.Bound{}
		}
		for i, d := range m.play(t, nil).decisions {
			if d.Verdict != contracts.Accept {
				t.Errorf("%v: request %d: %v, %v", m, i, d.Verdict, d.Reason)
			}
		}
	}
}

// TestSameSeedSameBytes checks that a market depends only on its seed, even if its broker was
// reset during another run.
func TestSameSeedSameBytes(t *testing.T) {
	t.Parallel()
	told := func(m *trial, used *Broker) string {
		p := m.open(t)
		if used != nil {
			used.Reset(p.broker.Config)
			p.broker = used
		}
		m.playIn(t, p, nil)
		return fmt.Sprintf("%v\n%v\n%v", p.decisions, p.broker.Ended(), p.broker.Prices().Steps())
	}
	for seed := range uint64(20) {
		m := newTrial(seed, 40)
		want := told(m, nil)
		if told(newTrial(seed, 40), nil) != want {
			t.Errorf("%v: two runs differ", m)
		}
		other := newTrial(seed+1, 40).open(t)
		for i := range 10 {
			r := m.asks[i].Request
			r.Owner, r.Nodes = other.users[0], 1
			if _, err := other.broker.Submit(r.Submit, &r, hosts.Task{Work: 1}); err != nil {
				t.Fatal(err)
			}
		}
		if told(newTrial(seed, 40), other.broker) != want {
			t.Errorf("%v: a broker that was reset runs another market", m)
		}
	}
}
