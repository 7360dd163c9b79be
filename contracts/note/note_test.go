package note

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bourse/bank"
	"bourse/contracts"
	"bourse/hosts"
)

// TestTerms checks the agreed terms in the note of an admission, and that only the hosts are
// omitted if the list would not fit.
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

// TestBooked checks the note of a booked contract: the note has one host for all nodes, or the
// number of nodes on each host, and states that the work may continue after the deadline.
func TestBooked(t *testing.T) {
	t.Parallel()
	r := contracts.Request{Submit: 2, Lead: 18, Nodes: 3, SLA: contracts.SLA{Deadline: 50}}
	d := contracts.Decision{Verdict: contracts.Accept, Numbers: contracts.Numbers(nil).With("start", 20), Placements: []contracts.Placement{{Host: 1}}}
	got := string(Terms{Decision: &d, Request: &r, Booked: true, Name: func(h hosts.ID) string { return fmt.Sprint("h", h) }}.Append(nil))
	if want := `{"decision":"accept","start":20,"submit":2,"deadline":50,"runs_on":true,"opens":20,"nodes":3,"host":"h1"}`; got != want {
		t.Errorf("terms = %s, want %s", got, want)
	}
	for range bank.MaxNote {
		d.Placements = append(d.Placements, contracts.Placement{Nodes: 1})
	}
	got = string(Terms{Decision: &d, Request: &r, Booked: true, Name: func(hosts.ID) string { return "h" }}.Append(nil))
	if want := `{"decision":"accept","start":20,"submit":2,"deadline":50,"runs_on":true,"opens":20,"nodes":3}`; got != want {
		t.Errorf("terms on very many hosts = %s, want %s", got, want)
	}
	d.Placements = []contracts.Placement{{Host: 1, Nodes: 2}, {Host: 0, Nodes: 1}}
	got = string(Terms{Decision: &d, Request: &r, Booked: true, Name: func(h hosts.ID) string { return fmt.Sprint("h", h) }}.Append(nil))
	if want := `{"decision":"accept","start":20,"submit":2,"deadline":50,"runs_on":true,"opens":20,"nodes":3,"parts":[2,"h1",1,"h0"]}`; got != want {
		t.Errorf("terms = %s, want %s", got, want)
	}
}

// TestVerdict checks that the note of a settlement has the true work if the estimate was
// different, has the lost work if there is any, and omits empty fields.
func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v    Verdict
		want string
	}{
		{Verdict{State: "fulfilled", Work: 200, Needed: 200, ByDue: 200}, `{"state":"fulfilled","work":200,"work_done":200}`},
		{Verdict{State: "violated", Work: 20, Needed: 200, ByDue: 50, Penalty: bank.Micros(1500000)}, `{"state":"violated","work":20,"needed":200,"work_done":50,"penalty_owed":"1.500000"}`},
		{Verdict{State: "violated", Work: 9, Needed: 9, ByDue: 1, Killed: true}, `{"state":"violated","work":9,"work_done":1,"killed":true}`},
		{Verdict{State: "violated", Work: 9, Needed: 9, Fault: "command"}, `{"state":"violated","work":9,"work_done":0,"fault":"command"}`},
		{Verdict{State: "violated", Work: 9, Needed: 9, Losses: 2, Wasted: 3.5}, `{"state":"violated","work":9,"work_done":0,"losses":2,"wasted":3.5}`},
	} {
		if got := string(c.v.Append(nil)); got != c.want {
			t.Errorf("verdict = %s, want %s", got, c.want)
		}
	}
}

