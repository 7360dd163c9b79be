package live

import (
	"testing"

	"bourse/bank"
	"bourse/contracts/order"
	"bourse/hosts"
	"bourse/hosts/remote/remotetest"
)

// TestWhole checks a host of whole cores. A task gets all the cores and the memory that it
// requests, or is refused. If no other host is present, an order for a fraction of a processor
// is refused with the reason WholeCores. The host is lost after 120 s of silence, whereas other
// hosts are lost after 30 s.
func TestWhole(t *testing.T) {
	t.Parallel()
	w := newTown(t, file, 2)
	spec := hosts.Spec{Name: "n1", CPUs: 5, Speed: 1, Whole: true, Room: hosts.Resources{Memory: 3000 << 20}}
	if r := w.turn(message{Join: &join{Spec: spec, Owner: "host:h00"}}); r[0].err != nil {
		t.Fatal(r[0].err)
	}
	w.names, w.agents = append(w.names, "n1"), append(w.agents, remotetest.New(spec))
	submit := func(id string, cpus float64) (verdict, reason, host string) {
		t.Helper()
		terms := &order.Terms{Class: "be", Nodes: 1, CPUs: cpus, Work: 5000, Deadline: 1000, Budget: bank.Micros(100_000)}
		s := w.sign(id, "user:0", 9000, terms, jobText)
		a := w.turn(message{Submit: &s})[0].answer
		if len(a.Places) > 0 {
			host = a.Places[0].Host
		}
		return a.Verdict, a.Reason, host
	}
	state := func(name string) string {
		for _, h := range w.market.Hosts() {
			if h.Name == name {
				return h.State
			}
		}
		return ""
	}
	if verdict, reason, host := submit("fraction", 0.5); verdict != "accept" || host == "n1" {
		t.Errorf("half a processor: %s %s on %s, want another host than n1", verdict, reason, host)
	}
	w.turn(message{Remove: "h00"}, message{Remove: "h01"})
	for _, c := range []struct {
		cpus            float64
		verdict, reason string
	}{
		{1.5, "reject", WholeCores},
		{2, "accept", ""},
		{4, "reject", "no room"},
		{1, "accept", ""},
		{1, "accept", ""},
		{1, "reject", "no room"}, // its gigabyte of memory does not fit
		{6, "reject", "too few hosts"},
	} {
		if verdict, reason, _ := submit(string(rune('a'+len(w.entries()))), c.cpus); verdict != c.verdict || reason != c.reason {
			t.Errorf("%v cores: %s %q, want %s %q", c.cpus, verdict, reason, c.verdict, c.reason)
		}
	}
	w.names, w.agents = w.names[:0], w.agents[:0]
	w.pass(110)
	if got := state("n1"); got != "here" {
		t.Errorf("after 110 s of silence it is %s, want here", got)
	}
	w.pass(15)
	if got := state("n1"); got != "away" {
		t.Errorf("after 125 s of silence it is %s, want away", got)
	}
	l := Default().Link
	for _, c := range []struct{ got, want float64 }{{l.leaseOf(false), 20}, {l.lostOf(false), 30}, {l.leaseOf(true), 60}, {l.lostOf(true), 120}} {
		if c.got != c.want {
			t.Errorf("a lease or a silence of %v s, want %v", c.got, c.want)
		}
	}
	w.check(3)
}
