package experiments

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	matrixDraws = flag.Uint64("matrix.draws", 200, "number of scenarios that TestMatrix draws")
	matrixSeed  = flag.Uint64("matrix.seed", 0, "number of the first: one failing draw runs again by its number, with -matrix.draws=1")
	matrixOnly  = flag.String("matrix.only", "", "draws without one of these policies, separated by commas, are skipped")
	matrixKeep  = flag.String("matrix.keep", "", "folder in which the files of draws that fail are kept, each smaller than drawn (default: a temporary one)")
	matrixMost  = flag.Int("matrix.failures", 10, "kinds of failures after which no more are looked for")
)

// TestMatrix draws small random scenarios that cover everything a scenario file can
// express. A scenario that `bourse scenario check` accepts must run to its end, obey the
// laws of work and money, pass the audit, have the same results with one worker and with
// three, and agree with a slow replay of its decisions. A scenario that the check refuses
// must be refused for a reason in a list.
//
//	go test ./experiments -run TestMatrix -matrix.seed 4711 -matrix.draws 1
//	go test ./experiments -run TestMatrix -matrix.draws 100000 -v -timeout 6h
//
// Draws are numbered, and each depends only on its number. A long run can therefore be
// divided and resumed by ranges of numbers.
func TestMatrix(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		*matrixDraws = min(*matrixDraws, 60)
	}
	m := &matrix{t: t, seen: newCoverage(), kinds: make(map[string]int), first: *matrixSeed, total: *matrixDraws}
	var wg sync.WaitGroup
	for range min(uint64(runtime.GOMAXPROCS(0)), m.total) {
		dir := t.TempDir()
		wg.Go(func() { m.work(dir) })
	}
	wg.Wait()
	if *matrixOnly != "" {
		t.Logf("%d draws with %s", m.done.Load(), *matrixOnly)
	} else if !t.Failed() {
		m.seen.judge(t, m.total)
	}
}

// A matrix is a range of draws that a test runs.
type matrix struct {
	t            *testing.T
	first, total uint64
	next, done   atomic.Uint64

	mu     sync.Mutex
	seen   *coverage
	failed int
	kinds  map[string]int // number of failures of each kind
	told   time.Time
}

// work runs draws until none is left, with files in dir.
func (m *matrix) work(dir string) {
	for {
		i := m.next.Add(1) - 1
		m.mu.Lock()
		stop := m.failed >= *matrixMost
		m.mu.Unlock()
		if i >= m.total || stop {
			return
		}
		g := draw(m.first + i)
		if !g.has(*matrixOnly) {
			continue
		}
		own := newCoverage()
		err := g.try(dir, own)
		m.mu.Lock()
		m.seen.add(own)
		done := m.done.Add(1)
		if testing.Verbose() && m.total > 1000 && time.Since(m.told) > 20*time.Second {
			m.told = time.Now()
			fmt.Fprintf(os.Stderr, "matrix: %d of %d draws, from %d on; %d refused, %d failed\n", done, m.total, m.first, m.seen.refused, m.failed)
		}
		m.mu.Unlock()
		if err != nil {
			m.report(g, err, dir)
		}
	}
}

// report shrinks a failing draw, stores its files and prints how to repeat it.
//
// Of several failures of the same kind, it shrinks the first and counts the others.
func (m *matrix) report(g *drawing, err error, dir string) {
	kind := kindOf(err)
	m.mu.Lock()
	m.kinds[kind]++
	again := m.kinds[kind] > 1
	if !again {
		m.failed++
	}
	m.mu.Unlock()
	if again {
		m.t.Errorf("draw %d fails like one before: %.300v", g.number, err)
		return
	}
	small, why := g.shrink(err, dir)
	m.mu.Lock()
	defer m.mu.Unlock()
	keep := *matrixKeep
	if keep == "" {
		keep = filepath.Join(os.TempDir(), "bourse-draws")
	}
	keep = filepath.Join(keep, fmt.Sprint(g.number))
	if err := os.MkdirAll(keep, 0o755); err != nil {
		m.t.Error(err)
		return
	}
	if err := small.write(keep); err != nil {
		m.t.Error(err)
	}
	var files strings.Builder
	all := small.files(keep)
	for _, name := range sortedNames(all) {
		if name == "log.swf" && !strings.Contains(all["scenario.yaml"], name) {
			continue
		}
		fmt.Fprintf(&files, "--- %s\n%s", name, all[name])
	}
	m.t.Errorf("draw %d: %v\nmade smaller, it fails by: %v\n%sagain: bourse run %s/scenario.yaml, or -run TestMatrix -matrix.seed %d -matrix.draws 1",
		g.number, err, why, files.String(), keep, g.number)
}

func sortedNames(files map[string]string) (names []string) {
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// has reports whether g has one of the named policies, which are separated by commas, or
// whether names is empty.
func (g *drawing) has(names string) bool {
	return names == "" || slices.ContainsFunc(g.admission, func(name string) bool { return slices.Contains(strings.Split(names, ","), name) })
}

// try runs g with its files in dir and returns the first error.
func (g *drawing) try(dir string, seen *coverage) error {
	if err := g.write(dir); err != nil {
		return err
	}
	e, err := parse(dir)
	var no refused
	switch {
	case errors.As(err, &no):
		seen.refused++
		return seen.refuse(no.Error())
	case err != nil:
		return err
	}
	r, err := alone(e)
	if err != nil {
		return err
	}
	seen.ran(r)
	if err := r.check(); err != nil {
		return err
	}
	sum, err := together(e)
	if err != nil {
		return fmt.Errorf("with 3 workers: %w", err)
	}
	if sum != r.hash {
		return errors.New("what is told with 3 workers differs from what is told with one")
	}
	return nil
}

// check checks all laws on the results.
func (r *told) check() error {
	if err := r.laws(); err != nil {
		return fmt.Errorf("laws: %w", err)
	}
	for _, run := range r.runs {
		if err := run.audit(r); err != nil {
			return fmt.Errorf("%s, replication %d: audit: %w", run.offer.Label, run.rep, err)
		}
		if err := run.replay(r); err != nil {
			return fmt.Errorf("%s, replication %d: replay: %w", run.offer.Label, run.rep, err)
		}
	}
	return nil
}
