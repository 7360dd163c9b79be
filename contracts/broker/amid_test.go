package broker

import (
	"math"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/sim"
	"bourse/market/forecast"
)

// together admits all waiting requests at 10 s on the only host.
type together struct {
	actions []contracts.Action
	over    bool
}

func (p *together) Handle(_ float64, e contracts.Event, m contracts.Market) []contracts.Action {
	p.actions = p.actions[:0]
	switch e.Kind {
	case contracts.Submitted:
		p.actions = append(p.actions, contracts.Action{Verb: contracts.Enqueue, Contract: e.Contract, Place: len(m.Waiting())})
	case contracts.Tick:
		p.over = true
		for _, i := range m.Waiting() {
			d := &contracts.Decision{Verdict: contracts.Accept, Placements: []contracts.Placement{{Bid: m.Request(i).NodeRate()}}}
			p.actions = append(p.actions, contracts.Action{Verb: contracts.Admit, Contract: i, Decision: d})
		}
	}
	return p.actions
}

func (p *together) Next() (at float64, last bool) {
	if p.over {
		return math.Inf(1), false
	}
	return 10, false
}

// watched counts how often its host is allocated.
type watched struct {
	*sim.Machine
	dealt int
}

func (w *watched) Processors() []float64 {
	w.dealt++
	return w.Machine.Processors()
}

// TestAmid checks that a host on which many contracts start at the same time is allocated once
// if shares are fixed, and otherwise at each start, because a rule may store its last
// allocation.
func TestAmid(t *testing.T) {
	t.Parallel()
	const n = 20
	for rule, want := range map[string]int{"exclusive": 1, "auction": 1, "librasla": n} {
		l := bank.New(nil)
		provider, host, ann := must(l.Account("provider")), must(l.Account("host:h0")), must(l.Account("user:ann"))
		if err := l.Mint(0, ann, bank.Micros(n*1e6)); err != nil {
			t.Fatal(err)
		}
		h := &watched{Machine: sim.New(hosts.Spec{Name: "h0", CPUs: 1, Speed: 1})}
		b := New(Config{
			Fleet: []hosts.Machine{h}, Owners: []bank.Account{host}, Provider: provider,
			Policy: new(together), Sharing: must(sharing.Table().New(rule, func(any) error { return nil })),
			Payment: must(Payments().New("budget", nil)), Window: 300, Forecast: must(forecast.Table().New("chebyshev", func(any) error { return nil })), Teller: l,
		})
		for id := range contracts.ID(n) {
			r := contracts.Request{ID: id, Owner: ann, Work: 8, Nodes: 1, PerHost: true, SLA: contracts.SLA{Budget: bank.Micros(1e6), Deadline: 1000}}
			if _, err := b.Submit(0, &r, hosts.Task{Work: 8}); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Advance(10); err != nil {
			t.Fatal(err)
		}
		if b.Next(); b.Active() != n || h.dealt != want {
			t.Errorf("%s: %d run on a host shared out %d times, want %d and %d", rule, b.Active(), h.dealt, n, want)
		}
	}
}
