package report_test

import (
	"strings"
	"testing"

	"bourse/experiments/report"
)

// TestSpecification checks that a specification curve has an axis over the points, from 2
// to 50. Below it are the name of each decision once, each option, and its marks. The marks
// of the highlighted point must be in their own path.
func TestSpecification(t *testing.T) {
	t.Parallel()
	pt := func(x, mean float64) report.Point {
		return report.Point{X: x, Mean: mean, Lo: mean / 2, Hi: mean * 1.5}
	}
	f := report.Figure{Name: "curve", Title: "Readings", Panels: []report.Panel{{
		Y: "distance", Marked: 1, Curves: []report.Curve{{Name: "d", Points: []report.Point{pt(1, 3), pt(2, 4), pt(3, 40)}}},
		Options: []report.Option{
			{Of: "payment", Name: "spot", Has: []bool{true, true, false}}, {Of: "payment", Name: "bid", Has: []bool{false, false, true}},
			{Of: "cap", Name: "one", Has: []bool{false, true, true}}, {Of: "cap", Name: "none", Has: []bool{true, false, false}},
		},
	}}}
	svg, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	text := string(svg)
	for word, want := range map[string]int{">payment<": 1, ">cap<": 1, ">spot<": 1, ">none<": 1, ">2<": 1, ">50<": 1, ">100<": 0, ">distance<": 1} {
		if got := strings.Count(text, word); got != want {
			t.Errorf("%s is there %d times, want %d", word, got, want)
		}
	}
	boxes := func(colour string) (n int) {
		for line := range strings.Lines(text) {
			if strings.Contains(line, "<path") && strings.Contains(strings.ToLower(line), colour) {
				n += strings.Count(line, "Z")
			}
		}
		return n
	}
	if dark, marked, blue := boxes("#303030"), boxes("#d55e00"), boxes("#0072b2"); dark != 4 || marked != 3 || blue != 2 {
		t.Errorf("%d marks, %d of the point that stands out with its own, %d points, want 4, 3 and 2", dark, marked, blue)
	}
}
