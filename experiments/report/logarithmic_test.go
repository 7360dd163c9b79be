package report

import (
	"math"
	"strings"
	"testing"
)

// TestLogarithmic checks LogX and LogY: points at or below 0 are not drawn, other points are
// drawn at their exponents, and axes are marked in powers of ten.
func TestLogarithmic(t *testing.T) {
	t.Parallel()
	at := func(x, mean, lo, hi float64) Point { return Point{X: x, Mean: mean, Lo: lo, Hi: hi} }
	p := Panel{Title: "Runtime", X: "s", Y: "jobs", LogX: true, LogY: true, Hi: 1, Curves: []Curve{{"log", []Point{
		at(0, 5, 5, 5), at(1, 10, 10, 10), at(10, 0, 0, 0), at(100, 1000, 0, 1000), at(1e6, 5, 5, 5),
	}}}}
	got := p.logged()
	want := []Point{at(0, 1, 1, 1), at(2, 3, 0, 3), at(6, math.Log10(5), math.Log10(5), math.Log10(5))}
	if len(got.Curves[0].Points) != len(want) {
		t.Fatalf("%v, want %v", got.Curves[0].Points, want)
	}
	for i, w := range want {
		if g := got.Curves[0].Points[i]; math.Abs(g.X-w.X)+math.Abs(g.Mean-w.Mean)+math.Abs(g.Lo-w.Lo)+math.Abs(g.Hi-w.Hi) > 1e-12 {
			t.Errorf("point %d is %v, want %v", i, g, w)
		}
	}
	if lo, hi := got.yRange(); lo != 0 || hi != 3 {
		t.Errorf("y axis from %v to %v, want 0 to 3", lo, hi)
	}
	f := Figure{Name: "log", Title: "Invented", Panels: []Panel{p}}
	svg, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	for _, label := range []string{">1<", ">10⁶<", ">1000<"} {
		if !strings.Contains(string(svg), label) {
			t.Errorf("no mark %s", label)
		}
	}
	if text := f.Text(Terminal{Width: 60}); !strings.Contains(text, "1e6") || !strings.Contains(text, "1e3") {
		t.Errorf("no powers of ten in\n%s", text)
	}
	if !strings.Contains(string(f.CSV()), "Runtime,log,0,5,5,5") {
		t.Errorf("the CSV leaves out what is not drawn:\n%s", f.CSV())
	}
	empty := Panel{LogX: true, LogY: true, Curves: []Curve{{"log", []Point{{}}}}}
	if _, err := (Figure{Name: "empty", Panels: []Panel{empty}}).png(); err != nil {
		t.Error(err)
	}
}

// TestDecades checks that there are few powers of ten on any axis, and that an axis within
// one power of ten still has marks.
func TestDecades(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{0, 3, "1 10 100 1000"},
		{-2.5, 1, "0.01 0.1 1 10"},
		{0, 20, "1 1000 10⁶ 10⁹ 10¹² 10¹⁵ 10¹⁸"},
		{2, 2.5, "100 126 158 200 251 316"},
	} {
		var labels []string
		for _, tick := range (decades{}).Ticks(c.lo, c.hi) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("%v to %v: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
}

// TestDense checks that a curve with many points is a line without marks, and that a point
// without an interval has no bar.
func TestDense(t *testing.T) {
	t.Parallel()
	paths := func(n int, spread float64) int {
		var c Curve
		for i := range n {
			c.Points = append(c.Points, Point{X: float64(i), Mean: 1, Lo: 1 - spread, Hi: 1 + spread})
		}
		svg, err := Figure{Name: "dense", Panels: []Panel{{Hi: 2, Curves: []Curve{c}}}}.SVG()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(svg), "<path")
	}
	if a, b := paths(dense, 0), paths(dense+1, 0); a-b != dense {
		t.Errorf("%d paths with marks, %d without, want %d fewer", a, b, dense)
	}
	if a, b := paths(dense, 0.1), paths(dense, 0); a-b != 3*dense {
		t.Errorf("%d paths with bars, %d without, want %d fewer", a, b, 3*dense)
	}
}
