package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/color"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// small is one panel of each kind, with a mean below its axis and a missing bar.
func small() Figure {
	f := Figure{Name: "small", Title: "Invented", Caption: "Numbers are invented."}
	f.Panels = append(Lines([]Datum{
		{Panel: "Deadlines met", Curve: "libra", X: 10, Mean: new(0.8), Lo: new(0.7), Hi: new(0.9), N: 5, Row: "row/a"},
		{Panel: "Deadlines met", Curve: "libra", X: 20, Mean: new(0.5)},
		{Panel: "Deadlines met", Curve: "edf", X: 10, Mean: new(-0.25), Lo: new(-0.5), Hi: new(0.1)},
		{Panel: "Deadlines met", Curve: "edf", X: 20},
	}), panels([]Datum{
		{Panel: "Jobs lost", Curve: "libra", Group: "low", Mean: new(0.0), Lo: new(0.0), Hi: new(0.0)},
		{Panel: "Jobs lost", Curve: "edf", Group: "high", Mean: new(12.0), Lo: new(9.5), Hi: new(14.5), N: 4, Row: "row/b"},
	}, true)...)
	f.Panels[0].X, f.Panels[0].Hi = "Load (%)", 1
	return f
}

// TestFigure checks the drawing and the numbers of a small figure.
func TestFigure(t *testing.T) {
	t.Parallel()
	svg, err := small().SVG()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "small.svg", svg)
	golden(t, "small.csv", small().CSV())
	golden(t, "small.txt", []byte(small().Text(Terminal{UTF8: true, Width: 60})))
}

// TestFigureBytes checks that the same figure has the same bytes and that nothing is cut
// off: the edge of the image is white.
func TestFigureBytes(t *testing.T) {
	t.Parallel()
	figures := func() []Figure {
		return []Figure{small(), Sweep{Axes: []string{"delay", "width"}}.Figure("sweep", "Invented", swept("0", "0.5", "1"))}
	}
	again := figures()
	for i, f := range figures() {
		a, err1 := f.Files(Formats()...)
		b, err2 := again[i].Files(Formats()...)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		for k := range a {
			if !bytes.Equal(a[k].Data, b[k].Data) {
				t.Errorf("%s differs from one time to the next", a[k].Name)
			}
		}
		img, err := png.Decode(bytes.NewReader(a[1].Data))
		if err != nil {
			t.Fatal(err)
		}
		r := img.Bounds()
		white := func(x, y int) {
			t.Helper()
			if c := color.RGBAModel.Convert(img.At(x, y)); c != (color.RGBA{255, 255, 255, 255}) {
				t.Fatalf("%s: %v at %d, %d, want white", a[1].Name, c, x, y)
			}
		}
		for d := range 3 {
			for x := r.Min.X; x < r.Max.X; x++ {
				white(x, r.Min.Y+d)
				white(x, r.Max.Y-1-d)
			}
			for y := r.Min.Y; y < r.Max.Y; y++ {
				white(r.Min.X+d, y)
				white(r.Max.X-1-d, y)
			}
		}
	}
}

// TestStyles checks that a policy has the same colour in every figure with the same order, even
// if a figure omits other policies, and that the first eight colours differ.
func TestStyles(t *testing.T) {
	t.Parallel()
	f, one := small(), small()
	f.Order = []string{"fcfs", "edf", "libra"}
	one.Order, one.Panels = f.Order, one.Panels[1:]
	one.Panels[0].Curves = one.Panels[0].Curves[:1]
	names, styles := f.present()
	only, alone := one.present()
	if strings.Join(names, " ") != "edf libra" || strings.Join(only, " ") != "libra" {
		t.Errorf("figures show %v and %v, want edf and libra, and libra", names, only)
	}
	if styles["libra"].color != alone["libra"].color || styles["libra"].color != styleOf(2).color {
		t.Errorf("libra is %v and %v, want the third colour", styles["libra"].color, alone["libra"].color)
	}
	seen := make(map[color.Color]bool)
	for i := range 8 {
		seen[styleOf(i).color] = true
	}
	if len(seen) != 8 {
		t.Errorf("%d colours among 8 curves", len(seen))
	}
}

// TestAnyFigure checks that figures with any names and numbers can be drawn, and that the
// document is XML in which the names are text, not markup.
func TestAnyFigure(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.StringN(0, 40, -1)
		number := rapid.Float64Range(-1e12, 1e12)
		datum := rapid.Custom(func(t *rapid.T) Datum {
			return Datum{
				"panel " + rapid.SampledFrom([]string{"a", "<b>&"}).Draw(t, "panel"), name.Draw(t, "curve"), name.Draw(t, "group"),
				number.Draw(t, "x"), rapid.Ptr(number, true).Draw(t, "mean"), rapid.Ptr(number, true).Draw(t, "lo"), rapid.Ptr(number, true).Draw(t, "hi"),
				3, "",
			}
		})
		data := rapid.SliceOfN(datum, 0, 8).Draw(rt, "data")
		f := Figure{Title: name.Draw(rt, "title"), Panels: append(Lines(data), panels(data, true)...)}
		svg, err := f.SVG()
		if err != nil {
			rt.Fatal(err)
		}
		d := xml.NewDecoder(bytes.NewReader(svg))
		for {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				rt.Fatalf("%v in\n%s", err, svg)
			}
			if e, ok := token.(xml.StartElement); ok && e.Name.Local == "b" {
				rt.Fatalf("a name became markup in\n%s", svg)
			}
		}
		if bytes.Contains(svg, []byte("NaN")) || bytes.Contains(svg, []byte("Inf")) {
			rt.Fatalf("no place for a point in\n%s", svg)
		}
		for _, r := range f.Text(Terminal{Width: 80}) {
			if r > 126 || r < 32 && r != '\n' {
				rt.Fatalf("%q in\n%s", r, f.Text(Terminal{Width: 80}))
			}
		}
		f.CSV()
	})
}

