package reservations

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/admission/reserve"
	"bourse/contracts/note"
	"bourse/hosts"
	"bourse/hosts/timetable"
)

func standard() reserve.Options { return defaultOptions().options("mli") }

// ask submits a request and returns the decision.
func (e *engine) ask(tb rapid.TB, now float64, r contracts.Request, runtime float64) contracts.Decision {
	tb.Helper()
	if err := e.Advance(now); err != nil {
		tb.Fatal(err)
	}
	d, err := e.Submit(now, &r, hosts.Task{Work: runtime})
	if err != nil {
		tb.Fatal(err)
	}
	return *d
}

// figures returns the numbers of d in the form of the ledger.
func figures(d contracts.Decision) map[string]float64 {
	said, err := note.ParseAgreement(d.AppendJSON(nil))
	if err != nil {
		panic(err)
	}
	return said.Numbers
}

// window is a request for n nodes for q seconds between start and due, for one dollar, with
// a penalty of one cent per second of delay.
func (e *engine) window(id int64, n int, start, q, due float64) contracts.Request {
	return contracts.Request{
		ID: contracts.ID(id), Owner: e.user, Work: q, Nodes: n, Lead: start,
		SLA: contracts.SLA{Budget: bank.Micros(1e6), Deadline: due, Penalty: contracts.Penalty{Rate: 0.01, Max: math.Inf(1)}},
	}
}

// money returns the payments of a contract and checks that they agree with the accounts.
func (e *engine) money(tb rapid.TB) (last contracts.Settled) {
	tb.Helper()
	owed := bank.Amount{}
	for _, c := range e.Ended() {
		sum, err := owed.Add(c.Paid)
		if err == nil {
			owed, err = sum.Sub(c.Penalty)
		}
		if err != nil {
			tb.Fatal(err)
		}
		last = c
	}
	if has := e.ledger.Balance(e.user); has.Micros() != 1e12-owed.Micros() {
		tb.Fatalf("the user has $%v after paying $%v", has, owed)
	}
	return last
}

// TestMoney checks the money of a reservation. The budget is in escrow from acceptance to the
// end. Work done in time costs its price. The owner of a job that is one second late receives
// the penalty for one second. The owner of a killed job pays nothing and receives the penalty
// for the whole time to the deadline.
func TestMoney(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name               string
		runtime            float64
		change             func(*reserve.Options)
		state              contracts.Outcome
		ended              float64
		paid, penaltyCents int64
	}{
		{"in time", 10, nil, contracts.Fulfilled, 30, 1e6, 0},
		{"early", 4, nil, contracts.Fulfilled, 24, 1e6, 0},
		// The job is extended by 2 s twice. Its deadline is at 33.
		{"late", 13.5, nil, contracts.Late, 34, 1e6 - 1e4, 0},
		{"killed", 13.5, func(o *reserve.Options) { o.Overrun = "kill" }, contracts.Killed, 30, 0, 33},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := standard()
			if c.change != nil {
				c.change(&o)
			}
			e := newEngine(t, []timetable.Config{{Nodes: 4}}, o, nil)
			if d := e.ask(t, 0, e.window(1, 3, 20, 10, 33), c.runtime); d.Verdict != contracts.Accept || figures(d)["start"] != 20 || figures(d)["completion"] != 30 {
				t.Fatalf("%+v", d)
			}
			if held, _ := e.ledger.Escrow(1); held.Micros() != 1e6 {
				t.Errorf("$%v in escrow", held)
			}
			if want := `{"decision":"accept","start":20,"completion":30,"submit":0,"deadline":33,"runs_on":true,"penalty_rate":0.01,"opens":20,"nodes":3,"host":"h0"}`; e.notes[0] != want {
				t.Errorf("noted %s, want %s", e.notes[0], want)
			}
			e.drain(t)
			got := e.money(t)
			if got.Outcome != c.state || got.Began != 20 || got.Ended != c.ended ||
				got.Paid.Micros() != c.paid || got.Penalty.Micros() != 1e4*c.penaltyCents {
				t.Errorf("%v from %v to %v, paid $%v, penalty $%v", got.Outcome, got.Began, got.Ended, got.Paid, got.Penalty)
			}
			if host, _ := e.ledger.Account("host:h0"); e.ledger.Balance(host) != got.Paid {
				t.Errorf("the host has $%v of $%v", e.ledger.Balance(host), got.Paid)
			}
		})
	}
}

// TestCancel checks the fees for cancelling. Before the start, the owner pays the fee, 10 % of
// the price. After that, the owner pays for the elapsed part of the estimate if this is more.
// The nodes are free for the next waiting job from the next second on.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ at, paid, next float64 }{
		{5, 0.1, 20}, {20.5, 0.1, 21}, {26, 0.6, 26}, {27.5, 0.75, 28},
	} {
		e := newEngine(t, []timetable.Config{{Nodes: 4}}, standard(), nil)
		e.ask(t, 0, e.window(1, 3, 20, 10, 30), 10)
		if d := e.ask(t, 1, e.window(2, 3, 20, 10, 100), 10); figures(d)["start"] != 30 {
			t.Fatalf("%+v", d)
		}
		if err := e.Advance(c.at); err != nil {
			t.Fatal(err)
		}
		if err := e.Cancel(c.at, 1); err != nil {
			t.Fatal(err)
		}
		got := e.Ended()[0]
		if got.Outcome != contracts.Cancelled || got.Ended != c.at || got.Paid.Micros() != int64(math.Round(c.paid*1e6)) || got.Penalty.Sign() != 0 {
			t.Errorf("at %v: %v at %v, paid $%v, penalty $%v, want $%v", c.at, got.Outcome, got.Ended, got.Paid, got.Penalty, c.paid)
		}
		if err := e.Cancel(c.at, 1); err == nil {
			t.Errorf("at %v: cancelled twice", c.at)
		}
		e.drain(t)
		if got := e.money(t); got.Outcome != contracts.Fulfilled || got.Began != c.next || got.ID != 2 {
			t.Errorf("at %v: the other is %v from %v, want from %v", c.at, got.Outcome, got.Began, c.next)
		}
	}
}

