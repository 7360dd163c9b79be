package live

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/owners/ownerstest"
	"bourse/hosts"
)

// TestUnsettled checks the case that a host's owner is no longer a payee. The contracts that
// ran on that host are listed as unsettled, and all others are settled, even after the market
// was killed. The unsettled contracts must be settled at most 5 minutes after the right was
// restored.
func TestUnsettled(t *testing.T) {
	t.Parallel()
	w := newTown(t, file, 2)
	right := func(kind, id string) {
		fields := []string{"of", "host:h01", "right", "payee", "market", "lab"}
		if _, err := w.bank.Do(t.Context(), ownerstest.Says("operator", kind, id, "operator", fields...)); err != nil {
			t.Fatal(err)
		}
	}
	submit := func(id string) int64 {
		t.Helper()
		s := w.order(id, "user:0", "be", 1, 5, 40, 0.02)
		r := w.turn(message{Submit: &s})
		if r[0].answer.Verdict != "accept" {
			t.Fatalf("%+v", r[0].answer)
		}
		return r[0].answer.Contract
	}
	right("revoke", "no-payee")
	bad := make(map[int64]bool)
	var all []int64
	for i := range 6 { // two contracts at a time on each host, because a contract alone on a host pays nothing
		for k := range 4 {
			id := submit(fmt.Sprint(i, ".", k))
			all = append(all, id)
			c := must(w.market.Status(id))
			bad[id] = c.Places[0].Host == "h01"
		}
		w.pass(45)
		if i == 2 {
			w.crash()
		}
	}
	w.pass(10)
	aside := 0
	for _, id := range all {
		c := must(w.market.Status(id))
		if !c.Over() || c.State != "fulfilled" {
			t.Fatalf("%+v", c)
		}
		if c.Unsettled == "" {
			if c.Settlement == "" || bad[id] && c.Paid.Sign() > 0 {
				t.Errorf("contract %d on h01 %v: %+v", Short(id), bad[id], c)
			}
			continue
		}
		aside++
		if !bad[id] || !strings.Contains(c.Unsettled, "a payment to host:h01") || c.Settlement != "" || c.Paid.Sign() != 0 || c.Back.Sign() != 0 {
			t.Errorf("contract %d: %+v", Short(id), c)
		}
		if held := must(w.bank.Balance(t.Context(), bank.EscrowName(id))); held != c.Budget {
			t.Errorf("contract %d: the bank holds %v, want %v", Short(id), held, c.Budget)
		}
	}
	if g := w.market.Gauges(); aside == 0 || g.Unsettled != aside {
		t.Fatalf("%d are set aside, and the gauge has %d", aside, g.Unsettled)
	}
	w.crash()
	if c := w.check(20); len(c.Unsettled) != aside || !strings.Contains(c.Unsettled[0], "host:h01") {
		t.Errorf("%d are set aside, and a check lists %q", aside, c.Unsettled)
	}
	right("right", "payee-again")
	calls := len(w.entries())
	w.pass(mostRetry)
	for _, id := range all {
		if c := must(w.market.Status(id)); c.Unsettled != "" || c.Settlement == "" {
			t.Errorf("with the right again: %+v", c)
		}
	}
	if booked := len(w.entries()) - calls; booked != aside || w.market.Gauges().Unsettled != 0 {
		t.Errorf("%d were booked, want %d", booked, aside)
	}
	w.crash()
	if c := w.check(20); len(c.Unsettled) > 0 {
		t.Errorf("%q", c.Unsettled)
	}
}

// TestUnsettledKilled checks that a market that has lost its right to settle continues,
// however often it is killed, and settles when it has the right again.
func TestUnsettledKilled(t *testing.T) {
	t.Parallel()
	w := newTown(t, file, 1)
	revoke := ownerstest.Says("operator", "revoke", "no-settling", "operator", "of", "market:lab", "right", "settle")
	s, second := w.order("a", "user:0", "be", 1, 5, 40, 0.02), w.order("b", "user:1", "be", 1, 5, 40, 0.2)
	w.turn(message{Submit: &s}, message{Submit: &second})
	w.pass(1)
	if _, err := w.bank.Do(t.Context(), revoke); err != nil {
		t.Fatal(err)
	}
	steps := 0
	w.kill = func(string) bool { steps++; return steps%7 == 0 }
	w.pass(45)
	w.kill = nil
	if g := w.market.Gauges(); g.Unsettled != 2 || w.kills < 5 {
		t.Fatalf("%d are set aside after %d kills of %d contracts", g.Unsettled, w.kills, len(listed(w.market)))
	}
	give := ownerstest.Says("operator", "right", "settles-again", "operator", "of", "market:lab", "right", "settle", "number", fmt.Sprint(ownerstest.Number))
	if _, err := w.bank.Do(t.Context(), give); err != nil {
		t.Fatal(err)
	}
	w.kill = func(string) bool { steps++; return steps%7 == 0 }
	w.pass(60)
	w.kill = nil
	if g := w.market.Gauges(); g.Unsettled != 0 {
		t.Errorf("%d are set aside", g.Unsettled)
	}
	for _, id := range []int64{1, 2} {
		if c := must(w.market.Status(ownerstest.Contract(id))); !c.Over() || c.Settlement == "" {
			t.Errorf("%+v", c)
		}
	}
}

// TestMayOwn checks that a host cannot join if the bank would not pay its owner, and that the
// error names the right. A host that has joined before stays in the market.
func TestMayOwn(t *testing.T) {
	t.Parallel()
	w := newTown(t, file, 0)
	payee := false
	w.market.world.Payee = func(context.Context, string) (bool, error) { return payee, nil }
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error)
	go func() { ran <- w.market.Run(ctx) }()
	join := func() error {
		return w.market.Join(t.Context(), hosts.Spec{Name: "h", CPUs: 1, Speed: 1}, "user:0", "")
	}
	if err := join(); err == nil || !strings.Contains(err.Error(), "bank right BANK user:0 payee --market lab") {
		t.Errorf("a host of no payee: %v", err)
	}
	payee = true
	if err := join(); err != nil {
		t.Error(err)
	}
	payee = false
	if err := join(); err != nil {
		t.Errorf("known already: %v", err)
	}
	stop()
	<-ran
}