// TestAxis checks the round values and the ends of an axis. The axis must end at the given
// ends, or further out if a mean or an interval lies beyond them, so that no error bar is cut.
// Without given ends, the axis must include the data.
func TestAxis(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{0, 1, "0 0.2 0.4 0.6 0.8 1"}, {-0.2, 1, "-0.2 0 0.2 0.4 0.6 0.8 1"}, {0, 25, "0 5 10 15 20 25"},
		{-3000, 5000, "-2000 0 2000 4000"}, {0.011, 0.014, "0.011 0.0115 0.012 0.0125 0.013 0.0135 0.014"}, {0, 1e9, "0 2×10⁸ 4×10⁸ 6×10⁸ 8×10⁸ 10⁹"},
		{0, 4e7, "0 10⁷ 2×10⁷ 3×10⁷ 4×10⁷"}, {0, 4e4, "0 10,000 20,000 30,000 40,000"}, {-2e-6, 2e-6, "-2×10⁻⁶ -10⁻⁶ 0 10⁻⁶ 2×10⁻⁶"},
	} {
		var got []string
		for _, tick := range (ticker{}).Ticks(c.lo, c.hi) {
			got = append(got, tick.Label)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("from %v to %v: %s, want %s", c.lo, c.hi, s, c.want)
		}
	}
	at := func(mean, lo, hi float64) []Curve { return []Curve{{"", []Point{{Mean: mean, Lo: lo, Hi: hi}}}} }
	for _, c := range []struct {
		name   string
		p      Panel
		lo, hi float64
	}{
		{"own", Panel{Hi: 1, Curves: at(0.5, 0, 1)}, 0, 1},
		{"interval below", Panel{Hi: 1, Curves: at(0.02, -0.03, 0.07)}, -0.2, 1},
		{"interval above", Panel{Hi: 1, Curves: at(0.5, 0.1, 1.1)}, 0, 1.2000000000000002},
		{"mean below", Panel{Hi: 1, Curves: at(-0.15, -0.3, 0.1)}, -0.4, 1},
		{"data", Panel{Curves: at(7, 5, 9.5)}, 0, 10},
		{"no ends", Panel{Curves: at(7, math.NaN(), math.NaN())}, 0, 7},
		{"own, no ends", Panel{Hi: 1, Curves: at(0.5, math.NaN(), math.NaN())}, 0, 1},
		{"no numbers", Panel{Curves: at(math.NaN(), math.Inf(-1), math.Inf(1))}, 0, 1},
		{"nothing", Panel{}, 0, 1},
	} {
		if lo, hi := c.p.yRange(); lo != c.lo || hi != c.hi {
			t.Errorf("%s: %v to %v, want %v to %v", c.name, lo, hi, c.lo, c.hi)
		}
	}
}

// TestNoEnds checks figures with points without an interval, whose ends are NaN. No
// interval may be drawn for them.
func TestNoEnds(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for _, p := range []Panel{
		{Title: "lines"},
		{Title: "bars", Groups: []string{"a", "b"}},
		{Title: "forest", Forest: true, Groups: []string{"a", "b"}},
	} {
		drawn := func(points ...Point) string {
			p.Curves = []Curve{{"be", points}}
			svg, err := Figure{Name: "ends", Panels: []Panel{p}}.SVG()
			if err != nil {
				t.Errorf("%s: %v", p.Title, err)
			}
			return string(svg)
		}
		without := drawn(Point{X: 0, Mean: 1, Lo: nan, Hi: nan}, Point{X: 1, Mean: 2, Lo: nan, Hi: nan})
		none := drawn(Point{X: 0, Mean: 1, Lo: 1, Hi: 1}, Point{X: 1, Mean: 2, Lo: 2, Hi: 2})
		if without != none {
			t.Errorf("%s: without ends it is drawn otherwise than with those of no interval", p.Title)
		}
	}
}

// TestForest checks a panel of differences: one row per group from top to bottom, a visible
// zero, and the margin behind the points.
func TestForest(t *testing.T) {
	t.Parallel()
	f := Figure{Name: "forest", Title: "Differences, invented", Across: 1, Panels: []Panel{{
		Title: "one", Forest: true, Lo: -0.2, Hi: 0.2, Groups: []string{"a − b", "a − c", "b − c"},
		Curves: []Curve{{"difference", []Point{{Mean: 1, Lo: 0.5, Hi: 1.5}, {X: 2, Mean: -0.1, Lo: -0.3, Hi: 0.1}}}},
	}}}
	svg, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "forest.svg", svg)
	if got, want := string(f.CSV()), "panel,curve,x,mean,lo,hi\none,difference,a − b,1,0.5,1.5\none,difference,b − c,-0.1,-0.3,0.1\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	f.Panels[0].Curves[0].Points = nil
	if _, err := f.SVG(); err != nil {
		t.Errorf("no differences: %v", err)
	}
}
