package experiments

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"bourse/bank"
	"bourse/experiments/scenario"
)

// TestPanic uses a policy that panics in the second replication of one configuration. For
// any number of workers, the error must name the run and the scenario, and the journal of
// that run must receive the error.
func TestPanic(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 3} {
		e := paper(t, 3, "seed=7")
		all, err := settings(e, nil)
		if err != nil {
			t.Fatal(err)
		}
		k := indexOf(t, e, 1, "cac")
		var made atomic.Int32
		decode := all[1].offers[k].decode
		all[1].offers[k].decode = func(v any) error {
			if made.Add(1) == 2 {
				var none *scenario.Experiment
				none.Seed++
			}
			return decode(v)
		}
		var told atomic.Pointer[Panic] // panic of which a journal was informed; any run's journal, if several start at the same time
		opts := Options{Workers: workers, Journal: func(_, admission string, rep int) (bank.Journal, func(error) error, error) {
			if admission != "cac" {
				return nil, nil, nil
			}
			return ignored{}, func(err error) error {
				var p *Panic
				if errors.As(err, &p) && p.Replication == rep {
					told.Store(p)
				}
				return err
			}, nil
		}}
		taken := 0
		err = (&Prepared{Experiment: e, settings: all[:2]}).Each(context.Background(), opts, func(*Replication) error { taken++; return nil })
		var p *Panic
		if !errors.As(err, &p) || told.Load() != p {
			t.Fatalf("%d workers: %v, want a panic, which its journal is told; it is told %v", workers, err, told.Load())
		}
		if p.Scenario != e.Name || p.Configuration != e.Configurations[1].Name || p.Policy != "cac" || p.Seed != 7 {
			t.Errorf("%d workers: %v", workers, p)
		}
		if workers == 1 && (p.Replication != 1 || taken != e.Replications+1) {
			t.Errorf("replication %d after %d, want 1 after %d", p.Replication, taken, e.Replications+1)
		}
		if !strings.Contains(string(p.Cause.Stack), "TestPanic") {
			t.Errorf("the stack does not lead to the policy: %s", p.Cause.Stack)
		}
		want := "policy cac, replication "
		if got := p.Error(); !strings.Contains(got, want) || !strings.HasSuffix(got, "seed 7: panic: runtime error: invalid memory address or nil pointer dereference") {
			t.Errorf("%q, want %q in it, and what the panic was", got, want)
		}
	}
}

// An ignored is a journal that stores no entries.
type ignored struct{}

func (ignored) Append(*bank.Entry) error { return nil }
