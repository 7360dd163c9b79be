package experiments_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"bourse/experiments"
	"bourse/experiments/publication"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

var remadeDraws = flag.Uint64("remade.draws", 10, "number of random scenarios whose metrics TestRemade computes again")

// target describes the results of p in dir.
func target(t testing.TB, p *experiments.Prepared, dir string) publication.Target {
	t.Helper()
	var text bytes.Buffer
	if err := scenario.Write(&text, *p.Experiment); err != nil {
		t.Fatal(err)
	}
	return publication.Target{Dir: dir, Scenario: text.String(), Command: []string{"bourse", "run"}, Elapsed: func() float64 { return 0 }}
}

// TestRemade checks with random scenarios that an audit has no findings for correct results:
// the values computed from the rows of jobs must equal the values measured in the run.
func TestRemade(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		*remadeDraws = min(*remadeDraws, 6)
	}
	forms := []results.Tables{results.Both, results.Parquet, results.CSV}
	one := func(n uint64, e *scenario.Experiment) {
		p, err := experiments.Prepare(e)
		if err != nil {
			t.Fatal(err)
		}
		to := target(t, p, filepath.Join(t.TempDir(), "r"))
		to.Tables = forms[n%3]
		if _, err := publication.Publish(t.Context(), p, experiments.Options{}, to); err != nil {
			t.Fatal(err)
		}
		d, err := results.Open(to.Dir)
		if err != nil {
			t.Fatal(err)
		}
		none := func(*scenario.Experiment) []string { return nil }
		changes, beyond, err := publication.Rederive(t.Context(), d, none, true, false, experiments.Options{})
		if err != nil || len(changes) > 0 {
			t.Errorf("draw %d: found %v, %v, want nothing; not compared: %q", n, changes, err, beyond)
		}
	}
	for n, more := uint64(0), *remadeDraws/2; n < *remadeDraws || more > 0; n++ {
		if n == *remadeDraws {
			n = max(n, experiments.MatrixHashes)
		}
		e, follow, err := experiments.Drawn(n, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if n >= *remadeDraws && !follow {
			continue // other runs can contain more of these values if jobs follow others
		}
		if n >= *remadeDraws {
			more--
		}
		if e != nil {
			one(n, e)
		}
	}
}

// TestMatrixShards checks with random scenarios that merged shards equal a single run, in every
// format of the tables.
func TestMatrixShards(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 3))
	base := t.TempDir()
	for done := 0; done < 6; {
		n := rng.Uint64N(1 << 40)
		dir := filepath.Join(base, fmt.Sprint(n))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		e, _, err := experiments.Drawn(n, dir)
		if err != nil {
			t.Fatalf("seed %d, draw %d: %v", seed, n, err)
		}
		if e == nil {
			continue // the scenario is refused
		}
		e.Replications = 1 + rng.IntN(4)
		ready, err := experiments.Prepare(e)
		if err != nil {
			continue
		}
		done++
		ready.UnitRows = 1 + rng.IntN(200)
		tables, of := results.Tables(rng.IntN(4)), 1+rng.IntN(3)
		named := func(name string) publication.Target {
			p := target(t, ready, filepath.Join(dir, name))
			p.Tables, p.Ledgers, p.Of = tables, n%2 == 0, of
			return p
		}
		if _, err := publication.Publish(t.Context(), ready, experiments.Options{Workers: 2}, named("one")); err != nil {
			t.Errorf("seed %d, draw %d: %v", seed, n, err)
			continue
		}
		for k := range of {
			p := named("shards")
			p.Shard = k
			if err := publication.Shard(t.Context(), ready, experiments.Options{}, p); err != nil {
				t.Fatalf("seed %d, draw %d: %v", seed, n, err)
			}
		}
		u, err := results.ReadUnits(filepath.Join(dir, "shards"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := publication.Merge(ready.Experiment, []*results.Units{u}, named("merged")); err != nil {
			t.Fatalf("seed %d, draw %d: %v", seed, n, err)
		}
		one, err := results.Open(filepath.Join(dir, "one"))
		if err != nil {
			t.Fatal(err)
		}
		merged, err := results.Open(filepath.Join(dir, "merged"))
		if err != nil {
			t.Fatal(err)
		}
		if changes, err := one.Different(merged, func(string) bool { return false }); err != nil || len(changes) > 0 {
			t.Errorf("seed %d, draw %d: merged shards differ: %v, %v", seed, n, changes, err)
		}
		if t.Failed() {
			t.Fatalf("seed %d, draw %d", seed, n)
		}
	}
}
