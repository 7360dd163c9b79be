package optimum_test

import (
	"bufio"
	"compress/gzip"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"bourse/experiments/optimum"
	"bourse/workloadgen"
)

// TestTrace checks 2,000 consecutive jobs of a real machine with 100 processors and random
// values. The plan must be feasible and proven to be within 1 % of the optimum.
func TestTrace(t *testing.T) {
	t.Parallel()
	const file = "../../../shared/traces/KTH-SP2-1996-2.1-cln.swf.gz"
	f, err := os.Open(file)
	if err != nil {
		t.Skipf("the trace is not here: %v", err)
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 8))
	var jobs []workloadgen.Job
	for lines := bufio.NewScanner(text); len(jobs) < 2000 && lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 5 || fields[0] == ";" {
			continue
		}
		arrival, err1 := strconv.ParseFloat(fields[1], 64)
		runtime, err2 := strconv.ParseFloat(fields[3], 64)
		nodes, err3 := strconv.Atoi(fields[4])
		if err1 != nil || err2 != nil || err3 != nil || runtime <= 0 || nodes < 1 {
			continue
		}
		value := (0.1 + rng.ExpFloat64()) * runtime * float64(nodes)
		jobs = append(jobs, workloadgen.Job{Arrival: arrival, Runtime: runtime, Nodes: nodes, Value: value})
	}
	if len(jobs) != 2000 {
		t.Fatalf("%d jobs", len(jobs))
	}
	s := new(optimum.Solver).Solve(jobs, 100, 100, optimum.Limits{})
	check(t, "trace", jobs, 100, 100, s)
	t.Logf("value %.0f, bound %.0f, %d states", s.Value, s.Bound, s.States)
	if s.Bound > 1.01*s.Value {
		t.Errorf("value %v, bound %v, want them within 1 %%", s.Value, s.Bound)
	}
}
