package note

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/hosts"
)

// TestTerms checks what the note of an admission says was agreed, and that hosts
// are left out, and nothing else, where they would not fit.
func TestTerms(t *testing.T) {
	t.Parallel()
	name := func(h hosts.ID) string { return fmt.Sprintf("h%03d", h) }
	terms := func(r *contracts.Request, on []contracts.Placement) string {
		d := contracts.Decision{Verdict: contracts.Accept, Placements: on}
		return string(Terms{Decision: &d, Request: r, Name: name}.Append(nil))
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
		got := terms(&c.request, c.on)
		if got != c.want {
			t.Errorf("terms on %d hosts = %s, want %s", len(c.on), got, c.want)
		}
	}
	most := terms(&plain, places(570))
	if !json.Valid([]byte(most)) || len(most) > bank.MaxNote || !strings.Contains(most, `"h569"`) {
		t.Errorf("570 hosts in %d bytes: %.100s", len(most), most)
	}
}

// TestBooked checks what the note of a booked contract says: one host for all nodes,
// and that it may go on after its deadline.
func TestBooked(t *testing.T) {
	t.Parallel()
	r := contracts.Request{Submit: 2, Lead: 18, Nodes: 3, SLA: contracts.SLA{Deadline: 50}}
	d := contracts.Decision{Verdict: contracts.Accept, Start: 20, Placements: []contracts.Placement{{Host: 1}}}
	got := string(Terms{Decision: &d, Request: &r, Booked: true, Name: func(h hosts.ID) string { return fmt.Sprint("h", h) }}.Append(nil))
	if want := `{"decision":"accept","start":20,"submit":2,"deadline":50,"runs_on":true,"opens":20,"nodes":3,"host":"h1"}`; got != want {
		t.Errorf("terms = %s, want %s", got, want)
	}
}

// TestVerdict checks that the note of a settlement says what work was truly needed
// where its owner had estimated something else, what was lost where something was,
// and nothing that says nothing.
func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v    Verdict
		want string
	}{
		{Verdict{State: "fulfilled", Work: 200, Needed: 200, ByDue: 200}, `{"state":"fulfilled","work":200,"work_done":200}`},
		{Verdict{State: "violated", Work: 20, Needed: 200, ByDue: 50, Penalty: bank.Micros(1500000)}, `{"state":"violated","work":20,"needed":200,"work_done":50,"penalty_owed":"1.500000"}`},
		{Verdict{State: "violated", Work: 9, Needed: 9, ByDue: 1, Killed: true}, `{"state":"violated","work":9,"work_done":1,"killed":true}`},
		{Verdict{State: "violated", Work: 9, Needed: 9, Losses: 2, Wasted: 3.5}, `{"state":"violated","work":9,"work_done":0,"losses":2,"wasted":3.5}`},
	} {
		if got := string(c.v.Append(nil)); got != c.want {
			t.Errorf("verdict = %s, want %s", got, c.want)
		}
	}
}
