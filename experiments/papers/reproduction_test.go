package papers

import (
	"slices"
	"testing"
)

// TestReproduced checks that the reproduction runs every preset needed by the claims
// exactly once, and once more for each log with which it can be run.
func TestReproduced(t *testing.T) {
	t.Parallel()
	var want, got []string
	for _, p := range Claims() {
		for _, c := range p.Claims {
			want = append(want, slices.DeleteFunc(c.Experiments(), func(name string) bool { return name == logName })...)
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	for _, p := range Reproduced() {
		got = append(got, p.Preset)
		if p.Replications < 2 || p.Seed == 0 || p.Seconds <= 0 || p.Paper == "" {
			t.Errorf("%+v of paper %q: want a preset of a paper, replications, a seed and seconds", p, p.Paper)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("reproduced are %q, claims are about %q", got, want)
	}
}
