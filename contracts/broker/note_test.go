package broker

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/hosts"
	"bourse/hosts/sim"
)

// TestTerms checks what the note of an admission says was agreed, and that hosts
// are left out, and nothing else, where they would not fit.
func TestTerms(t *testing.T) {
	t.Parallel()
	b := new(Broker)
	b.venues = make([]venue, 1000)
	for h := range b.venues {
		b.venues[h].machine = sim.New(hosts.Spec{Name: fmt.Sprintf("h%03d", h)})
	}
	places := func(n int) (on []contracts.Placement) {
		for h := range n {
			on = append(on, contracts.Placement{Host: hosts.ID(h), Bid: 7})
		}
		return on
	}
	three := places(3)
	three[2].Bid = 8
	plain := contracts.Request{Submit: 2.5, SLA: contracts.SLA{Deadline: 100}}
	full := contracts.Request{PerHost: true, SLA: contracts.SLA{
		Deadline: 1, Soft: true, Penalty: contracts.Penalty{Rate: 0.5, Max: 3},
	}}
	full.Needs.Max.CPU = 0.25
	unbounded := plain
	unbounded.SLA.Penalty = contracts.Penalty{Rate: 1e-3, Max: math.Inf(1)}
	for _, c := range []struct {
		request contracts.Request
		on      []contracts.Placement
		want    string
	}{
		{plain, three, `{"decision":"accept","submit":2.5,"deadline":100,"on":[7,"h000","h001",8,"h002"]}`},
		{full, places(1), `{"decision":"accept","submit":0,"deadline":1,"runs_on":true,"per_host":true,"max_cpu":0.25,"penalty_rate":0.5,"penalty_max":3,"on":[7,"h000"]}`},
		{unbounded, places(1), `{"decision":"accept","submit":2.5,"deadline":100,"penalty_rate":0.001,"on":[7,"h000"]}`},
		{plain, places(1000), `{"decision":"accept","submit":2.5,"deadline":100}`},
	} {
		got := string(b.appendTerms([]byte(`{"decision":"accept"}`), &c.request, &contracts.Decision{Placements: c.on}))
		if got != c.want {
			t.Errorf("terms on %d hosts = %s, want %s", len(c.on), got, c.want)
		}
	}
	most := string(b.appendTerms([]byte(`{"decision":"accept"}`), &plain, &contracts.Decision{Placements: places(570)}))
	if !json.Valid([]byte(most)) || len(most) > bank.MaxNote || !strings.Contains(most, `"h569"`) {
		t.Errorf("570 hosts in %d bytes: %.100s", len(most), most)
	}
}

// TestVerdictNote checks that the note of a settlement says what work was truly needed
// where its owner had estimated something else, and only there.
func TestVerdictNote(t *testing.T) {
	t.Parallel()
	c := contract{task: hosts.Task{Work: 100}}
	c.Request, c.Placements, c.ByDue = contracts.Request{Work: 100, Nodes: 2}, make([]contracts.Placement, 2), 50
	for _, w := range []struct {
		estimate float64
		want     string
	}{
		{100, `{"state":"active","work":200,"work_done":50}`},
		{10, `{"state":"active","work":20,"needed":200,"work_done":50}`},
	} {
		c.Request.Work = w.estimate
		if got := string(c.appendVerdict(nil, bank.Amount{})); got != w.want {
			t.Errorf("verdict on an estimate of %v = %s, want %s", w.estimate, got, w.want)
		}
	}
}

// TestPossible checks that nothing is settled that cannot be true of a contract.
func TestPossible(t *testing.T) {
	t.Parallel()
	b := new(Broker)
	b.venues = []venue{{capacity: 1}}
	for name, change := range map[string]func(c *contract){
		"":                              func(*contract) {},
		"-1 of 100":                     func(c *contract) { c.ByDue = -1 },
		"100.5 of 100":                  func(c *contract) { c.ByDue = 100.5 },
		"NaN of 100":                    func(c *contract) { c.ByDue = math.NaN() },
		"101 of 100 work done":          func(c *contract) { c.Done = 101 },
		"submitted at 6, admitted at 5": func(c *contract) { c.Submit = 6 },
		"admitted at 5, ended at 4":     func(c *contract) { c.Ended = 4 },
		"2.000000 charged":              func(c *contract) { c.Paid = bank.Micros(2e6) },
		"-0.000001 charged":             func(c *contract) { c.Paid = bank.Micros(-1) },
	} {
		c := contract{task: hosts.Task{Work: 100}}
		c.Placements, c.Submit, c.Admitted, c.Ended = make([]contracts.Placement, 1), 5, 5, 90
		c.Done, c.ByDue, c.Paid, c.SLA.Budget = 100, 100, bank.Micros(1e6), bank.Micros(1e6)
		change(&c)
		if err := b.possible(&c); (err == nil) != (name == "") || err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
