package broker

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/contracts/floor"
	"bourse/contracts/policies"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/remote"
	"bourse/market/forecast"
)

// TestElsewhere checks that metered hosts that obey and report at once give the same results
// as simulated hosts: the same contracts, ends, work and payments, within rounding. One market
// in a hundred may differ, because deadlines at the same time can be processed in another
// order.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	same, parted := 0, 0
	for seed := range uint64(600) {
		here, there := newMedley(seed, 25), newMedley(seed, 25)
		for _, m := range []*medley{here, there} {
			m.metered, m.prompt, m.churn, m.end, m.cancels = m == there, true, nil, math.Inf(1), nil
			for i := range m.asks {
				m.asks[i].PerHost = true // the market knows only from a report that all work is done
			}
		}
		if policies.Of(here.policy).Books || here.policy == "queue" {
			continue
		}
		_, a := here.run(nil)
		_, b := there.run(nil)
		if where := apart(a.Ended(), b.Ended()); where != "" {
			t.Logf("%v: %s", here, where)
			parted++
		} else {
			same++
		}
	}
	if same < 300 || parted > same/100 {
		t.Errorf("%d markets come to the same, %d do not", same, parted)
	}
}

// apart returns the first contract on which the two markets differ.
func apart(here, there []contracts.Settled) string {
	if len(here) != len(there) {
		return fmt.Sprintf("%d contracts, elsewhere %d", len(here), len(there))
	}
	all := make(map[contracts.ID]*contracts.Settled)
	for i := range there {
		all[there[i].ID] = &there[i]
	}
	for i := range here {
		x := &here[i]
		y := all[x.ID]
		if y == nil || x.Outcome != y.Outcome || math.Abs(x.Ended-y.Ended) > 1e-6*x.Ended || off(x.Done, y.Done) || dear(x.Paid, y.Paid) || dear(x.Penalty, y.Penalty) {
			return fmt.Sprintf("contract %d: %+v; elsewhere %+v", x.ID, *x, y)
		}
	}
	return ""
}

// off reports whether work differs by more than rounding.
func off(x, y float64) bool { return math.Abs(x-y) > 1e-6*max(1, x) }

// dear reports whether amounts differ by more than rounding.
func dear(x, y bank.Amount) bool {
	return math.Abs(float64(x.Micros()-y.Micros())) > 2+1e-6*float64(x.Micros())
}

// far is a market of programs on remote hosts with one processor of speed 1 each.
type far struct {
	*Broker
	t     *testing.T
	hosts []*remote.Machine
	owner bank.Account
	books *bank.Ledger
	spans []int64 // number of spans reported so far, by host
	used  map[int64]float64
}

func newFar(t *testing.T, n int, leaving floor.Leaving, payment string) *far {
	books := bank.New(nil)
	f := &far{t: t, books: books, owner: must(books.Account("user:ann")), used: map[int64]float64{}}
	must(0, books.Mint(0, f.owner, bank.Micros(1e9)))
	must(0, books.Mint(0, must(books.Account("provider")), bank.Micros(1e9)))
	c := Config{
		Provider: must(books.Account("provider")), Window: 10, Teller: books, Ties: rand.New(rand.NewPCG(1, 1)), Spans: Spans{Patience: 5},
		Payment: must(Payments().New(payment, nil)), Forecast: must(forecast.Table().New("chebyshev", nil)),
		Policy:  must(policies.Table(must(bidding.Table(nil).New("cheapest", noOptions)), nil).New("be", noOptions)),
		Sharing: must(sharing.Table().New("auction", noOptions)), Availability: &floor.Availability{Leaving: leaving},
	}
	f.Broker = New(c)
	for h := range n {
		f.join(0, h)
	}
	return f
}

