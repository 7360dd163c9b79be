package broker

import (
	"math"
	"math/rand/v2"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/hosts"
)

// TestRenew compares renewed bids with values computed by hand, on one processor with spot
// payment. A has $1 for 100 s, and B has the same 20 s later: both bid .01. A pays nothing
// while it is the only bidder, and then both pay .005. At 50 s A has $.85 for 50 s. Then B pays
// .01/.027 × .017, has $1 - .15 - .12593 at 70 s, and 50 s. No renewal takes place at the
// deadline.
func TestRenew(t *testing.T) {
	t.Parallel()
	m := &medley{policy: "be", sharing: "auction", bidding: "cheapest", forecast: "normal", payment: "spot", window: 300, renew: 50}
	m.specs = []hosts.Spec{{Name: "h0", CPUs: 1, Speed: 1}}
	w := m.open(false)
	b := New(w.config)
	ask := func(id contracts.ID, now float64) {
		r := contracts.Request{ID: id, Owner: w.users[id], Submit: now, Nodes: 1, Work: 1000, SLA: contracts.SLA{Deadline: 100, Budget: bank.Micros(1e6)}}
		must(0, b.Advance(now))
		if d := must(b.Submit(now, &r, hosts.Task{Work: 1000})); d.Verdict != contracts.Accept {
			t.Fatalf("%d: %+v", id, d)
		}
	}
	ask(1, 0)
	ask(2, 20)
	last := 0.017 + (1-0.15-20*0.017*0.01/0.027)/50
	for _, c := range []struct{ at, want float64 }{{49, 0.02}, {50, 0.027}, {69, 0.027}, {70, last}, {99, last}} {
		must(0, b.Advance(c.at))
		if got := b.floor.Price(0).Float64(); math.Abs(got-c.want) > 2e-9 {
			t.Errorf("at %v s the price is %v, want %v", c.at, got, c.want)
		}
	}
	if at := b.Next(); at != 100 {
		t.Errorf("the next is at %v, want the deadline at 100", at)
	}
}

// TestRenewedBudget checks, for any requests and payment rules, that the accrued charges plus
// the bids until the deadline never exceed the budget, and equal it after a renewal.
func TestRenewedBudget(t *testing.T) {
	t.Parallel()
	renewed := 0
	for seed := range uint64(150) {
		m := newMedley(seed, 25)
		m.policy, m.options, m.sharing, m.renew = pick(rand.New(rand.NewPCG(seed, 13)), "be", "sac", "cac", "rac"), "", "auction", 40
		m.metered = false // renewed bids do not include usage that remote hosts have not reported yet, but settlement does
		w := m.open(false)
		bids := make(map[int32]float64)
		m.drive(w, New(w.config), func(b *Broker) *Broker {
			spend, rate := make(map[int32]float64), make(map[int32]float64) // by run
			for h := range w.config.Fleet {
				for _, s := range b.floor.On(hosts.ID(h)) {
					spend[s.Contract] += s.Owed + s.Bid.Float64()*(b.floor.Contract(s.Contract).Due()-s.At)
					rate[s.Contract] += s.Bid.Float64()
				}
			}
			for run, x := range spend {
				c := b.floor.Contract(run)
				if c.OnDemand {
					continue
				}
				for _, a := range b.floor.Arrears(run) {
					x += a.Owed
				}
				for _, p := range c.Placements {
					if p.Left {
						x += p.Owed
					}
				}
				budget, rounding := c.SLA.Budget.Float64(), 1.1e-9*float64(c.Nodes)*c.SLA.Deadline
				if x > budget*(1+1e-9)+rounding && b.now < c.Due() {
					t.Fatalf("%v: at %v contract %d would spend $%v of $%v", m, b.now, c.ID, x, budget)
				}
				if rate[run] != bids[run] && b.now > c.Admitted && b.contracts[b.index.byRun[run]].renew == b.now+40 {
					if renewed++; x < budget*(1-1e-9)-rounding && len(b.floor.Arrears(run)) == 0 && c.Losses == 0 {
						t.Fatalf("%v: at %v contract %d bids for $%v of $%v", m, b.now, c.ID, x, budget)
					}
				}
				bids[run] = rate[run]
			}
			return b
		})
	}
	if renewed < 300 {
		t.Errorf("bids were renewed %d times: too few to tell", renewed)
	}
}

// TestMostRenewed checks that a bid beyond the range of a rate is not entered: a large amount
// left for less than a microsecond.
func TestMostRenewed(t *testing.T) {
	t.Parallel()
	m := &medley{policy: "be", sharing: "auction", bidding: "cheapest", forecast: "normal", payment: "spot", window: 300, renew: 100 - 1e-7}
	m.specs = []hosts.Spec{{Name: "h0", CPUs: 1, Speed: 1}}
	w := m.open(false)
	b := New(w.config)
	r := contracts.Request{ID: 1, Owner: w.users[0], Nodes: 1, Work: 1000, SLA: contracts.SLA{Deadline: 100, Budget: bank.Micros(2e6)}}
	must(b.Submit(0, &r, hosts.Task{Work: 1000}))
	must(0, b.Advance(100-1e-8))
	if got := b.floor.Price(0); got != r.NodeRate() || math.IsInf(b.Next(), 1) {
		t.Errorf("it bids %v, want %v", got, r.NodeRate())
	}
}
