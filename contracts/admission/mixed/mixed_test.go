package mixed

import (
	"fmt"
	"strings"
	"testing"

	"bourse/contracts"
	"bourse/contracts/admission/policytest"
	"bourse/hosts"
)

type (
	stand = policytest.Stand
	stall = policytest.Stall
)

// Reasons of the combined policies.
const (
	belowSpot = "share below threshold at spot price"
	byLot     = "drawn by lot"
)

// TestClass checks that a request goes to the policy of the class that it names, in upper or
// lower case (spec §2: BE, SAC, CAC, RAC), and is rejected if there is no such class.
func TestClass(t *testing.T) {
	t.Parallel()
	for class, want := range map[string]contracts.Reason{
		"": contracts.None, "be": contracts.None, "BE": contracts.None,
		"sac": belowSpot, "SAC": belowSpot, "Cac": belowSpot,
		"RAC": byLot, "gold": noClass,
	} {
		s := &stand{Hosts: []stall{{Spec: hosts.Spec{CPUs: 2, Cap: 1, Speed: 1}, Price: 1}}}
		r := policytest.Wish(50, 1, 0.02)
		r.Class = class
		if d := newDecider(t, "class", options{"rac": map[string]any{"reject": 1.0}}).Decide(0, &r, s); d.Reason != want {
			t.Errorf("class %q: %v, want %v", class, d.Reason, want)
		}
	}
}

// A busy is a stand whose hosts change.
type busy struct {
	*stand
	changed []hosts.ID
	gone    []bool
}

func (b *busy) Changed() []hosts.ID { return b.changed }

func (b *busy) Unavailable(h hosts.ID) bool { return b.gone[h] }

// TestAdaptive checks which policy decides as the load rises and falls. The high-load policy
// decides from the threshold on, until the load is below the threshold by the margin. Absent
// hosts do not count.
func TestAdaptive(t *testing.T) {
	t.Parallel()
	host := stall{Spec: hosts.Spec{CPUs: 2, Cap: 1, Speed: 1}, Price: 1}
	s := &busy{stand: &stand{Hosts: []stall{host, host}}, gone: make([]bool, 2)}
	p := newDecider(t, "adaptive", options{"high": "rac", "rac": map[string]any{"reject": 1.0}, "above": 0.75, "margin": 0.25})
	for i, c := range []struct {
		tasks  int // number of tasks on the first host
		nodes  int
		load   float64
		strict bool
	}{
		{0, 1, 0.25, false},
		{1, 1, 0.5, false},
		{0, 3, 0.75, true},
		{1, 2, 0.75, true},
		{1, 1, 0.5, true}, // not below 0.75 minus 0.25
		{0, 1, 0.25, false},
		{1, 1, 0.5, false},
	} {
		s.Hosts[0].Allocations = make([]contracts.Allocation, c.tasks)
		s.changed = []hosts.ID{0}
		r := policytest.Wish(1, c.nodes, 100)
		d := p.Decide(0, &r, s)
		want := contracts.None
		if c.strict {
			want = byLot
		}
		_, load := d.Numbers[0].Value()
		_, strict := d.Numbers[1].Value()
		if d.Reason != want || load != c.load || (strict == 1) != c.strict {
			t.Errorf("step %d, %d tasks and %d nodes: %q at load %v, strict %v, want %q at %v, %v", i, c.tasks, c.nodes, d.Reason, load, strict, want, c.load, c.strict)
		}
	}
	s.gone[1] = true
	s.changed = []hosts.ID{1}
	r := policytest.Wish(1, 1, 100)
	if _, load := p.Decide(0, &r, s).Numbers[0].Value(); load != 1 { // a task and a node on the two remaining processors
		t.Errorf("load %v with a host away, want 1", load)
	}
	s.gone[0] = true
	s.changed = []hosts.ID{0}
	if name, _ := p.Decide(0, &r, s).Numbers[0].Value(); name != "strict" { // the decision has no number for it
		t.Errorf("with all hosts away the first number is %s", name)
	}
}

// TestPartition checks the hosts on which a request is placed, depending on its class and on
// prices. Reservations use the first hosts, and spot contracts use the others. A request
// without a class goes to the spot partition if it cannot have a reservation. A class that is
// not sold is rejected.
func TestPartition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		class    string
		reserved float64
		price    float64 // price of the first two hosts; other hosts cost nothing
		nodes    int
		hosts    string
		reason   contracts.Reason
	}{
		{"", 0.5, 0, 2, "0 1", contracts.None},
		{"", 0.5, 1, 2, "2 3", contracts.None}, // too expensive as a reservation
		{"", 0, 0, 3, "0 1 2", contracts.None},
		{"", 1, 1, 1, "", contracts.TooFewHosts}, // there is no spot partition
		{"cac", 0.5, 0, 2, "0 1", contracts.None},
		{"CAC", 0.5, 1, 2, "", belowSpot},
		{"sac", 0.5, 0, 3, "", contracts.TooFewHosts},
		{"be", 0.5, 0, 2, "2 3", contracts.None},
		{"rac", 0.25, 0, 3, "1 2 3", contracts.None},
		{"gold", 0.5, 0, 1, "", noClass},
	} {
		s := &stand{Hosts: make([]stall, 4)}
		for h := range s.Hosts {
			s.Hosts[h].Spec = hosts.Spec{CPUs: 2, Cap: 1, Speed: 1}
			if h < 2 {
				s.Hosts[h].Price = c.price
			}
		}
		r := policytest.Wish(50, c.nodes, 0.02)
		r.Class = c.class
		d := newDecider(t, "partition", options{"reserved": c.reserved, "rac": map[string]any{"reject": 0.0}}).Decide(0, &r, s)
		var got []string
		for _, pl := range d.Placements {
			got = append(got, fmt.Sprint(pl.Host))
		}
		if strings.Join(got, " ") != c.hosts || d.Reason != c.reason {
			t.Errorf("class %q of %d nodes, %v reserved at %v: on %v: %q, want %q: %q", c.class, c.nodes, c.reserved, c.price, got, d.Reason, c.hosts, c.reason)
		}
	}
}

// TestSide checks which hosts are present in a partition: the hosts in its range that have not
// left.
func TestSide(t *testing.T) {
	t.Parallel()
	s := &busy{stand: &stand{Hosts: make([]stall, 6)}, gone: make([]bool, 6)}
	s.gone[3] = true
	v := &side{View: s, from: 2, to: 5}
	for h, want := range []bool{true, true, false, true, false, true} {
		if got := v.Unavailable(hosts.ID(h)); got != want {
			t.Errorf("host %d is away: %v, want %v", h, got, want)
		}
	}
}