// TestPrice checks the price of a contract, base n e + kappa max(0, zeta). It uses 3 nodes
// and 10 s at 2 cents, and 5 s of laxity lost by a job due to start at 20 at 1 cent. A job
// that cannot pay this price must be rejected.
func TestPrice(t *testing.T) {
	t.Parallel()
	o := standard()
	o.Base, o.Kappa = 0.02, 0.01
	e := newEngine(t, []timetable.Config{{Nodes: 4}}, o, nil)
	if d := e.ask(t, 0, e.window(1, 3, 20, 10, 100), 10); !d.Priced || d.Ask != 0.6 {
		t.Errorf("asked $%v, want $0.6", d.Ask)
	}
	// The job must end by 25, because the first job leaves nodes free until 25.
	d := e.ask(t, 0, e.window(2, 3, 15, 10, 25), 10)
	if n := figures(d); n["start"] != 15 || n["impact"] != 5 || math.Abs(d.Ask-0.65) > 1e-12 {
		t.Errorf("from %v with impact %v for $%v, want 15, 5, $0.65", n["start"], n["impact"], d.Ask)
	}
	if d := e.ask(t, 0, e.window(3, 4, 50, 20, 300), 20); d.Reason != contracts.TooDear || d.Ask != 1.6 {
		t.Errorf("%v, asked $%v", d.Reason, d.Ask)
	}
	e.drain(t)
	if got := e.money(t); got.Paid.Micros() != 600_000 || len(e.Ended()) != 2 || e.Ended()[0].Paid.Micros() != 650_000 {
		t.Errorf("%+v", e.Ended())
	}
}

// TestLowestPrice checks that with base 0 and kappa 1, the cluster with the lowest price is
// that of mli if no zeta is negative (A.6). The market must agree with mli job by job until
// the first request with a negative zeta.
func TestLowestPrice(t *testing.T) {
	seeds(t, func(t *rapid.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 4))
		d := demand{jobs: 80, share: 1, laxity: 2 * rng.Float64(), nodes: 6, clusters: 3, meanGap: 2, speeds: []int64{1000, 700, 1300}}
		o := standard()
		byImpact := newEngine(t, d.config(t, "mli").Clusters, o, nil)
		o.Match, o.Kappa = "price", 1
		byPrice := newEngine(t, d.config(t, "mli").Clusters, o, nil)
		for _, j := range d.draw(seed) {
			now := float64(j.Arrival)
			a := byImpact.request(&j)
			a.SLA.Budget = bank.Micros(1e9)
			b := a
			x, y := byImpact.ask(t, now, a, float64(j.Runtime)), byPrice.ask(t, now, b, float64(j.Runtime))
			if figures(x)["impact"] < 0 {
				return
			}
			if x.Verdict != y.Verdict || x.Verdict == contracts.Accept && x.Placements[0].Host != y.Placements[0].Host {
				t.Fatalf("job %d: mli %+v, price %+v", j.ID, x, y)
			}
		}
	})
}

// TestUnfunded checks that a request that its owner cannot pay for does not change the
// accounts.
func TestUnfunded(t *testing.T) {
	t.Parallel()
	e := newEngine(t, []timetable.Config{{Nodes: 4}}, standard(), nil)
	r := e.window(1, 4, 20, 10, 30)
	r.SLA.Budget = bank.Micros(2e12)
	if d := e.ask(t, 0, r, 10); d.Reason != contracts.Unfunded {
		t.Fatalf("%+v", d)
	}
	if !math.IsInf(e.Next(), 1) {
		t.Errorf("something is planned for %v", e.Next())
	}
	if d := e.ask(t, 0, e.window(2, 4, 20, 10, 30), 10); d.Verdict != contracts.Accept {
		t.Errorf("%+v", d)
	}
}

// TestRefusals checks the reasons for which reservations are rejected.
func TestRefusals(t *testing.T) {
	t.Parallel()
	e := newEngine(t, []timetable.Config{{Nodes: 4}, {Nodes: 2, Speed: 2000}}, standard(), nil)
	for _, c := range []struct {
		r    contracts.Request
		want contracts.Reason
	}{
		{e.window(1, 5, 0, 10, 100), contracts.TooFewHosts},
		{e.window(2, 4, 10, 10, 19), contracts.TooLate},
		{e.window(3, 2, 10, 10, 16), contracts.None}, // fits only on the fast cluster
		{e.window(4, 2, 10, 10, 16), reserve.NoPlan},
	} {
		if d := e.ask(t, 0, c.r, 10); d.Reason != c.want {
			t.Errorf("request %d: %v, want %v", c.r.ID, d.Reason, c.want)
		}
	}
}
