package live

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/contracts/order"
	"bourse/hosts"
	"bourse/hosts/remote"
	"bourse/hosts/remote/remotetest"
)

// provide adds a host with the given specification to the market.
func (w *town) provide(spec hosts.Spec) {
	w.t.Helper()
	if r := w.turn(message{Join: &join{Spec: spec, Owner: "host:h00"}}); r[0].err != nil {
		w.t.Fatal(r[0].err)
	}
	w.names, w.agents = append(w.names, spec.Name), append(w.agents, remotetest.New(spec))
}

// TestHeldRows checks the example of resources: of five jobs of 1 GB on a host that offers 4 GB, four
// run. The fifth is refused for lack of room, and the answer states how much is left. The same is true
// of disk and bandwidth. Jobs that state nothing hold the market's limit of memory and disk, or the
// limit of their job. A market that sells no bandwidth has no host for a job that needs it.
func TestHeldRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sold       string
		terms      order.Terms
		limits     string
		memory     int64
		disk, rate int64 // that the host is told
		room       hosts.Resources
	}{
		{"memory", order.Terms{Memory: 1e9}, "", 1e9, 0, 0, hosts.Resources{Memory: 4.2e9}},
		{"disk", order.Terms{Disk: 1e9}, "", 0, 1e9, 0, hosts.Resources{Disk: 4.2e9}},
		{"disk", order.Terms{}, "", 0, 1e9, 0, hosts.Resources{Disk: 4.2e9}},
		{"disk", order.Terms{}, `,"limits":{"disk":500000000}`, 0, 5e8, 0, hosts.Resources{Disk: 2.2e9}},
		{"bandwidth", order.Terms{Bandwidth: 1e9}, "", 0, 0, 1e9, hosts.Resources{Bandwidth: 4.2e9}},
	} {
		w := newTown(t, "name: lab\nadmission: be\nmarket: {resources: ["+c.sold+"]}", 1)
		w.turn(message{Remove: "h00"})
		w.names, w.agents = nil, nil
		w.provide(hosts.Spec{Name: "big", CPUs: 8, Speed: 1, Room: c.room})
		for n := range 5 {
			terms := c.terms
			terms.Class, terms.Nodes, terms.CPUs, terms.Work, terms.Deadline, terms.Budget = "be", 1, 1, 60, 120, bank.Micros(50_000)
			job := fmt.Sprintf(`{"command":["true"]%s}`, c.limits)
			s := w.sign(fmt.Sprint(n), "user:0", 9000, &terms, []byte(job))
			s = *w.conf.submission(s.Order, s.Job, &terms, must(order.ParseJob([]byte(job))).Limits)
			a := w.turn(message{Submit: &s})[0].answer
			switch {
			case n < 4 && a.Verdict != "accept":
				t.Errorf("%s: job %d: %s %s, want accept", c.sold, n, a.Verdict, a.Reason)
			case n == 4 && (a.Verdict != "reject" || a.Reason != "no room" || len(a.Left) != 1 || a.Left[c.sold] != 0.2e9):
				t.Errorf("%s: job 4: %s %s, left %v, want reject, no room, and 0.2e9", c.sold, a.Verdict, a.Reason, a.Left)
			}
		}
		w.pass(1)
		if got := len(must(w.market.List(Filter{}))); got != 4 {
			t.Errorf("%s: %d contracts run, want 4", c.sold, got)
		}
		if got := w.orders("big").Wanted; len(got) != 4 || got[0].Memory != c.memory || got[0].Disk != c.disk || got[0].Bandwidth != c.rate {
			t.Errorf("%s: the host is told %+v", c.sold, got)
		}
		w.check(5)
	}
	w := newTown(t, file, 1)
	s := w.sign("a", "user:0", 9000, &order.Terms{Class: "be", Nodes: 1, CPUs: 1, Work: 6, Deadline: 120, Budget: bank.Micros(50_000), Bandwidth: 1}, jobText)
	if a := w.turn(message{Submit: &s})[0].answer; a.Reason != "too few hosts" {
		t.Errorf("bandwidth is not sold: %s %s", a.Verdict, a.Reason)
	}
	if _, err := Parse("lab.yaml", []byte("name: lab\nfloor_per_hour: {disk: 0.1}")); err == nil || !strings.Contains(err.Error(), "want it in market.resources") {
		t.Errorf("a price of disk that is not sold: %v", err)
	}
}

// TestFloorRow checks the documented example of floor prices: at $0.36 an hour, a job without
// competitors that receives one processor for 30 s pays $0.003000. A program that ends after 10
// s pays for 10 s, and an audit accepts this.
func TestFloorRow(t *testing.T) {
	t.Parallel()
	w := newTown(t, file+"floor_per_hour: {cpu: 0.36}", 1)
	s := w.order("a", "user:0", "be", 1, 30, 60, 0.5)
	w.turn(message{Submit: &s})
	work := 30.0
	w.agents[0].Exits = func(int64) float64 { return work }
	w.pass(40)
	c := must(w.market.List(Filter{Ended: true}))[0]
	if c.State != "fulfilled" || c.Done != 30 || c.Paid != bank.Micros(3000) {
		t.Errorf("%s, work %v, paid %v, want fulfilled, 30 and $0.003000", c.State, c.Done, c.Paid)
	}
	work = 10
	s = w.order("b", "user:0", "be", 1, 30, 60, 0.5)
	w.turn(message{Submit: &s})
	w.pass(40)
	if c := must(w.market.List(Filter{Ended: true}))[1]; c.State != "fulfilled" || c.Done != 10 || c.Paid != bank.Micros(1000) {
		t.Errorf("%s, work %v, paid %v, want fulfilled, 10 and $0.001000", c.State, c.Done, c.Paid)
	}
	w.check(2)
}

