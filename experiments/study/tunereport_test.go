package study

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"bourse/experiments/report"
)

// reported returns the report of a race with fifty replications per setting. Policy a has
// three values of x, of which the last is the best or near it, and policy b has one
// setting.
func reported(t *testing.T, gap float64) *Tuned {
	t.Helper()
	mean := []float64{1, 2, 2 + gap, 0}
	r := &Tuned{Goal: Goal{Configuration: "one", Metric: "revenue", Over: []string{"admission.a.x"}, Budget: 4 * 50}, lo: math.Inf(-1), hi: math.Inf(1)}
	for i, at := range []string{"0.1", "0.2", "0.3", ""} {
		r.Settings = append(r.Settings, settingRow{Setting: Setting{[]string{"a", "a", "a", "b"}[i], []string{at}}})
	}
	err := (&race{Tuned: r, known: make([][]report.Maybe, 4), progress: func(int) {}, sample: each(func(arm, rep int) float64 { return mean[arm] + 0.1*normal(7, arm, rep) })}).run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReport checks the sentences of a race with one best setting, and of one with several.
func TestReport(t *testing.T) {
	t.Parallel()
	for gap, want := range map[float64][]string{
		1: {
			"The largest revenue in one over admission.a.x: a 0.3 is the best of 4 settings; all others are significantly worse.",
			"At 95 %, the price of ignorance is zero, because only one setting is left.", "until one setting was left.", "0.3 is the largest admission.a.x that was tried; a larger value may be better.",
		},
		0.001: {
			"2 of 4 settings do not differ significantly.", "The price of ignorance is the loss from choosing a 0.", "of a budget of 200.",
			"replications of each setting would separate a 0.", "The method is successive elimination", "t tests",
		},
	} {
		d := reported(t, gap).Document()
		text := d.Text(report.Terminal{UTF8: true})
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("gap %v: %q is not said in\n%s", gap, w, text)
			}
		}
	}
}

// TestFigure checks that each policy has its panels, and that policies without a position
// on the axis share one. The best setting and those not significantly worse must be marked,
// and panels of the same kind must have the same scale, which includes the start of bars.
func TestFigure(t *testing.T) {
	t.Parallel()
	f := reported(t, 0.001).figure()
	var got []string
	for _, p := range f.Panels {
		line := fmt.Sprintf("%s by %s:", p.Title, p.X)
		for _, c := range p.Curves {
			line += fmt.Sprintf(" %d %s,", len(c.Points), c.Name)
		}
		got = append(got, line)
	}
	want := []string{
		"a by admission.a.x: 3 all, 1 not significantly worse, 1 the best,",
		"a by admission.a.x: 2 all, 1 not significantly worse,",
		"policies not affected by any axis by policy: 1 all,",
		"policies not affected by any axis by policy: 1 all,",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("panels\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if a, c := f.Panels[0], f.Panels[2]; a.Lo != c.Lo || a.Hi != c.Hi || a.Lo > 0 || a.Hi < 2 {
		t.Errorf("scales from %v to %v and from %v to %v, want one with 0 and 2", a.Lo, a.Hi, c.Lo, c.Hi)
	}
}
