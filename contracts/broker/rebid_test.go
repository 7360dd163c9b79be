package broker

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/floor"
	"bourse/contracts/policies"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/sim"
	"bourse/market"
	"bourse/market/forecast"
)

// A fixed policy accepts each request with the given bids, one per host.
type fixed []market.Rate

// Decide implements [contracts.Decider].
func (p fixed) Decide(float64, *contracts.Request, contracts.View) contracts.Decision {
	d := contracts.Decision{Verdict: contracts.Accept}
	for h, bid := range p {
		d.Placements = append(d.Placements, contracts.Placement{Host: hosts.ID(h), Bid: bid})
	}
	return d
}

// TestRebids checks the golden cases of changed bids through a broker: the new bids, the amount
// that moves into the escrow, and refusals. A payment rule charges the amount owed in a time that
// is short enough for the time left to be exact.
func TestRebids(t *testing.T) {
	type input struct {
		Bids              []market.Rate
		Owed, Budget, New int64
		Left              float64
	}
	type output struct {
		Bids    []market.Rate
		Escrow  int64
		Refused contracts.Reason
	}
	goldenCases(t, "rebid", func(t *testing.T, in *input, want *output) {
		const brief = 1.0 / (1 << 20) // in seconds
		l := bank.New(nil)
		user, provider := must(l.Account("user")), must(l.Account("provider"))
		must(0, l.Mint(0, user, bank.Micros(math.MaxInt64)))
		c := Config{
			Provider: provider, Teller: l, Policy: admission.Immediate(fixed(in.Bids)), Sharing: must(sharing.Table().New("auction", noOptions)), Window: 300,
			Payment: must(Payments().New("bid", nil)),
		}
		for h := range in.Bids {
			c.Fleet, c.Owners = append(c.Fleet, sim.New(hosts.Spec{Name: string(rune('a' + h)), CPUs: 1, Speed: 1})), append(c.Owners, provider)
		}
		b := New(c)
		b.floor.Tariff = func(on []contracts.Allocation, _ floor.Prices, _, _ float64) {
			for i := range on {
				on[i].Paying = max(0, float64(in.Owed)-0.5) * 1e-6 / brief / float64(len(in.Bids))
			}
		}
		r := &contracts.Request{ID: 1, Owner: user, Nodes: len(in.Bids), Work: 1e9, SLA: contracts.SLA{Budget: bank.Micros(in.Budget), Deadline: brief + in.Left}}
		if d := must(b.Submit(0, r, hosts.Task{Work: 1e9})); d.Verdict != contracts.Accept {
			t.Fatalf("%+v", d)
		}
		must(0, b.Advance(brief))
		d := must(b.Rebid(brief, 1, bank.Micros(in.New)))
		held, _ := l.Escrow(1)
		if (d.Verdict == contracts.Reject) != (want.Refused != "") || d.Reason != want.Refused || held.Micros()-in.Budget != want.Escrow {
			t.Fatalf("%+v, %v in escrow; want %+v", d, held, want)
		}
		bids := in.Bids
		if want.Refused == "" {
			bids = want.Bids
		}
		for h, want := range bids {
			if got := b.View().Price(hosts.ID(h)); got != want {
				t.Errorf("a bid of %d on host %d, want %d", got, h, want)
			}
		}
	})
}

// rivals returns a market with one host, which does 1 unit of work per second, and two contracts whose bids
// are 3 to 1. They need 0.6 and 0.2 units of work per second.
func rivals(t *testing.T, policy, options, payment string) (*Broker, *bank.Ledger) {
	t.Helper()
	l := bank.New(nil)
	ann := must(l.Account("user:ann"))
	must(0, l.Mint(0, ann, bank.Micros(10e6)))
	m := &medley{policy: policy, options: options, bidding: "cheapest"}
	w := &world{lots: rand.NewPCG(1, 3)}
	c := Config{
		Fleet: []hosts.Machine{sim.New(hosts.Spec{Name: "h", CPUs: 4, Speed: 0.25})}, Owners: []bank.Account{must(l.Account("host:h"))}, Provider: must(l.Account("provider")), Teller: l,
		Policy: m.make(w), Payment: must(Payments().New(payment, nil)), Sharing: must(sharing.Table().New("auction", noOptions)), Window: 300, Ties: rand.New(rand.NewPCG(1, 2)),
	}
	if policies.Of(policy).Forecasts {
		c.Forecast = must(forecast.Table().New("normal", nil))
	}
	b := New(c)
	for id, budget := range []int64{3e6, 1e6} {
		r := &contracts.Request{ID: contracts.ID(id), Owner: ann, Work: 200 * float64(1+2*((id+1)%2)), Nodes: 1, PerHost: true, SLA: contracts.SLA{Budget: bank.Micros(budget), Deadline: 1000}}
		if d := must(b.Submit(0, r, hosts.Task{Work: 1e4})); d.Verdict != contracts.Accept {
			t.Fatalf("%s: %+v", policy, d)
		}
	}
	return b, l
}

// shares returns the shares of the host of two rivals.
func shares(b *Broker) (is []float64) {
	b.Next()
	for _, a := range b.View().On(0) {
		is = append(is, a.Rate)
	}
	return is
}