// TestExportHeld checks that an exported market keeps the memory and units that its hosts offer and
// its jobs hold, and their prices. A run of it makes the same decisions and charges nearly the same
// amounts. Hosts differ or are alike, and share processors or sell whole cores.
func TestExportHeld(t *testing.T) {
	t.Parallel()
	const rules = "name: lab\nadmission: be\nmarket: {bidding: cheapest, resources: [memory, disk, fpga]}\nfloor_per_hour: {cpu: 0.01, memory: 0.001, gpu: 0.02}\n"
	for n := range 4 {
		alike, whole := n%2 == 0, n >= 2
		w := newTown(t, rules, 1)
		w.turn(message{Remove: "h00"})
		w.names, w.agents = nil, nil
		rooms := []hosts.Resources{{Memory: 4e9, Disk: 6e9, Counts: [hosts.MaxCounts]int32{1, 2}}, {Memory: 9e9, Disk: 6e9, Counts: [hosts.MaxCounts]int32{0, 1}}}
		if alike {
			rooms[1] = rooms[0]
		}
		for n, room := range rooms {
			w.provide(hosts.Spec{Name: fmt.Sprintf("n%d", n), CPUs: 2, Speed: 1, Room: room, Whole: whole && (alike || n == 1)})
			w.agents[n].Exits = func(contract int64) float64 { return []float64{31, 47, 112}[contract%3] }
		}
		for i := range 30 {
			terms := &order.Terms{Class: "be", Nodes: 1, CPUs: 1, Work: 100, Deadline: float64(150 + 10*(i%4)), Budget: bank.Micros(int64(20_000 + 1000*(i%7)))}
			switch i % 3 {
			case 0:
				terms.Counts = map[string]int32{"gpu": 1}
			case 1:
				terms.Counts = map[string]int32{"fpga": 1}
			}
			terms.Memory, terms.Disk = int64(1e9*(i%4)), int64(2e9*(i%2))
			if whole {
				terms.CPUs = []float64{1, 1, 2}[i%3]
			}
			if i%5 == 4 && !alike { // only on the host that shares its processors
				terms.CPUs, terms.Work = 0.5, 30
			}
			s := w.sign(fmt.Sprint(i), fmt.Sprintf("user:%d", i%3), 9000, terms, jobText)
			s = *w.conf.submission(s.Order, s.Job, terms, remote.Limits{})
			w.turn(message{Submit: &s})
			w.pass(19)
		}
		w.pass(300)
		x, jobs, text := w.ran()
		f := &x.Scenario.Configurations[0].Fleet
		if first := f.HeldOf(0); len(jobs) != 30 || first.Memory != 4e9 || first.Disk != 6e9 || f.WholeOf(1) != whole || f.WholeOf(0) != (whole && alike) || first.Count["gpu"] != 2 || first.Count["fpga"] != 1 || (len(f.Held) == 0) != alike {
			t.Fatalf("%d jobs, host 0 offers %v, %d amounts:\n%s", len(jobs), f.HeldOf(0), len(f.Held), text)
		}
		reasons, live, computed := map[string]int{}, 0.0, 0.0
		for i := range jobs {
			j, o := &jobs[i], &x.Outcomes[i]
			if reasons[o.Reason]++; j.Admitted() != (o.Decision == "accept") || string(j.Reason) != o.Reason {
				t.Errorf("contract %d: %s %s, and live %s %s", o.Job, j.Contract.Outcome, j.Reason, o.Decision, o.Reason)
			} else if j.Admitted() {
				live, computed = live+o.Paid, computed+j.Contract.Paid.Float64()
			}
		}
		if t.Log(alike, whole, reasons, live, computed); reasons["no room"] < 3 || reasons[""] < 10 {
			t.Errorf("%v: too few to compare", reasons)
		}
		if !(live > 0) || math.Abs(live-computed) > 0.05*live {
			t.Errorf("paid %v, and live %v", computed, live)
		}
	}
}

// TestChangedOffer checks the error for a host that joins again with other memory while it runs
// a task. The error must name memory and units instead of processors.
func TestChangedOffer(t *testing.T) {
	t.Parallel()
	w := newTown(t, file, 1)
	s := w.order("a", "user:0", "be", 1, 30, 60, 0.5)
	w.turn(message{Submit: &s})
	w.pass(2)
	spec := hosts.Spec{Name: "h00", CPUs: 1, Speed: 1, Room: hosts.Resources{Memory: 1e9}}
	r := w.turn(message{Join: &join{Spec: spec, Owner: "host:h00"}})
	const want = "host h00 runs 1 tasks; the resources that it offers (--ram, --storage, --bandwidth, --count) can change once these tasks have ended"
	if r[0].err == nil || r[0].err.Error() != want {
		t.Errorf("found %v, want %s", r[0].err, want)
	}
}