// TestParseAgreement checks that the parsed terms equal the agreed ones, that an unbounded
// penalty has no bound, and that a policy's own numbers are present.
func TestParseAgreement(t *testing.T) {
	t.Parallel()
	name := func(h hosts.ID) string { return fmt.Sprint("h", h) }
	d := contracts.Decision{Verdict: contracts.Accept, Numbers: contracts.Numbers{}.With("mood", 0.1), Placements: []contracts.Placement{{Host: 1, Bid: 7}, {Host: 2, Bid: 7}}}
	d.Price(0)
	r := contracts.Request{Submit: 2, Lead: 18, Nodes: 3, PerHost: true, OnDemand: true, SLA: contracts.SLA{Deadline: 50, Penalty: contracts.Penalty{Rate: 1, Max: math.Inf(1)}}}
	r.Needs.Max.CPU = 0.25
	ask := 0.0
	placed := Agreement{
		Decision: "accept", Ask: &ask, Submit: 2, Deadline: 50, OnDemand: true, PerHost: true, MaxCPU: 0.25,
		PenaltyRate: 1, PenaltyMax: math.Inf(1), On: []any{7., "h1", "h2"},
		Numbers: map[string]float64{"mood": 0.1, "ask": 0, "submit": 2, "deadline": 50, "max_cpu": 0.25, "penalty_rate": 1},
	}
	booked := placed
	booked.RunsOn, booked.On, booked.Opens, booked.Nodes, booked.Host = true, nil, 20, 3, "h1"
	booked.Numbers = maps.Clone(placed.Numbers)
	booked.Numbers["opens"], booked.Numbers["nodes"] = 20, 3
	apart := booked
	apart.Host, apart.Parts = "", []any{2., "h1", 1., "h2"}
	for _, want := range []Agreement{placed, booked, apart} {
		d := d
		switch {
		case want.Host != "":
			d.Placements = d.Placements[:1]
		case want.Parts != nil:
			d.Placements = []contracts.Placement{{Host: 1, Nodes: 2}, {Host: 2, Nodes: 1}}
		}
		text := Terms{Decision: &d, Request: &r, Booked: want.On == nil, Name: name}.Append(nil)
		if got, err := ParseAgreement(text); err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%s is read as %+v, %v, want %+v", text, got, err, want)
		}
	}
	if _, err := ParseAgreement([]byte(`{"submit":"today"}`)); err == nil {
		t.Error("a submission today is no instant")
	}
}

// TestParseVerdict checks that any verdict is parsed as it was written.
func TestParseVerdict(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Float64Range(0, 1e300)
		want := Verdict{
			State: rapid.SampledFrom([]string{"fulfilled", "violated", "cancelled"}).Draw(t, "state"),
			Work:  number.Draw(t, "work"), ByDue: number.Draw(t, "done"), Killed: rapid.Bool().Draw(t, "killed"),
			Fault:  rapid.SampledFrom([]string{"", "command"}).Draw(t, "fault"),
			Losses: rapid.IntRange(0, 3).Draw(t, "losses"), Penalty: bank.Micros(rapid.Int64Range(0, 1e15).Draw(t, "penalty")),
		}
		want.Needed = rapid.SampledFrom([]float64{want.Work, number.Draw(t, "needed")}).Draw(t, "which")
		if want.Losses > 0 {
			want.Wasted = number.Draw(t, "wasted")
		}
		text := want.Append(nil)
		if got, err := ParseVerdict(text); err != nil || got != want {
			t.Fatalf("%s is read as %+v, %v, want %+v", text, got, err, want)
		}
	})
	if _, err := ParseVerdict([]byte("settled by hand")); err == nil {
		t.Error("a text is no verdict")
	}
}

// TestFields checks that fields are returned in order, and that a value that is not an object
// has no fields.
func TestFields(t *testing.T) {
	t.Parallel()
	got, ok := Fields([]byte(`{"b":1e400,"a":["x",2],"c":true}`))
	want := []Field{{"b", json.Number("1e400")}, {"a", []any{"x", json.Number("2")}}, {"c", true}}
	if !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, ok, want)
	}
	if got, ok := Fields([]byte(`[1]`)); ok {
		t.Errorf("a list has fields %v", got)
	}
}

