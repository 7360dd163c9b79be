package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// planted is a policy that fails in its second replication.
const planted = `package admission

import (
	"math/rand/v2"
	"sync/atomic"

	"bourse/contracts"
	"bourse/contracts/bidding"
)

type planted struct {
	*BestEffort
	broken bool
}

var made atomic.Int32

func newPlanted(_ func(any) error, bid bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	return Immediate(&planted{&BestEffort{bid: bid}, made.Add(1) == 3}), nil // the policy has been created for the check, for replication 0 and for replication 1
}

func (p *planted) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	if p.broken && now > 100 {
		panic("admission: planted\n\tat " + r.Class)
	}
	return p.BestEffort.Decide(now, r, v)
}
`

// runCrash runs a planted policy that panics. The user must read one sentence with the
// scenario, configuration, policy, replication, seed and a command that repeats the run.
// The named file must contain the stack. No other files may remain, and older results must
// not change.
func runCrash(t *testing.T, program string) {
	dir := t.TempDir()
	scenario := filepath.Join(dir, "s's.yaml")
	if err := os.WriteFile(scenario, []byte("preset: paper\nname: broken\nreplications: 3\nconfigurations:\n- {name: pareto-high, admission: [be, planted]}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	// crash runs a command in dir and returns the last line of its output.
	crash := func(command string) string {
		t.Helper()
		sh := exec.Command("sh", "-c", command)
		sh.Dir, sh.Env = dir, append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
		var out, errs bytes.Buffer
		sh.Stdout, sh.Stderr = &out, &errs
		var exit *exec.ExitError
		if err := sh.Run(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Fatalf("%s: %v, want exit status 1: %s", command, err, errs.Bytes())
		}
		if out.Len() > 0 || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%s: prints %q and says %q, want one sentence", command, out.String(), errs.String())
		}
		return strings.TrimSuffix(errs.String(), "\n")
	}
	sentence := regexp.MustCompile(`^bourse: scenario broken, configuration pareto-high, policy planted, replication 1, seed 5: panic: admission: planted at(?: \S+)?; to repeat it: (.*); the stack is in (\S+)$`)
	for _, c := range []struct{ command, again string }{
		{`bourse run "s's.yaml" --seed 5 --workers 1 --quiet`, `bourse run 's'\''s.yaml' --seed 5`},
		{`bourse run - --seed 5 --workers 1 --quiet < "s's.yaml"`, `bourse run - < `},
	} {
		said := crash(c.command)
		m := sentence.FindStringSubmatch(said)
		if m == nil || !strings.HasPrefix(m[1], c.again) {
			t.Fatalf("%s: says\n%s, want the command %q and the rest", c.command, said, c.again)
		}
		stack, err := os.ReadFile(filepath.Join(dir, m[2]))
		if err != nil || !strings.Contains(string(stack), "admission.(*planted).Decide") {
			t.Errorf("%s: %v, holds no stack that leads to the policy: %s", m[2], err, stack)
		}
		if m := sentence.FindStringSubmatch(crash(m[1] + " --workers 1 --quiet")); m == nil {
			t.Error("the command does not repeat it")
		}
	}
	left, err := os.ReadDir(filepath.Join(dir, "results"))
	if err != nil || len(left) != 4 || slices.ContainsFunc(left, func(e os.DirEntry) bool { return e.IsDir() || !strings.HasPrefix(e.Name(), "broken.panic-") }) {
		t.Errorf("left: %v, %v, want the files of four stacks alone", left, err)
	}
}

// TestCrashed checks the message for a panic in any other command. An error that is not a
// panic must stay unchanged.
func TestCrashed(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if status := run(t.Context(), []string{"bourse", "scenario", "check", "-"}, panics{}, &out, &errs); status != statusFailed {
		t.Errorf("status %d, want %d", status, statusFailed)
	}
	m := regexp.MustCompile(`^bourse: panic: the reader broke; the command was: bourse scenario check -; the stack is in (\S+)\n$`).FindStringSubmatch(errs.String())
	if m == nil {
		t.Fatalf("says %q", errs.String())
	}
	defer os.Remove(m[1])
	if stack, err := os.ReadFile(m[1]); err != nil || !strings.Contains(string(stack), "panics.Read") {
		t.Errorf("%v, the stack does not lead to the reader: %s", err, stack)
	}
	if err := fmt.Errorf("plain"); crashed(err, nil) != err {
		t.Error("an error is changed")
	}
}

// A panics is a reader whose Read panics.
type panics struct{}

func (panics) Read([]byte) (int, error) { panic("the reader broke") }
