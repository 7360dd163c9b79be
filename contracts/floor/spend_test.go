package floor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/market"
)

// spending returns the floor of c, in which charges use up budgets.
func spending(c Config) *Floor {
	c.Spends = true
	return open(c)
}

// rich returns a request with the given budget in dollars, whose nodes share one total of work
// and continue after the deadline.
func rich(id contracts.ID, nodes int, deadline, dollars float64) *contracts.Request {
	r := request(id, nodes, false)
	r.SLA = contracts.SLA{Deadline: deadline, Budget: must(bank.Dollars(dollars)), RunsOn: true}
	return r
}

// atOthers charges the share of the host at the sum of the other bids (spot).
func atOthers(on []contracts.Allocation, prices Prices, capacity, _ float64) {
	for i := range on {
		s := &on[i]
		s.Paying = min(s.Bid.Float64(), s.Rate/capacity*(prices[hosts.CPU]-s.Bid).Float64())
	}
}

// rates returns the rate of every task on h.
func rates(f *Floor, h hosts.ID) (text string) {
	f.Next()
	for _, s := range f.On(h) {
		text += fmt.Sprintf("%.6g ", s.Rate)
	}
	return text
}

// TestSpent checks the time at which a run on two hosts has spent its money, counting the
// charges on both, when the price of either changes. Afterwards the run has no weight: the
// bidder gets all the capacity that it can use, prices exclude the run, and the run gets the
// rest.
func TestSpent(t *testing.T) {
	t.Parallel()
	f := spending(hostConfig(auction, 1, 1))
	place(t, f, 0, rich(1, 2, 10, 25), 100, on(0, 1)) // 2 per second: 20 by the deadline, and 25 by 12.5
	place(t, f, 0, rich(2, 1, 100, 1000), 30, on(0))
	check(t, "at its bids", play(f, 12.5), "12.5 spent 0")
	check(t, "both", rates(f, 0), "0 1 ")
	check(t, "alone", rates(f, 1), "1 ")
	check(t, "prices", fmt.Sprint(f.Price(0), f.Price(1)), "1 0")
	check(t, "what was bid", f.Contract(0).Placements[0].Bid, dollar)
	place(t, f, 12.5, rich(3, 1, 1, 1), 100, on(1)) // this run has no money left at 13.5
	check(t, "until another's money is gone", play(f, 13.5), "13.5 spent 2")
	check(t, "equal parts", rates(f, 1), "0.5 0.5 ")

	c := hostConfig(auction, 1, 1)
	c.Tariff = atOthers
	f = spending(c)
	place(t, f, 0, rich(1, 2, 1, 4), 1e3, on(0, 1)) // bids 2 per second: checked from 2 on; as the only bidder it pays nothing
	check(t, "nothing is due", play(f, 9), "")
	place(t, f, 10, rich(2, 1, 1e6, 1e6), 1e3, on(0)) // the first run pays half a dollar per second, and 4 dollars by 18
	check(t, "on one host", play(f, 13), "")
	place(t, f, 14, rich(3, 1, 1e6, 1e6), 1e3, on(1)) // the first run pays twice as much: its last 2 dollars are spent by 16
	check(t, "on both", play(f, 20), "16 spent 0")
	check(t, "nothing is left", rates(f, 0)+rates(f, 1), "0 1 0 1 ")
	f.Remove(20, 1)
	check(t, "a host of its own again", rates(f, 0)+rates(f, 1), "1 0 1 ")
}

// TestSpentLimits checks that runs without money share the unused capacity equally, each up to
// its limit.
func TestSpentLimits(t *testing.T) {
	t.Parallel()
	c := hostConfig(auction, 1)
	f := spending(c)
	for id, most := range []float64{0.1, 0, 0} {
		r := rich(contracts.ID(id), 1, 1, 1)
		r.Needs.Max.CPU = most
		place(t, f, 0, r, 1e3, on(0))
	}
	payer := rich(9, 1, 1e6, 1e6)
	payer.Needs.Max.CPU = 0.3
	place(t, f, 0, payer, 1e3, on(0))
	check(t, "three", play(f, 1), "1 spent 0, 1 spent 1, 1 spent 2")
	check(t, "what they get", rates(f, 0), "0.1 0.3 0.3 0.3 ")
}

