package experiments

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// starPolicies are the built-in policies for which examples/policies has a script. For sac, it also
// has a program.
var starPolicies = []string{"be", "sac", "cac", "rac", "fcfs", "sac.py"}

// starOf returns the choice of a policy with its sharing rule, either built in or as a
// script or program.
func starOf(t testing.TB, name string, script bool) *branch {
	sharing := "auction"
	if name == "fcfs" {
		sharing = "exclusive"
	}
	label, program := strings.CutSuffix(name, ".py")
	if !script {
		return fork("", leaf("name", label), leaf("sharing", sharing))
	}
	if !program {
		name += ".star"
	}
	file, err := filepath.Abs("examples/policies/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if program {
		return fork("", leaf("name", "program"), leaf("label", label), leaf("sharing", sharing), leaf("command", "[python3, "+file+"]"))
	}
	return fork("", leaf("name", "script"), leaf("label", label), leaf("sharing", sharing), leaf("file", file))
}

// withPolicy returns draw n of the matrix with the given policy. It returns nil if the draw
// is for policies that plan or pack nodes, if contracts pay the percentile that only the built-in
// cac promises, or if nodes have needs or hosts floor prices, of which sac.py knows nothing. It also
// returns nil for sac.py under the forecaster conformal, because a program requests the percentiles
// of all hosts, and this forecaster tracks a host from the first request.
func withPolicy(t testing.TB, n uint64, name string, script bool) *drawing {
	g := draw(n)
	var text strings.Builder
	g.root.block(&text, "")
	if strings.Contains(text.String(), "reserve") || strings.Contains(text.String(), "planned") || strings.Contains(text.String(), "pack") ||
		name == "cac" && strings.Contains(text.String(), "payment: percentile") ||
		name == "sac.py" && (strings.Contains(text.String(), "needs") || strings.Contains(text.String(), "floor_per_hour") || strings.Contains(text.String(), "resources") || strings.Contains(text.String(), "conformal")) {
		return nil
	}
	for _, b := range g.root.in[3].in {
		if b.name == "admission" {
			b.in = []*branch{starOf(t, name, script)}
		}
	}
	return g
}

// TestScriptsAsBuiltIn checks that each script in examples/policies publishes the same
// bytes as the built-in policy, on the markets of the matrix.
func TestScriptsAsBuiltIn(t *testing.T) {
	t.Parallel()
	draws := uint64(200)
	if testing.Short() {
		draws = 20
	}
	if os.Getenv("BOURSE_MATRIX_SCRIPTS") != "" { // the acceptance test runs 2,000 markets
		draws = 2000
	}
	dir, ran, kinds := t.TempDir(), 0, map[string]int{}
	hash := func(g *drawing) (string, error) {
		if err := g.write(dir); err != nil {
			t.Fatal(err)
		}
		e, err := parse(dir)
		var no refused
		switch {
		case errors.As(err, &no):
			return "refused", nil
		case err != nil:
			return "", err
		}
		r, err := alone(e)
		if err != nil {
			return "", err
		}
		ran++
		return r.hash, nil
	}
	for i := range draws {
		n, name := i*(2000/draws), starPolicies[i%uint64(len(starPolicies))] // only draws with higher numbers have prices for memory and GPUs
		built := withPolicy(t, n, name, false)
		if _, missing := exec.LookPath("python3"); built == nil || name == "sac.py" && missing != nil {
			continue
		}
		want, err := hash(built)
		if err != nil {
			t.Fatalf("draw %d, %s: %v", n, name, err)
		}
		got, err := hash(withPolicy(t, n, name, true))
		if err != nil {
			t.Errorf("draw %d, script or program of %s: %v", n, name, err)
		} else if got != want {
			t.Errorf("draw %d: the script or program of %s publishes %.8s, the built-in policy %.8s", n, name, got, want)
		}
		if got != "refused" {
			kinds[name]++
		}
	}
	if ran < int(draws)/2 {
		t.Errorf("%d of %d markets ran: too few", ran, 2*draws)
	}
	t.Logf("%d runs, markets by policy: %v", ran, kinds)
}
