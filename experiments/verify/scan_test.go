package verify

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"bourse/bank/audit"
	"bourse/bank/canonical"
)

// TestScan checks that notes which are read at once say what encoding/json reads in them,
// and can be read in one way: those that programs write, and as many of them as are still
// plain with a byte or two changed, left out or repeated.
func TestScan(t *testing.T) {
	t.Parallel()
	notes := []string{
		`{"decision":"accept","start":0,"mood":-0.1e+5,"submit":2.5,"deadline":100,"runs_on":true,"on_demand":false,"on":[7,"h000","h001",8,"h002"]}`,
		`{"decision":"accept","submit":0,"deadline":1,"per_host":true,"max_cpu":0.25,"penalty_rate":0.5,"penalty_max":3,"price":1e-9,"on":[7,"h0"]}`,
		`{"decision":"accept","ask":0.6,"submit":2,"deadline":50,"runs_on":true,"opens":20,"nodes":3,"host":"h1"}`,
		`{"decision":"reject","reason":"would violate","violates":2,"gets":1,"want":20}`,
		`{"state":"violated","work":9,"needed":8,"work_done":0,"killed":true,"losses":2,"wasted":3.5,"penalty_owed":"1.500000"}`,
	}
	const bytes = "{}[]\":,.-+eE0123456789\\ \n\x00\xffathrue_wokD"
	r := rand.New(rand.NewPCG(1, 2))
	plain := 0
	for i := range 40000 {
		text := []byte(notes[i%len(notes)])
		for range i / len(notes) % 3 {
			at := r.IntN(len(text))
			switch more := at + r.IntN(len(text)-at); r.IntN(3) {
			case 0:
				text[at] = bytes[r.IntN(len(bytes))]
			case 1:
				text = append(text[:at:at], text[at+1:]...)
			default:
				text = append(text[:more:more], text[at:]...)
			}
		}
		got := note{hosts: newHosts()}
		if got.empty(); !got.scan(text) {
			if i < len(notes) {
				t.Errorf("%s is not plain", text)
			}
			continue
		}
		plain++
		want := note{hosts: got.hosts}
		want.empty()
		for _, v := range []any{&want.terms, &want.verdict, &want.rejection} {
			if err := json.Unmarshal(text, v); err != nil {
				t.Fatalf("%s is plain: %v", text, err)
			}
		}
		if err := canonical.Check(text, noted...); err != nil {
			t.Fatalf("%s is plain: %v", text, err)
		}
		want.terms.on, want.terms.On, want.terms.Decision = want.terms.places(got.hosts), nil, ""
		if got, want := fmt.Sprintf("%+v %+v", got.terms, got.verdict), fmt.Sprintf("%+v %+v", want.terms, want.verdict); got != want {
			t.Fatalf("%s is read as\n%s, want\n%s", text, got, want)
		}
		if g, w := got.rejection, want.rejection; g.Reason != w.Reason || (g.Violates == nil) != (w.Violates == nil) || g.Violates != nil && *g.Violates != *w.Violates {
			t.Fatalf("%s is read as %+v, want %+v", text, g, w)
		}
	}
	if plain < 16000 {
		t.Errorf("%d notes were plain, want more", plain)
	}
}

// TestReadAllocates checks that to read the notes that programs write takes no memory.
func TestReadAllocates(t *testing.T) {
	n := note{hosts: newHosts()}
	admit := audit.Entry{Kind: audit.Admit, Note: []byte(`{"decision":"accept","submit":2.5,"deadline":100,"price":0.1,"on":[7,"h000","h001",8,"h002"]}`)}
	settle := audit.Entry{Kind: audit.Settle, Note: []byte(`{"state":"fulfilled","work":200,"work_done":199.5}`)}
	if got := testing.AllocsPerRun(100, func() { n.read(&admit); n.read(&settle) }); got != 0 || n.verdict.Done != 199.5 {
		t.Errorf("%v allocations, want none", got)
	}
}
