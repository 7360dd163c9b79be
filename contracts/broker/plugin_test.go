package broker

import (
	"strings"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/sim"
	"bourse/market/forecast"
)

// The code up to the test is a complete policy: it rejects requests with an odd amount of work.

const odd contracts.Reason = "its work is odd"

type evenOnly struct{ numbers contracts.Numbers }

func (p *evenOnly) Decide(_ float64, r *contracts.Request, _ contracts.View) contracts.Decision {
	if int(r.Work)%2 == 0 {
		return contracts.Decision{Verdict: contracts.Accept, Placements: []contracts.Placement{{Bid: r.NodeRate()}}}
	}
	p.numbers = append(p.numbers[:0], contracts.Counted("beyond", 1), contracts.Concerned("like", 7))
	return contracts.Decision{Reason: odd, Numbers: p.numbers}
}

// TestPlugin checks that a policy can define its own reason and numbers. The reason and the
// numbers reach the ledger and the caller of Submit, and no other package refers to them.
func TestPlugin(t *testing.T) {
	t.Parallel()
	var entries journal
	l := bank.New(&entries)
	provider, host, ann := must(l.Account("provider")), must(l.Account("host:h0")), must(l.Account("user:ann"))
	if err := l.Mint(0, ann, bank.Micros(10e6)); err != nil {
		t.Fatal(err)
	}
	b := New(Config{
		Fleet: []hosts.Machine{sim.New(hosts.Spec{Name: "h0", CPUs: 1, Speed: 1})}, Owners: []bank.Account{host}, Provider: provider,
		Policy: admission.Immediate(&evenOnly{}), Sharing: must(sharing.Table().New("auction", func(any) error { return nil })),
		Payment: must(Payments().New("spot", nil)), Window: 300, Forecast: must(forecast.Table().New("chebyshev", func(any) error { return nil })), Teller: l, Notes: true,
	})
	for id, work := range []float64{8, 9} {
		r := contracts.Request{ID: contracts.ID(id), Owner: ann, Work: work, Nodes: 1, SLA: contracts.SLA{Budget: bank.Micros(1e6), Deadline: 100}}
		d, err := b.Submit(0, &r, hosts.Task{Work: work})
		if err != nil {
			t.Fatal(err)
		}
		if like, ok := d.Numbers.Contract(); (d.Reason == odd) != (work == 9) || ok != (work == 9) || ok && like != 7 {
			t.Errorf("work %v: %+v", work, d)
		}
	}
	want := `{"decision":"reject","reason":"its work is odd","beyond":1,"like":7}`
	if got := entries.String(); !strings.HasSuffix(got, want+"\n") {
		t.Errorf("the ledger says %s, want %s at the end", got, want)
	}
}
