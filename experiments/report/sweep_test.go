package report

import (
	"fmt"
	"strings"
	"testing"

	"bourse/experiments/results"
)

// swept returns invented rows of two policies and two configurations along two axes.
func swept(values ...string) []results.Summary {
	var rows []results.Summary
	for k, name := range []string{"accurate-estimates", "trace-estimates"} {
		for i, v := range values {
			for j, w := range []string{"1", "2"} {
				for l, policy := range []string{"libra", "librarisk"} {
					mean := 10*float64(i) + float64(j+l) - 3*float64(k)
					for _, m := range []string{"slowdown", "other", "undefined"} {
						row := results.Summary{Configuration: fmt.Sprintf("%s@%s,%s", name, v, w), Admission: policy, Metric: m}
						if m != "undefined" && (i > 0 || l > 0) {
							row.N, row.Mean, row.SD, row.Lo95, row.Hi95 = 3, &mean, new(0.5), new(mean-1), new(mean+1)
						}
						rows = append(rows, row)
					}
				}
			}
		}
	}
	return rows
}

// TestSweep checks the tables and the figure of a sweep. There must be one table per metric,
// one panel for each metric of each configuration, and one line for each policy and value of
// the second axis. Undefined values must not appear.
func TestSweep(t *testing.T) {
	t.Parallel()
	s := Sweep{Labels: Labels{"librarisk": "LibraRisk"}, Axes: []string{"delay", "width"}, Metrics: []string{"slowdown"}, Units: map[string]string{"slowdown": "x"}}
	rows := swept("0", "0.5", "1")
	var text strings.Builder
	for _, table := range s.Tables(rows) {
		text.WriteString(table.Text(Terminal{UTF8: true}))
	}
	golden(t, "sweep-table.txt", []byte(text.String()))
	f := s.Figure("sweep", "A sweep, invented", rows)
	golden(t, "sweep.csv", f.CSV())
	svg, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "sweep.svg", svg)
	if p := f.Panels[1]; f.drawn(1).letter != "(b) " || p.Title != "Slowdown, trace estimates" || p.X != "delay" || p.Y != "x" || len(p.Curves) != 4 {
		t.Errorf("panel %q of %s in %s, %d curves", p.Title, p.X, p.Y, len(p.Curves))
	}
	s.Metrics = nil
	if got := len(s.Tables(rows)); got != 2 {
		t.Errorf("%d tables, want those of the 2 metrics that are defined", got)
	}
}

// TestSweepWords checks that values that are not numbers become groups of bars and that,
// without axes, configurations become groups of bars.
func TestSweepWords(t *testing.T) {
	t.Parallel()
	s := Sweep{Axes: []string{"rule", "width"}, Metrics: []string{"slowdown"}}
	f := s.Figure("words", "", swept("none", "equal"))
	if p := f.Panels[0]; strings.Join(p.Groups, " ") != "none equal" {
		t.Errorf("groups %v, want none and equal", p.Groups)
	}
	f = Sweep{Metrics: []string{"slowdown"}}.Figure("bars", "", []results.Summary{{Configuration: "low", Admission: "be", Metric: "slowdown", N: 1, Mean: new(2.0)}})
	if p := f.Panels[0]; strings.Join(p.Groups, " ") != "Low" || p.Curves[0].Points[0].Mean != 2 {
		t.Errorf("panel %+v, want a bar of 2 at Low", p)
	}
}

// TestHeat checks that heat maps replace lines if there are more lines than colours. There must
// be one map for each metric, configuration, policy and value of the third axis, and one scale
// and one table per metric.
func TestHeat(t *testing.T) {
	t.Parallel()
	s := Sweep{Axes: []string{"delay", "width", "depth"}, Metrics: []string{"slowdown"}}
	var rows []results.Summary
	for i := range 3 {
		for j := range 5 {
			for k, depth := range []string{"low", "high"} {
				mean := float64(100*i + 10*j + k)
				r := results.Summary{Configuration: fmt.Sprintf("c@%d,%d,%s", i, j, depth), Admission: "be", Metric: "slowdown", N: 4, Mean: &mean}
				if i == 2 && j == 4 {
					r.N, r.Mean = 0, nil
				}
				rows = append(rows, r)
			}
		}
	}
	f := s.Figure("heat", "Heat, invented", rows)
	if len(f.Panels) != 2 || f.Across != 2 {
		t.Fatalf("%d panels, %d across, want 2 and 2", len(f.Panels), f.Across)
	}
	for k, p := range f.Panels {
		if want := []string{"Slowdown, depth low", "Slowdown, depth high"}[k]; p.Title != want || !p.Heat || p.Lo != 0 || p.Hi != 231 || p.X != "delay" || p.Y != "width" {
			t.Errorf("panel %+v, want %s from 0 to 231", p, want)
		}
		if len(p.Groups) != 3 || len(p.Curves) != 5 || p.Curves[4].Name != "4" || len(p.Curves[4].Points) != 2 || p.Curves[3].Points[2].Mean != float64(230+k) {
			t.Errorf("panel %+v", p)
		}
	}
	svg, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "heat.svg", svg)
	tables := s.Tables(rows)
	if len(tables) != 2 {
		t.Fatalf("%d tables, want one a map", len(tables))
	}
	golden(t, "heat.txt", []byte(tables[1].Text(Terminal{UTF8: true})))
	rows = rows[:8] // few enough lines for a panel
	if f := s.Figure("lines", "", rows); f.Panels[0].Heat {
		t.Error("8 lines became heat maps")
	}
}