// TestMaxNote checks that hosts are listed as long as the note, including brackets and spare
// bytes, does not exceed the maximum length.
func TestMaxNote(t *testing.T) {
	t.Parallel()
	for what, terms := range map[string]Terms{
		"its host": {
			Decision: &contracts.Decision{Verdict: contracts.Accept, Placements: []contracts.Placement{{Bid: 7}}},
			Request:  &contracts.Request{SLA: contracts.SLA{Deadline: 50}},
		},
		"its gangs": {
			Decision: &contracts.Decision{Verdict: contracts.Accept, Placements: []contracts.Placement{{Nodes: 2}, {Nodes: 1, Host: 1}}},
			Request:  &contracts.Request{Nodes: 3, SLA: contracts.SLA{Deadline: 50}},
			Booked:   true,
		},
	} {
		for _, spare := range []int{0, 100} {
			terms.Spare = spare
			size := func(name int) int {
				terms.Name = func(h hosts.ID) string { return strings.Repeat("h", name*int(1-h)) } // length of the name of host 0
				return len(terms.Append(nil))
			}
			most := bank.MaxNote - spare
			fits := most - size(0)
			if got := size(fits); got != most {
				t.Errorf("a note with room for %s is %d bytes, want %d", what, got, most)
			}
			if got := size(fits + 1); got > 250 {
				t.Errorf("a note without room for %s is %d bytes, and says it", what, got)
			}
		}
	}
}

// TestText checks that each byte and rune of a name is written as encoding/json writes it.
func TestText(t *testing.T) {
	t.Parallel()
	for r := rune(0); r < 0x180; r++ {
		for _, s := range []string{string(r), "host" + string(r), string([]byte{byte(r)})} {
			want, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			if got := text(nil, s); string(got) != string(want) {
				t.Errorf("%q is written %s, want %s", s, got, want)
			}
		}
	}
}

// TestReserved checks that every field that the package comment names is reserved, and that
// notes with all fields have no other fields.
func TestReserved(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("note.go")
	if err != nil {
		t.Fatal(err)
	}
	doc, _, _ := strings.Cut(string(source), "package note")
	_, table, _ := strings.Cut(doc, "are a public format:")
	n := 0
	for _, m := range regexp.MustCompile(`(?m)^//\t([a-z_]+)  +\S`).FindAllStringSubmatch(table, -1) {
		if n++; !Reserved(m[1]) {
			t.Errorf("%s is a field of notes and not reserved", m[1])
		}
	}
	r := contracts.Request{PerHost: true, OnDemand: true, Nodes: 2, SLA: contracts.SLA{Deadline: 1, Soft: true, Penalty: contracts.Penalty{Rate: 1, Max: 2}}}
	r.Needs.Max.CPU = 1
	d := contracts.Decision{Verdict: contracts.Accept, Reason: "x", Placements: []contracts.Placement{{Nodes: 1}, {Nodes: 1}}}
	d.Price(1)
	name := func(hosts.ID) string { return "h" }
	terms := Terms{Decision: &d, Request: &r, Name: name, Floor: 1, Part: 1, Most: 1}
	booked := terms
	booked.Booked = true
	one := booked
	one.Decision = &contracts.Decision{Placements: d.Placements[:1]}
	verdict := Verdict{"violated", 1, 2, 3, true, false, "command", 1, 2, bank.Micros(1), 1}
	for _, note := range [][]byte{terms.Append(nil), booked.Append(nil), one.Append(nil), verdict.Append(nil)} {
		fields, ok := Fields(note)
		if !ok || len(fields) < 8 {
			t.Errorf("%s has %d fields", note, len(fields))
		}
		for _, f := range fields {
			if n++; !Reserved(f.Name) {
				t.Errorf("%s is a field of %s and not reserved", f.Name, note)
			}
		}
	}
	if n < 60 {
		t.Errorf("%d fields seen", n)
	}
}
