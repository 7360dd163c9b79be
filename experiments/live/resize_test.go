package live

import (
	"strings"
	"testing"

	"bourse/hosts"
	"bourse/hosts/remote/remotetest"
)

// TestResize checks that a host can join with another number of processors once it has no
// tasks. The market must then sell this number of processors, and must not reuse names of
// tasks. If the host has tasks, the market must refuse the change and state this reason.
func TestResize(t *testing.T) {
	t.Parallel()
	w := newTown(t, file, 1)
	resize := func(cpus float64) error {
		return w.turn(message{Join: &join{Spec: hosts.Spec{Name: "h00", CPUs: cpus, Speed: 1}, Owner: "host:h00"}})[0].err
	}
	submit := func(id string, work, deadline float64) {
		t.Helper()
		o := w.order(id, "user:0", "be", 1, work, deadline, 0.3)
		if r := w.turn(message{Submit: &o}); r[0].err != nil || r[0].answer.Verdict != "accept" {
			t.Fatalf("%+v", r[0])
		}
	}
	submit("a", 30, 60)
	w.pass(5)
	if err := resize(2); err == nil || !strings.Contains(err.Error(), "host h00 has 1 processors and runs 1 tasks; the host can change to 2 processors once these tasks have ended") {
		t.Errorf("%v, want that a task runs", err)
	}
	w.pass(60)
	if err := resize(2); err != nil {
		t.Fatal(err)
	}
	w.agents[0] = remotetest.New(hosts.Spec{Name: "h00", CPUs: 2, Speed: 1}) // the host starts again with that number
	w.pass(2)
	submit("b", 60, 40)
	w.pass(60)
	list := must(w.market.List(Filter{Ended: true}))
	if len(list) != 2 || list[0].State != "fulfilled" || list[1].Tasks[0].Host != "h00" || list[1].Tasks[0].Name == list[0].Tasks[0].Name {
		t.Errorf("%+v", list)
	}
	var states []string
	for _, h := range w.market.Hosts() {
		states = append(states, h.Name+" "+h.State)
	}
	if got := strings.Join(states, ", "); got != "h00.1 removed, h00 here" {
		t.Errorf("hosts: %s", got)
	}
	for range 20 { // an audit needs this number of entries
		o := w.order("x"+strings.Repeat("x", len(w.entries())), "user:0", "be", 9, 1, 60, 0.3)
		w.turn(message{Submit: &o})
	}
	w.check(3)
}
