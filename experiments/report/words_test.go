package report

import "testing"

// TestMeanSD checks that a mean and its deviation have the same number of decimals.
func TestMeanSD(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mean, sd float64
		want     string
	}{
		{0.5, 0.25, "0.500 ± 0.250"},
		{427, 25.456, "427.0 ± 25.5"},
		{99.5, 120, "99.5 ± 120.0"},
		{1.294e7, 779212.3, "1.294e+07 ± 7.792e+05"},
		{-1e-9, 0, "0.000 ± 0.000"},
	} {
		if got := meanSD(&c.mean, &c.sd); got != c.want {
			t.Errorf("meanSD(%v, %v) = %s, want %s", c.mean, c.sd, got, c.want)
		}
	}
}

// TestCaption checks that the caption does not mention error bars if there are none.
func TestCaption(t *testing.T) {
	t.Parallel()
	f := Figure{Caption: "Shares. " + Interval, Panels: []Panel{{Curves: []Curve{{"be", []Point{{X: 1, Mean: 2, Lo: 2, Hi: 2}}}}}}}
	if got, want := f.Said(), "Shares."; got != want {
		t.Errorf("one replication: %q, want %q", got, want)
	}
	f.Panels[0].Curves[0].Points[0].Hi = 3
	if got := f.Said(); got != f.Caption {
		t.Errorf("several: %q, want %q", got, f.Caption)
	}
}

// TestRounds checks that both ends of an axis have marks: each end must be a multiple of the
// step between marks.
func TestRounds(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]float64{{-0.06, 0.69}, {-150, 226}, {0, 1}, {-0.001, 7}, {-3e6, 5.2e7}} {
		lo, hi := Panel{Curves: []Curve{{"be", []Point{{Mean: c[0], Lo: c[0], Hi: c[0]}, {X: 1, Mean: c[1], Lo: c[1], Hi: c[1]}}}}}.yRange()
		ticks := ticker{}.Ticks(lo, hi)
		if lo > c[0] || hi < c[1] || ticks[0].Value != lo || ticks[len(ticks)-1].Value != hi {
			t.Errorf("%v: %v to %v, marked %v", c, lo, hi, ticks)
		}
	}
}