// TestRebid checks that new bids change the shares, that the escrow changes with the budget,
// that a renewed budget bids the unspent part again, and that a contract pays for each period
// at the bids of that period. Contract 1 pays $0.25 in the first 500 s by the rule usage.
func TestRebid(t *testing.T) {
	t.Parallel()
	b, l := rivals(t, "be", "", "bid")
	must(0, b.Advance(500))
	if is := shares(b); math.Abs(is[0]/is[1]-3) > 1e-9 {
		t.Errorf("shares %v, want 3:1", is)
	}
	if d := must(b.Rebid(500, 1, bank.Micros(2e6))); d.Verdict != contracts.Accept || len(d.Placements) != 1 || d.Placements[0].Bid != 3e6 {
		t.Fatalf("%+v", d)
	}
	if is := shares(b); math.Abs(is[0]/is[1]-1) > 1e-9 {
		t.Errorf("shares %v, want 1:1", is)
	}
	if held, _ := l.Escrow(1); held != bank.Micros(2e6) {
		t.Errorf("escrow %v, want 2", held)
	}
	must(0, b.Advance(750))
	if d := must(b.Rebid(750, 1, bank.Micros(2e6))); d.Verdict != contracts.Accept || b.View().Price(0) != 6e6 { // the unspent budget is bid again
		t.Errorf("%+v, price %d", d, b.View().Price(0))
	}
	must(0, b.Advance(1000))
	if len(b.Ended()) != 2 || b.Ended()[1].Paid != bank.Micros(2e6) || b.Ended()[0].Paid != bank.Micros(3e6) {
		t.Errorf("%+v", b.Ended())
	}
	if has := l.Balance(must(l.Account("user:ann"))); has != bank.Micros(5e6) {
		t.Errorf("its owner has %v, want 5", has)
	}
}

// TestSpentAgain checks that a contract that has spent its budget bids again if the budget is
// increased.
func TestSpentAgain(t *testing.T) {
	t.Parallel()
	b, _ := rivals(t, "be", "", "bid")
	must(0, b.Advance(250))
	must(b.Rebid(250, 1, bank.Micros(250_001))) // the contract bids 1 nano-dollar per second
	if is := shares(b); is[1] > 1e-5 {
		t.Errorf("shares %v", is)
	}
	if d := must(b.Rebid(250, 1, bank.Micros(250_000))); d.Reason != contracts.SpentAlready {
		t.Errorf("%+v", d)
	}
	must(0, b.Advance(300))
	if d := must(b.Rebid(300, 1, bank.Micros(4e6))); d.Verdict != contracts.Accept {
		t.Errorf("%+v", d)
	}
	if is := shares(b); is[1] < 0.6 {
		t.Errorf("shares %v", is)
	}
}

// TestRebidRefused checks each reason to reject a changed budget, and that a rejection changes
// nothing.
func TestRebidRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy, options, payment string
		id                       contracts.ID
		budget                   float64
		want                     contracts.Reason
	}{
		{"be", "", "bid", 1, 50_000, contracts.SpentAlready},
		{"be", "", "bid", 1, 1, contracts.SpentAlready},
		{"be", "", "bid", 1, 90e6, contracts.Unfunded},
		{"be", "", "budget", 1, 2e6, contracts.FixedPrice},
		{"cac", "", "bid", 1, 2.5e6, "would violate"},                                   // contract 0 would be violated
		{"cac", "", "bid", 1, 700_000, "would violate"},                                 // the contract itself would be violated
		{"cac", "capacity: static", "bid", 1, 2.5e6, "would violate"},                   // contract 0 would be violated
		{"cac", "capacity: static", "bid", 1, 700_000, "would violate"},                 // the contract itself would be violated
		{"class", "default: cac", "bid", 1, 2.5e6, "would violate"},                     // contract 0 would be violated
		{"adaptive", "low: cac", "bid", 1, 2.5e6, "would violate"},                      // contract 0 would be violated
		{"partition", "reserved: 1", "bid", 1, 2.5e6, "would violate"},                  // contract 0 would be violated
		{"class", "default: sac\nsac: {guarantee: 0.5}", "bid", 1, 2e6, contracts.None}, // sac promises nothing
		{"cac", "", "bid", 1, 1e6, contracts.None},                                      // the current budget
		{"cac", "", "bid", 0, 2_999_990, contracts.None},                                // within the capacity that both contracts can spare
	} {
		b, l := rivals(t, c.policy, c.options, c.payment)
		must(0, b.Advance(100))
		before, price := l.Balance(must(l.Account("user:ann"))), b.View().Price(0)
		d := must(b.Rebid(100, c.id, bank.Micros(int64(c.budget))))
		if d.Reason != c.want || (d.Verdict == contracts.Accept) != (c.want == contracts.None) {
			t.Errorf("%s {%s}, a budget of %v: %+v, want %q", c.policy, c.options, c.budget, d, c.want)
		}
		if after := l.Balance(must(l.Account("user:ann"))); c.want != contracts.None && (after != before || b.View().Price(0) != price) {
			t.Errorf("%s, a budget of %v, refused: balance %v, price %v, want %v and %v", c.policy, c.budget, after, b.View().Price(0), before, price)
		}
	}
	b, _ := rivals(t, "be", "", "bid")
	if _, err := b.Rebid(0, 7, bank.Micros(1e6)); err == nil {
		t.Error("a contract that does not exist")
	}
	if _, ok := rebids([]contracts.Placement{{Bid: 5, Left: true}}, bank.Micros(1e6), 10); ok {
		t.Error("a contract whose nodes have all left")
	}
	if on, ok := rebids([]contracts.Placement{{Bid: 5, Left: true}, {Bid: 5}}, bank.Micros(1e6), 10); !ok || !slices.Equal([]market.Rate{on[0].Bid, on[1].Bid}, []market.Rate{5, 1e8}) {
		t.Errorf("%+v", on)
	}
}