// join adds host h.
func (f *far) join(now float64, h int) {
	m := remote.New(hosts.Spec{Name: fmt.Sprintf("h%d", h), CPUs: 1, Speed: 1})
	m.Hear(now, &remote.Told{Session: 1, First: 1})
	f.hosts, f.spans = append(f.hosts, m), append(f.spans, 0)
	must(0, f.Join(now, m, must(f.books.Account(fmt.Sprintf("host:h%d", h)))))
}

// run submits a program that requests the given work by its deadline on each of n hosts.
func (f *far) run(now float64, id contracts.ID, n int, work, deadline float64) {
	r := contracts.Request{ID: id, Owner: f.owner, Submit: now, Nodes: n, Work: work, PerHost: true}
	r.SLA = contracts.SLA{Deadline: deadline, Budget: bank.Micros(1e6), Penalty: contracts.Penalty{Rate: 0.01, Max: math.Inf(1)}}
	if d := must(f.Submit(now, &r, hosts.Task{Work: math.Inf(1)})); d.Verdict != contracts.Accept {
		f.t.Fatalf("%d: %+v", id, d)
	}
}

// tell makes host h report that all wanted tasks have run for the given time up to now, and the
// end of the first task.
func (f *far) tell(now float64, h int, length float64, ends ...remote.End) {
	m := f.hosts[h]
	f.Next() // allocate shares to the tasks that are wanted now
	o := m.Orders(now, nil)
	s := remote.Span{Deal: o.Deal, Length: length}
	key := func(name int64) int64 { return int64(h)<<32 + name }
	for i, w := range o.Wanted {
		f.used[key(w.Name)] += length / float64(len(o.Wanted))
		s.Used = append(s.Used, remote.Used{Name: w.Name, Seconds: f.used[key(w.Name)]})
		if i < len(ends) {
			ends[i].Name = w.Name
		}
	}
	f.spans[h]++
	must(0, f.Advance(now))
	m.Hear(now, &remote.Told{Session: 1, First: f.spans[h], Spans: []remote.Span{s}, Ends: ends})
	f.Read(now, hosts.ID(h))
	must(0, f.Advance(now))
}

// ended checks the outcome and the payment of the only contract that has ended.
func (f *far) ended(what string, outcome contracts.Outcome, done float64, paid int64) {
	f.t.Helper()
	all := f.Ended()
	if len(all) != 1 {
		f.t.Fatalf("%s: %d contracts have ended", what, len(all))
	}
	if e := &all[0]; e.Outcome != outcome || math.Abs(e.Done-done) > 1e-9 || e.Paid.Micros() != paid {
		f.t.Errorf("%s: %v with %v done, paid %v; want %v, %v, %v", what, e.Outcome, e.Done, e.Paid, outcome, done, bank.Micros(paid))
	}
}

// TestPrograms checks the outcomes of programs, whose work is unknown. A program that ends
// successfully by itself, or that received the requested work, counts as fulfilled. The time of
// the end is the time that the host reports, and the broker waits for the report at most as
// long as configured.
func TestPrograms(t *testing.T) {
	t.Parallel()
	exit := func(code uint8) remote.End {
		if code > 0 {
			return remote.End{Why: hosts.Failed, Code: code}
		}
		return remote.End{Why: hosts.Exited}
	}
	for name, c := range map[string]struct {
		work    float64
		spans   []float64
		end     remote.End
		late    float64 // delay of the report of the end
		outcome contracts.Outcome
		done    float64
		paid    int64
	}{
		"it comes to its end":               {60, []float64{20}, exit(0), 0, contracts.Fulfilled, 20, 200_000},
		"and needed more than was asked":    {60, []float64{40, 40}, exit(0), 0, contracts.Fulfilled, 80, 800_000},
		"it fails":                          {60, []float64{20}, exit(1), 0, contracts.Late, 20, 200_000},
		"with what it was promised":         {60, []float64{60}, exit(1), 0, contracts.Fulfilled, 60, 600_000},
		"it is stopped at its deadline":     {60, []float64{50, 50}, remote.End{Why: hosts.Expired}, 0, contracts.Fulfilled, 100, 1_000_000},
		"which is told later":               {60, []float64{50, 50}, remote.End{Why: hosts.Expired}, 4, contracts.Fulfilled, 100, 1_000_000},
		"with less than it was promised":    {99, []float64{50, 40}, remote.End{Why: hosts.Expired}, 10, contracts.Late, 90, 900_000},
		"it exits, which is told too late":  {60, []float64{50}, exit(0), 57, contracts.Late, 0, 0},
		"it exits, which is told late":      {60, []float64{50, 49}, exit(0), 5, contracts.Fulfilled, 99, 990_000},
		"it cannot be started":              {60, []float64{1}, remote.End{Why: hosts.Failed}, 0, contracts.Late, 1, 10_000},
		"it is killed for what it has used": {60, []float64{1}, remote.End{Why: hosts.Killed}, 0, contracts.Late, 1, 10_000},
	} {
		f := newFar(t, 1, floor.Lose, "bid")
		f.run(0, 7, 1, c.work, 100)
		now := 0.0
		for i, span := range c.spans {
			if now += span; i < len(c.spans)-1 {
				f.tell(now, 0, span)
				continue
			}
			if must(0, f.Advance(now+c.late)); len(f.Ended()) == 0 {
				f.tell(now+c.late, 0, span, c.end)
			}
		}
		f.ended(name, c.outcome, c.done, c.paid)
	}
}

