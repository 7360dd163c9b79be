package publication

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"bourse/experiments"
)

// TestPanicPublished checks that unfinished results are removed if the code of this module
// panics, in a run or elsewhere, and that complete units remain.
func TestPanicPublished(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		want string
		opts experiments.Options
		p    Target
	}{
		"progress": {"scenario paper, configuration pareto-low, replication 0, seed 1: panic: a bar of two lines", experiments.Options{Progress: func(int, int) { panic("a bar\nof two lines") }}, Target{}},
		"elapsed":  {"scenario paper, seed 1: panic: a bar of two lines", experiments.Options{}, Target{Elapsed: func() float64 { panic("a bar\nof two lines") }}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := paper(t, 1)
			base := t.TempDir()
			c.p.Dir = filepath.Join(base, "out")
			ready, err := experiments.Prepare(e)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Publish(context.Background(), ready, c.opts, c.p)
			if err == nil || err.Error() != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
			left, err := os.ReadDir(base)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range left {
				if f.Name() != ".out.units" || name == "progress" {
					t.Errorf("%s is left", f.Name())
				}
			}
		})
	}
}