// TestSpentAtDeadline checks that a contract whose money must last until its deadline keeps its
// weight until then, for any rounding of its bids and times, even if it renews its bids.
func TestSpentAtDeadline(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 44))
		nodes := 1 + rng.IntN(5)
		c := hostConfig(auction, []float64{1, 1, 1, 1, 1}[:nodes]...)
		f := spending(c)
		r := rich(1, nodes, math.Exp(rng.Float64()*15), math.Exp(rng.Float64()*12-4))
		if rng.IntN(2) == 0 {
			r.SLA.Deadline = math.Ceil(r.SLA.Deadline)
		}
		r.Submit = float64(rng.IntN(2)*rng.IntN(1e8)) + rng.Float64()*float64(rng.IntN(2))
		bid := r.NodeRate()
		var where []contracts.Placement
		for h := range nodes {
			where = append(where, contracts.Placement{Host: hosts.ID(h), Bid: bid})
		}
		if bid == 0 {
			continue
		}
		f.MoveTo(r.Submit)
		i := place(t, f, r.Submit, r, math.Inf(1), where)
		if span := r.Due() - r.Submit; rng.IntN(2) == 0 {
			at := r.Submit + span*rng.Float64()
			if what := play(f, at); what != "" {
				t.Fatalf("seed %d: %s by %v, due at %v", seed, what, at, r.Due())
			}
			f.Renew(at, i, r.SLA.Budget.Float64(), r.Due())
		}
		at := f.Next()
		if at < r.Due() {
			t.Fatalf("seed %d: looked at at %v, before its deadline at %v", seed, at, r.Due())
		}
		for len(f.Advance(at)) == 0 {
			at = f.Next()
		}
		left := r.SLA.Budget.Float64() - bid.Float64()*float64(nodes)*r.SLA.Deadline
		if most := left/bid.Float64()/float64(nodes) + 1e-6*r.SLA.Deadline + 16*contracts.Moment(at); at > r.Due()+most*1.01 {
			t.Fatalf("seed %d: out of money at %v, due at %v", seed, at, r.Due())
		}
		check(t, fmt.Sprintf("seed %d: price", seed), f.Price(0), 0)
	}
}

// TestSpentAgain checks a run whose hosts leave. When it is placed again, it bids its remaining
// money, or nothing if the charges for lost work have used up its budget. If lost work is not
// charged, it has money again and regains its weight.
func TestSpentAgain(t *testing.T) {
	t.Parallel()
	for _, charged := range []bool{true, false} {
		c := hostConfig(auction, 1, 1)
		c.Availability = &Availability{Leaving: Resubmit, Charged: charged}
		f := spending(c)
		i := place(t, f, 0, rich(1, 1, 1, 10), 1e3, on(0))
		check(t, "spent", play(f, 12), "10 spent 0")
		f.Gone(12, 0)
		if err := f.PlaceAgain(13, i, on(1)); err != nil {
			t.Fatal(err)
		}
		want, after := "13 spent 0", market.Rate(0)
		if !charged {
			want, after = "", dollar
		}
		check(t, fmt.Sprint("again, charged: ", charged), play(f, 20), want)
		check(t, "price", f.Price(1), after)

		c = hostConfig(auction, 1, 1)
		c.Availability = &Availability{Leaving: Lose, Charged: charged}
		f = spending(c)
		place(t, f, 0, rich(1, 2, 1, 10), 1e3, on(0, 1))
		check(t, "spent on two", play(f, 6), "5 spent 0")
		f.Gone(6, 0)
		f.Next()
		check(t, fmt.Sprint("one is lost, charged: ", charged), f.Price(1), after)
		want = ""
		if !charged {
			want = "11 spent 0" // 5 dollars
		}
		check(t, "the other's", play(f, 20), want)
	}
}

// TestSpentNot checks that a contract keeps its weight if its charges are not paid from its
// budget, or if its share does not depend on its bid.
func TestSpentNot(t *testing.T) {
	t.Parallel()
	f := open(hostConfig(auction, 1))
	place(t, f, 0, rich(1, 1, 1, 1), 10, on(0))
	check(t, "nothing is charged", play(f, 20), "10 done 0")
	c := hostConfig(must(sharing.Table().New("exclusive", func(any) error { return nil })), 1)
	f = spending(c)
	place(t, f, 0, rich(1, 1, 1, 1), 10, on(0))
	check(t, "exclusive", play(f, 20), "10 done 0")
}
