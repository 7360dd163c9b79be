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
// request. It fails for contract 7, whose rejection does not change the state.
const counting = `
def start():
    return {"n": 0, "ended": []}

def ended(request, outcome, state):
    state["ended"].append([request.id, outcome])

def decide(request, market, state):
    state["n"] += 1
    if request.id % (1 << 32) == 7:
        fail("no sevens")
    on = market.place()
    if type(on) == "string":
        return reject(on)
    if state["n"] % 4 == 0:
        return reject("every fourth", {"n": state["n"]})
    return accept(on, {"n": state["n"], "drawn": random()})
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
	if !strings.Contains(state, `"n":11`) || !strings.Contains(state, "fulfilled") {
		t.Errorf("the state is %s", state)
	}
	if n := strings.Count(strings.Join(want, "\n"), "the policy failed"); n != 1 {
		t.Errorf("%d requests were rejected because the policy failed, want 1", n)
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

// TestScriptFails checks that the market continues after its script has failed or exceeded the
// limit of steps.
func TestScriptFails(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "mine.star")
	if err := os.WriteFile(script, []byte(`
def decide(request, market):
    if request.nodes == 2:
        return request.nothing
    for i in range(1000000 if request.nodes == 3 else 0):
        market.now
    return accept(market.place())
`), 0o666); err != nil {
		t.Fatal(err)
	}
	w := newTown(t, "name: lab\nadmission: {name: script, file: "+script+"}", 3)
	var failed []string
	w.market.world.Failed = func(err error) { failed = append(failed, err.Error()) }
	for i, nodes := range []int{1, 2, 3, 1} {
		s := w.order(fmt.Sprint(i), "user:1", "", nodes, 5, 60, 0.05)
		w.turn(message{Submit: &s})
	}
	if len(failed) != 2 || !strings.Contains(failed[0], "mine.star:4:23: request has no field nothing") || !strings.Contains(failed[1], "steps") {
		t.Errorf("the errors are %q", failed)
	}
	if n := strings.Count(strings.Join(w.entries(), "\n"), "the policy failed"); n != 2 {
		t.Errorf("%d requests were rejected because the policy failed, want 2", n)
	}
}
