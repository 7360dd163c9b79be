package experiments

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

	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// few returns the paper's market in units of a few replications.
func few(t testing.TB, replications int, sets ...string) *Prepared {
	t.Helper()
	ready, err := Prepare(paper(t, replications, sets...))
	if err != nil {
		t.Fatal(err)
	}
	ready.rows = 3 * 50 * 4
	return ready
}

// to returns a publication of ready in dir.
func to(t testing.TB, ready *Prepared, dir string) Publication {
	t.Helper()
	var text bytes.Buffer
	if err := scenario.Write(&text, *ready.Experiment); err != nil {
		t.Fatal(err)
	}
	return Publication{Dir: dir, Scenario: text.String(), Command: []string{"bourse", "run"}, Elapsed: func() float64 { return 0 }}
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

// TestUnits checks that every replication is in one unit, in order, and that the names
// of units say which.
func TestUnits(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 4, 7} {
		ready := few(t, n)
		next := Unit{}
		for _, u := range ready.Units() {
			if u.Configuration == next.Configuration+1 && next.To == n {
				next = Unit{Configuration: u.Configuration}
			}
			if u.Configuration != next.Configuration || u.From != next.To || u.To <= u.From || u.To > n {
				t.Errorf("n=%d: %v after %v", n, u, next)
			}
			if again, err := parseUnit(u.Name()); err != nil || again != u {
				t.Errorf("%s is %v, %v", u.Name(), again, err)
			}
			next = u
		}
		if next.To != n || next.Configuration != len(ready.settings)-1 {
			t.Errorf("n=%d: the last is %v", n, next)
		}
	}
	for _, name := range []string{"", "1-2", "1-2-2", "1-3-2", "01-2-3", "1-2-3x", "-1-2-3"} {
		if u, err := parseUnit(name); err == nil {
			t.Errorf("%q is %v", name, u)
		}
	}
}

