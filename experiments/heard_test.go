package experiments

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// TestHeard checks that a unit contains the hash of the questions to an external program and of
// its answers. The hash must be the same if the unit runs again in a used worker, and different
// if an answer differs. Without a program, there must be no hash.
func TestHeard(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	file, err := filepath.Abs("examples/policies/policy.py")
	if err != nil {
		t.Fatal(err)
	}
	worker := func(policy string) *Worker {
		e, err := scenario.Parse("", fmt.Appendf(nil, "preset: paper\nname: x\nreplications: 4\nbase: {workload: {model: {jobs: 8}}, admission: [be, %s]}\nconfigurations: [{name: high}]\n", policy), Known())
		if err != nil {
			t.Fatal(err)
		}
		p, err := Prepare(&e)
		if err != nil {
			t.Fatal(err)
		}
		return p.Worker(results.None, Options{})
	}
	heard := func(w *Worker, from int) string {
		u, err := w.Run(t.Context(), Unit{0, from, from + 2}, nil, nil, func() {})
		if err != nil {
			t.Fatal(err)
		}
		return u.Heard
	}
	program := fmt.Sprintf("{name: program, command: [python3, %q], options: {limit: %%s}}", file)
	w := worker(fmt.Sprintf(program, "0.05"))
	first, second := heard(w, 0), heard(w, 2)
	if again := heard(w, 0); len(first) != 64 || first != again || first == second {
		t.Errorf("units are %q, %q, and the first again %q", first, second, again)
	}
	if other := heard(worker(fmt.Sprintf(program, "0.0001")), 0); len(other) != 64 || other == first {
		t.Errorf("with other answers: %q, want another hash than %q", other, first)
	}
	if none := heard(worker("sac"), 0); none != "" {
		t.Errorf("without a program: %q", none)
	}
}
