package publication

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bourse/experiments"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// to returns a publication of ready in dir.
func to(t testing.TB, ready *experiments.Prepared, dir string) Target {
	t.Helper()
	var text bytes.Buffer
	if err := scenario.Write(&text, *ready.Experiment); err != nil {
		t.Fatal(err)
	}
	return Target{Dir: dir, Scenario: text.String(), Command: []string{"bourse", "run"}, Elapsed: func() float64 { return 0 }}
}

// same compares two results directories byte for byte.
func same(t testing.TB, got, want string) {
	t.Helper()
	a, b := content(t, got), content(t, want)
	for name := range b {
		if !bytes.Equal(a[name], b[name]) {
			t.Errorf("%s: %d bytes, want other %d", name, len(a[name]), len(b[name]))
		}
	}
	if len(a) != len(b) {
		t.Errorf("%d files, want %d", len(a), len(b))
	}
}

func content(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	all := make(map[string][]byte)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		all[strings.TrimPrefix(path, dir)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestStopped checks that a run that is stopped and resumed any number of times writes the same
// bytes as an uninterrupted run, for any number of workers.
func TestStopped(t *testing.T) {
	t.Parallel()
	stopped(t, few(t, 7))
	stopped(t, mechanisms(t))
}

// mechanisms returns runs of policies that sell or divide processors by clearings.
func mechanisms(t *testing.T) *experiments.Prepared {
	t.Helper()
	const text = `name: mechanisms
replications: 7
base:
  fleet: {hosts: 12, cpus: 1}
  workload: {model: {name: paper, jobs: 50, users: 5}, funds: 1000}
  market: {sharing: exclusive, payment: bid}
  sla: {slack: 4, deadline: hard}
configurations:
  - {name: paid, admission: [posted, {name: spot, restore: 5}, {name: call, every: 60}]}
  - {name: free, market: {payment: free}, admission: [conservative, fairshare, drf, karma, slices]}
`
	e, err := scenario.Parse("mechanisms", []byte(text), scenario.Known{})
	if err != nil {
		t.Fatal(err)
	}
	ready, err := experiments.Prepare(&e)
	if err != nil {
		t.Fatal(err)
	}
	ready.UnitRows = 3 * 50 * 5
	return ready
}

func stopped(t *testing.T, ready *experiments.Prepared) {
	t.Helper()
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	base := t.TempDir()
	want := filepath.Join(base, "want")
	if _, err := Publish(t.Context(), ready, experiments.Options{}, to(t, ready, want)); err != nil {
		t.Fatal(err)
	}
	got := to(t, ready, filepath.Join(base, "got"))
	stops, found := 0, 0
	got.Found = func(done, total int) {
		if done < found || total != 7*len(ready.Experiment.Configurations) {
			t.Errorf("seed %d: found %d of %d after %d", seed, done, total, found)
		}
		found = done
	}
	for {
		ctx, stop := context.WithCancel(t.Context())
		left := 1 + rng.IntN(12) // number of replications until the run is stopped
		opts := experiments.Options{Workers: 1 + rng.IntN(3), Progress: func(done, total int) {
			if left--; left == 0 {
				stop()
			}
		}}
		_, err := Publish(ctx, ready, opts, got)
		stop()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if _, err := os.Stat(got.Dir); err == nil {
			t.Fatalf("seed %d: results of a run that was stopped", seed)
		}
		stops++
	}
	if stops == 0 || found == 0 {
		t.Errorf("seed %d: stopped %d times, found %d replications: nothing was tested", seed, stops, found)
	}
	same(t, got.Dir, want)
	if left, _ := filepath.Glob(filepath.Join(base, ".*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestShards checks that merging any number of shards in any order writes the same bytes as a
// single run.
func TestShards(t *testing.T) {
	t.Parallel()
	sharded(t, few(t, 7))
	sharded(t, mechanisms(t))
}

func sharded(t *testing.T, ready *experiments.Prepared) {
	t.Helper()
	base := t.TempDir()
	want := filepath.Join(base, "want")
	if _, err := Publish(t.Context(), ready, experiments.Options{Workers: 2}, to(t, ready, want)); err != nil {
		t.Fatal(err)
	}
	counts := []int{3, 1, 30}
	if testing.Short() {
		counts = counts[:1]
	}
	for _, n := range counts {
		var all []*results.Units
		for k := range n {
			p := to(t, ready, filepath.Join(base, fmt.Sprint(n), fmt.Sprint(k)))
			p.Shard, p.Of = k, n
			if err := Shard(t.Context(), ready, experiments.Options{Workers: 2}, p); err != nil {
				t.Fatal(err)
			}
			u, err := results.ReadUnits(p.Dir)
			if err != nil {
				t.Fatal(err)
			}
			all = append([]*results.Units{u}, all...)
		}
		p := to(t, ready, filepath.Join(base, "of", fmt.Sprint(n)))
		if _, err := Merge(ready.Experiment, all, p); err != nil {
			t.Fatal(err)
		}
		same(t, p.Dir, want)
		if n == 1 {
			continue
		}
		p.Dir += "-holes"
		_, err := Merge(ready.Experiment, all[1:], p)
		var holes *HolesError
		if !errors.As(err, &holes) || len(holes.Missing) == 0 && n < 13 || holes.Of != len(ready.Units()) {
			if n < 13 {
				t.Errorf("%d shards, one missing: %v", n, err)
			}
		}
		if _, err := os.Stat(p.Dir); n < 13 && err == nil {
			t.Errorf("%d shards, one missing: results all the same", n)
		}
	}
}

// TestMore checks that more replications are added to those of a stopped run, and that
// units of another experiment are refused.
func TestMore(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	ready, more := few(t, 5), few(t, 8)
	p := to(t, ready, filepath.Join(base, "shard"))
	p.Of = 1
	if err := Shard(t.Context(), ready, experiments.Options{}, p); err != nil {
		t.Fatal(err)
	}
	p = to(t, more, p.Dir)
	p.Of = 1
	found := 0
	p.Found = func(done, _ int) { found = done }
	if err := Shard(t.Context(), more, experiments.Options{}, p); err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, u := range ready.Units() { // only complete units
		if slices.Contains(more.Units(), u) {
			want += u.To - u.From
		}
	}
	if found != want || want == 0 || want == 5*4 {
		t.Errorf("found %d replications, want %d", found, want)
	}
	u, err := results.ReadUnits(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	got := to(t, more, filepath.Join(base, "got"))
	if _, err := Merge(more.Experiment, []*results.Units{u}, got); err != nil {
		t.Fatal(err)
	}
	once := to(t, more, filepath.Join(base, "once"))
	if _, err := Publish(t.Context(), more, experiments.Options{}, once); err != nil {
		t.Fatal(err)
	}
	same(t, got.Dir, once.Dir)

	other := few(t, 5, "seed=2")
	p = to(t, other, p.Dir)
	p.Of = 1
	var refused *results.OtherError
	if err := Shard(t.Context(), other, experiments.Options{}, p); !errors.As(err, &refused) {
		t.Errorf("another seed: %v", err)
	}
}

// TestGrown checks that a run writes the same bytes if it reuses results with fewer
// replications. Complete units must not be run again, and results that were changed must not be
// reused.
func TestGrown(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("14 runs, which do nothing at once that TestShards does not")
	}
	base := t.TempDir()
	for _, tables := range []results.Tables{results.Both, results.None} {
		few, more := few(t, 5), few(t, 8)
		publish := func(ready *experiments.Prepared, dir string) (found int) {
			p := to(t, ready, filepath.Join(base, tables.String(), dir))
			p.Tables = tables
			p.Found = func(done, _ int) { found = done }
			if _, err := Publish(t.Context(), ready, experiments.Options{Workers: 2}, p); err != nil {
				t.Fatal(err)
			}
			return found
		}
		want, changed := filepath.Join(base, tables.String(), "want"), filepath.Join(base, tables.String(), "changed")
		publish(more, "want")
		publish(few, "grown")
		publish(few, "changed")
		if found := publish(few, "grown"); found != 0 {
			t.Errorf("the same run takes %d replications from its results", found)
		}
		if found := publish(more, "grown"); found < 5 || found >= 20 {
			t.Errorf("found %d replications, want those of whole units", found)
		}
		same(t, filepath.Join(base, tables.String(), "grown"), want)
		if found := publish(few, "grown"); found < 5 {
			t.Errorf("found %d replications of more", found)
		}
		same(t, filepath.Join(base, tables.String(), "grown"), changed)
		if err := os.WriteFile(filepath.Join(changed, "metrics.csv"), []byte("a\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if found := publish(more, "changed"); found != 0 {
			t.Errorf("found %d replications in results that were changed", found)
		}
		same(t, changed, want)
	}
}

// TestDamagedUnit checks that a unit in which a byte has changed is refused with its name.
func TestDamagedUnit(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	ready := few(t, 2)
	p := to(t, ready, filepath.Join(base, "shard"))
	p.Of = 1
	if err := Shard(t.Context(), ready, experiments.Options{}, p); err != nil {
		t.Fatal(err)
	}
	u, err := results.ReadUnits(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := u.Read("1-0-2")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(p.Dir, "1-0-2.unit")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	refused := 0
	for range 200 {
		b := bytes.Clone(good)
		b[random.IntN(len(b))] ^= 1 << random.IntN(8)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := u.Read("1-0-2")
		switch {
		case err != nil && !strings.Contains(err.Error(), path):
			t.Errorf("%v does not name the file", err)
		case err != nil:
			refused++
		case fmt.Sprint(got) != fmt.Sprint(whole): // compare as text, so that NaN equals NaN
			t.Error("a changed byte changes what is read")
		}
	}
	if refused < 150 { // if not, the change was in unused bytes
		t.Errorf("%d of 200 refused", refused)
	}
}

// TestReplaces checks that results of another scenario are not replaced without a request
// and that the error names the field. Results of the same scenario with fewer replications
// are replaced.
func TestReplaces(t *testing.T) {
	t.Parallel()
	ready := few(t, 1)
	p := to(t, ready, filepath.Join(t.TempDir(), "out"))
	if err := Replaces(ready, &p); err != nil {
		t.Errorf("nothing is there: %v", err)
	}
	if _, err := Publish(t.Context(), ready, experiments.Options{}, p); err != nil {
		t.Fatal(err)
	}
	more, other := few(t, 2), few(t, 1, "seed=7")
	again := to(t, more, p.Dir)
	if err := Replaces(more, &again); err != nil {
		t.Errorf("more replications: %v", err)
	}
	again = to(t, other, p.Dir)
	var refused *results.OtherError
	if err := Replaces(other, &again); !errors.As(err, &refused) || !refused.Whole {
		t.Fatalf("another seed: %v", err)
	}
	if got := Difference(&refused.Found, &refused.Want); got != "seed: found 1, want 7" {
		t.Errorf("the difference is %q", got)
	}
}
