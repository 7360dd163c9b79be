package live

import (
	"fmt"
	"testing"

	"bourse/bank"
	"bourse/contracts/order"
	"bourse/hosts"
	"bourse/hosts/remote/remotetest"
)

// provide makes another host with the given resources join. Its name is spec.Name.
func (w *town) provide(spec hosts.Spec) {
	w.t.Helper()
	if r := w.turn(message{Join: &join{Spec: spec, Owner: "host:h00"}}); r[0].err != nil {
		w.t.Fatal(r[0].err)
	}
	w.names, w.agents = append(w.names, spec.Name), append(w.agents, remotetest.New(spec))
}

// TestMemoryRow checks the example of resources: of five jobs of 1 GB on a host that offers 4 GB, four
// run. The fifth is refused for lack of room, and the answer states how much is left.
func TestMemoryRow(t *testing.T) {
	t.Parallel()
	w := newTown(t, "name: lab\nadmission: be\nmarket: {resources: [memory]}", 1)
	w.turn(message{Remove: "h00"})
	w.names, w.agents = nil, nil
	w.provide(hosts.Spec{Name: "big", CPUs: 8, Speed: 1, Room: hosts.Resources{Memory: 4.2e9}})
	for n := range 5 {
		terms := &order.Terms{Class: "be", Nodes: 1, CPUs: 1, Work: 60, Deadline: 120, Budget: bank.Micros(50_000), Memory: 1e9}
		s := w.sign(fmt.Sprint(n), "user:0", 9000, terms, jobText)
		s.Memory = 1e9
		a := w.turn(message{Submit: &s})[0].answer
		switch {
		case n < 4 && a.Verdict != "accept":
			t.Errorf("job %d: %s %s, want accept", n, a.Verdict, a.Reason)
		case n == 4 && (a.Verdict != "reject" || a.Reason != "no room" || len(a.Left) != 1 || a.Left["memory"] != 0.2e9):
			t.Errorf("job 4: %s %s, left %v, want reject, no room, and 0.2 GB of memory", a.Verdict, a.Reason, a.Left)
		}
	}
	w.pass(1)
	if got := len(must(w.market.List(Filter{}))); got != 4 {
		t.Errorf("%d contracts run, want 4", got)
	}
}

// TestFloorRow checks the example of floor prices: at $0.36 an hour, a job without competitors that
// receives one processor for 30 s pays $0.003000.
func TestFloorRow(t *testing.T) {
	t.Parallel()
	w := newTown(t, file+"floor_per_hour: {cpu: 0.36}", 1)
	s := w.order("a", "user:0", "be", 1, 30, 60, 0.5)
	w.turn(message{Submit: &s})
	w.agents[0].Exits = func(int64) float64 { return 30 }
	w.pass(40)
	c := must(w.market.List(Filter{Ended: true}))[0]
	if c.State != "fulfilled" || c.Done != 30 || c.Paid != bank.Micros(3000) {
		t.Errorf("%s, work %v, paid %v, want fulfilled, 30 and $0.003000", c.State, c.Done, c.Paid)
	}
}