// TestFault checks that a program that cannot be started on one of its hosts breaks the promise
// without a fault of the provider, who owes nothing. Nothing is paid for that host, even for
// usage before the fault was detected, and other hosts are paid as usual.
func TestFault(t *testing.T) {
	t.Parallel()
	f := newFar(t, 3, floor.Lose, "bid")
	f.run(0, 7, 2, 60, 100)
	for h := range f.hosts {
		f.tell(10, h, 10)
	}
	on := [3]bool{}
	for _, pl := range f.View().Contract(0).Placements {
		on[pl.Host] = true
	}
	for h, on := range on {
		if err := f.Fault(10, 8, hosts.ID(h)); !errors.Is(err, ErrNoContract) {
			t.Errorf("of another contract: %v", err)
		}
		if err := f.Fault(10, 7, hosts.ID(h)); !on != errors.Is(err, ErrNoContract) {
			t.Errorf("on host %d, where it runs is %v: %v", h, on, err)
		}
		if len(f.Ended()) > 0 {
			break
		}
	}
	f.ended("it cannot be started", contracts.Unstarted, 20, 50_000)
	if e := &f.Ended()[0]; e.Outcome.State() != "violated" || e.Penalty.Sign() != 0 || e.Delay != 0 {
		t.Errorf("%s, %v s late, a penalty of %v", e.Outcome.State(), e.Delay, e.Penalty)
	}
	if err := f.Fault(10, 7, 0); !errors.Is(err, ErrNoContract) {
		t.Errorf("once more: %v", err)
	}
}

// TestLostPrograms checks that a task unknown to its host counts as lost, as if the host had
// left, and that hosts arrive, leave and join on request.
func TestLostPrograms(t *testing.T) {
	t.Parallel()
	f := newFar(t, 2, floor.Lose, "bid")
	f.run(0, 7, 2, 60, 100)
	f.tell(10, 0, 10)
	f.tell(10, 1, 10, remote.End{Why: hosts.Lost})
	f.ended("lost", contracts.Broken, 10, 50_000)

	f = newFar(t, 1, floor.Resubmit, "bid")
	wanted := func(h int) []remote.Wanted {
		f.Next()
		return f.hosts[h].Orders(40, nil).Wanted
	}
	f.run(0, 7, 1, 60, 100)
	f.tell(10, 0, 10, remote.End{Why: hosts.Lost})
	if w := wanted(0); len(w) != 1 || w[0].Name != 2 {
		t.Errorf("wanted after a loss: %+v", w)
	}
	f.join(20, 1)
	f.run(30, 8, 2, 10, 100)
	must(0, f.Gone(40, 1))
	if a, b := wanted(0), wanted(1); len(a) != 1 || len(b) != 0 || f.Waiting()+f.Active() != 2 {
		t.Errorf("wanted after a host has left: %+v and %+v, of %d", a, b, f.Active())
	}
	r := contracts.Request{ID: 9, Owner: f.owner, Submit: 50, Nodes: 2, Work: 1, PerHost: true}
	r.SLA = contracts.SLA{Deadline: 10, Budget: bank.Micros(1e6)}
	if d := must(f.Submit(50, &r, hosts.Task{Work: math.Inf(1)})); d.Verdict != contracts.Reject {
		t.Errorf("on two hosts, one of which is away: %+v", d)
	}
	must(0, f.Came(60, 1))
	if a, b := wanted(0), wanted(1); len(a) != 2 || len(b) != 1 {
		t.Errorf("wanted after it has come back: %+v and %+v", a, b)
	}
}