// TestStopped promises the bytes of one run, whenever it is stopped and however often
// the rest is asked for, and whatever the number of workers.
func TestStopped(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	base := t.TempDir()
	ready := few(t, 7)
	want := filepath.Join(base, "want")
	if _, err := ready.Publish(t.Context(), Options{}, to(t, ready, want)); err != nil {
		t.Fatal(err)
	}
	got := to(t, ready, filepath.Join(base, "got"))
	stops, found := 0, 0
	got.Found = func(done, total int) {
		if done < found || total != 7*4 {
			t.Errorf("seed %d: found %d of %d after %d", seed, done, total, found)
		}
		found = done
	}
	for {
		ctx, stop := context.WithCancel(t.Context())
		left := 1 + rng.IntN(12) // replications
		opts := Options{Workers: 1 + rng.IntN(3), Progress: func(done, total int) {
			if left--; left == 0 {
				stop()
			}
		}}
		_, err := ready.Publish(ctx, opts, got)
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

// TestShards promises the bytes of one run from any number of shards, in any order.
func TestShards(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	ready := few(t, 7)
	want := filepath.Join(base, "want")
	if _, err := ready.Publish(t.Context(), Options{Workers: 2}, to(t, ready, want)); err != nil {
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
			if err := ready.Shard(t.Context(), Options{Workers: 2}, p); err != nil {
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

// TestMore promises that more replications are run beside those that a run which was
// stopped has found, and that units of another experiment are refused.
func TestMore(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	ready, more := few(t, 5), few(t, 8)
	p := to(t, ready, filepath.Join(base, "shard"))
	p.Of = 1
	if err := ready.Shard(t.Context(), Options{}, p); err != nil {
		t.Fatal(err)
	}
	p = to(t, more, p.Dir)
	p.Of = 1
	found := 0
	p.Found = func(done, _ int) { found = done }
	if err := more.Shard(t.Context(), Options{}, p); err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, u := range ready.Units() { // whole ones alone
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
	if _, err := more.Publish(t.Context(), Options{}, once); err != nil {
		t.Fatal(err)
	}
	same(t, got.Dir, once.Dir)

	other := few(t, 5, "seed=2")
	p = to(t, other, p.Dir)
	p.Of = 1
	var refused *results.OtherError
	if err := other.Shard(t.Context(), Options{}, p); !errors.As(err, &refused) {
		t.Errorf("another seed: %v", err)
	}
}

// TestGrown promises the bytes of one run where results of fewer replications are there,
// of which whole units are not run again; and that results which were changed since are
// not taken from.
func TestGrown(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("14 runs, which do nothing at once that TestShards does not")
	}
	base := t.TempDir()
	for _, tables := range []results.Tables{results.Both, results.None} {
		few, more := few(t, 5), few(t, 8)
		publish := func(ready *Prepared, dir string) (found int) {
			p := to(t, ready, filepath.Join(base, tables.String(), dir))
			p.Tables = tables
			p.Found = func(done, _ int) { found = done }
			if _, err := ready.Publish(t.Context(), Options{Workers: 2}, p); err != nil {
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

// TestDamagedUnit checks that a unit of which a byte has changed is refused by name.
func TestDamagedUnit(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	ready := few(t, 2)
	p := to(t, ready, filepath.Join(base, "shard"))
	p.Of = 1
	if err := ready.Shard(t.Context(), Options{}, p); err != nil {
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
		case fmt.Sprint(got) != fmt.Sprint(whole): // NaN is NaN
			t.Error("a changed byte changes what is read")
		}
	}
	if refused < 150 { // else it was in what nobody reads
		t.Errorf("%d of 200 refused", refused)
	}
}

// TestMatrixShards promises for random scenarios that shards, merged, are one run, in
// every form of tables.
func TestMatrixShards(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 3))
	base := t.TempDir()
	for done := 0; done < 6; {
		n := rng.Uint64N(1 << 40)
		dir := filepath.Join(base, fmt.Sprint(n))
		if err := errors.Join(os.Mkdir(dir, 0o755), draw(n).write(dir)); err != nil {
			t.Fatal(err)
		}
		e, err := parse(dir)
		var no refused
		if errors.As(err, &no) {
			continue
		}
		if err != nil {
			t.Fatalf("seed %d, draw %d: %v", seed, n, err)
		}
		e.Replications = 1 + rng.IntN(4)
		ready, err := Prepare(e)
		if err != nil {
			continue
		}
		done++
		ready.rows = 1 + rng.IntN(200)
		tables, of := results.Tables(rng.IntN(4)), 1+rng.IntN(3)
		publication := func(name string) Publication {
			p := to(t, ready, filepath.Join(dir, name))
			p.Tables, p.Ledgers, p.Of = tables, n%2 == 0, of
			return p
		}
		if _, err := ready.Publish(t.Context(), Options{Workers: 2}, publication("one")); err != nil {
			t.Errorf("seed %d, draw %d: %v", seed, n, err)
			continue
		}
		for k := range of {
			p := publication("shards")
			p.Shard = k
			if err := ready.Shard(t.Context(), Options{}, p); err != nil {
				t.Fatalf("seed %d, draw %d: %v", seed, n, err)
			}
		}
		u, err := results.ReadUnits(filepath.Join(dir, "shards"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Merge(ready.Experiment, []*results.Units{u}, publication("merged")); err != nil {
			t.Fatalf("seed %d, draw %d: %v", seed, n, err)
		}
		same(t, filepath.Join(dir, "merged"), filepath.Join(dir, "one"))
		if t.Failed() {
			t.Fatalf("seed %d, draw %d", seed, n)
		}
	}
}

// TestReplaces checks that results of another scenario are not replaced unasked, and that
// the field is named; of the same with more replications they are.
func TestReplaces(t *testing.T) {
	t.Parallel()
	ready := few(t, 1)
	p := to(t, ready, filepath.Join(t.TempDir(), "out"))
	if err := ready.Replaces(&p); err != nil {
		t.Errorf("nothing is there: %v", err)
	}
	if _, err := ready.Publish(t.Context(), Options{}, p); err != nil {
		t.Fatal(err)
	}
	more, other := few(t, 2), few(t, 1, "seed=7")
	again := to(t, more, p.Dir)
	if err := more.Replaces(&again); err != nil {
		t.Errorf("more replications: %v", err)
	}
	again = to(t, other, p.Dir)
	var refused *results.OtherError
	if err := other.Replaces(&again); !errors.As(err, &refused) || !refused.Whole {
		t.Fatalf("another seed: %v", err)
	}
	if got := Difference(&refused.Found, &refused.Want); got != "seed: found 1, want 7" {
		t.Errorf("the difference is %q", got)
	}
}
