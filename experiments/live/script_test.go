package live

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A counting is a policy whose decision depends on its state: it rejects every fourth
// request.
const counting = `
def start():
    return {"n": 0, "ended": []}

def ended(request, outcome, state):
    state["ended"].append([request.id, outcome])

def decide(request, market, state):
    state["n"] += 1
    on = market.place()
    if type(on) == "string":
        return reject(on)
    if state["n"] % 4 == 0:
        return reject("every fourth", {"n": state["n"]})
    return accept(on, {"n": state["n"]})
`

// TestScript checks that a market whose policy is a script with a state has the same state
// with and without kills. A changed script and external programs must be refused.
func TestScript(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := filepath.Join(dir, "mine.star")
	if err := os.WriteFile(script, []byte(counting), 0o666); err != nil {
		t.Fatal(err)
	}
	file := "name: lab\nadmission: {name: script, file: " + script + "}\nleaving: {rule: suspend}"
	run := func(every int64) (lines []string, state string) {
		w := newTown(t, file, 2)
		w.every = every
		n := 0
		w.kill = func(string) bool {
			n++
			return every > 0 && n%23 == 0
		}
		if every > 0 {
			w.market.every = every
		}
		for i := range 12 {
			s := w.order(fmt.Sprint(i), fmt.Sprintf("user:%d", i%3), "", 1+i%2, 5, float64(10+4*i), 0.05)
			w.turn(message{Submit: &s})
			w.pass(2)
		}
		w.pass(50)
		p := w.market.core.broker.Policy.(interface{ State() []byte })
		return w.entries(), string(p.State())
	}
	want, state := run(0)
	if !strings.Contains(state, `"n":12`) || !strings.Contains(state, "fulfilled") {
		t.Errorf("the state is %s", state)
	}
	for _, every := range []int64{1, 7, 1000} {
		if got, after := run(every); after != state || !slices.Equal(got, want) {
			t.Errorf("with kills and a checkpoint every %d records the state is %s, want %s", every, after, state)
		}
	}
	if _, err := Parse("lab.yaml", []byte("name: lab\nadmission: {name: program, command: [cat]}")); err == nil || !strings.Contains(err.Error(), "want a script") {
		t.Errorf("a program: %v, want an error", err)
	}
	if _, err := Parse("lab.yaml", []byte("name: lab\nadmission: {name: script, file: none.star}")); err == nil {
		t.Error("a script that does not exist is accepted")
	}
}