// TestDeals checks that work is charged by the bids in force when the work was done, even if
// the work is reported much later, and that an allocation without reported usage costs nothing.
func TestDeals(t *testing.T) {
	t.Parallel()
	f := newFar(t, 1, floor.Lose, "spot")
	m := f.hosts[0]
	f.run(0, 7, 1, 60, 100)
	f.Next()
	alone := m.Orders(0, nil).Deal
	must(0, f.Advance(10))
	f.run(10, 8, 1, 60, 100)
	f.Next()
	both := m.Orders(10, nil).Deal
	must(0, f.Advance(20))
	f.run(20, 9, 1, 60, 100)
	m.Hear(20, &remote.Told{Session: 1, First: 1, Spans: []remote.Span{
		{Deal: alone, Length: 10, Used: []remote.Used{{Name: 1, Seconds: 10}}},
		{Deal: both, Length: 10, Used: []remote.Used{{Name: 1, Seconds: 14}, {Name: 2, Seconds: 6}}},
	}})
	f.Read(20, 0)
	must(0, f.Advance(20))
	for _, id := range []contracts.ID{7, 8, 9} {
		must(0, f.Cancel(20, id))
	}
	for i, want := range []struct {
		done float64
		paid int64 // charges at bids of a cent per second: 0.4 and 0.6 of it for 10 s
	}{{14, 40_000}, {6, 60_000}, {0, 0}} {
		if e := &f.Ended()[i]; math.Abs(e.Done-want.done) > 1e-9 || e.Paid.Micros() != want.paid {
			t.Errorf("contract %d: %v done, paid %v; want %v, %v", e.ID, e.Done, e.Paid, want.done, bank.Micros(want.paid))
		}
	}
}

// TestRenewedDeals checks that a renewed bid starts a new allocation, although the shares do
// not change: earlier work is charged by the old bid, even if it is reported late. The only
// contract bids $1 for 100 s. At 50 s, when no usage has been reported, it bids $1 for 50 s.
func TestRenewedDeals(t *testing.T) {
	t.Parallel()
	f := newFar(t, 1, floor.Lose, "bid")
	f.Renew = 50
	m := f.hosts[0]
	f.run(0, 7, 1, 90, 100)
	f.Next()
	before := m.Orders(0, nil).Deal
	must(0, f.Advance(50))
	f.Next()
	after := m.Orders(50, nil).Deal
	must(0, f.Advance(60))
	m.Hear(60, &remote.Told{Session: 1, First: 1, Spans: []remote.Span{
		{Deal: before, Length: 50, Used: []remote.Used{{Name: 1, Seconds: 50}}},
		{Deal: after, Length: 10, Used: []remote.Used{{Name: 1, Seconds: 60}}},
	}})
	f.Read(60, 0)
	must(0, f.Advance(60))
	must(0, f.Cancel(60, 7))
	if before == after {
		t.Errorf("the deal is %d before and after", before)
	}
	f.ended("renewed", contracts.Cancelled, 60, 700_000)
}
