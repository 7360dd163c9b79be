package report

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// vegaKeys are the properties of Vega-Lite 5 that a view, mark, channel or scale may have
// here, keyed by their owner.
var vegaKeys = map[string][]string{
	"top":     {"$schema", "title", "description", "columns", "config", "concat"},
	"view":    {"title", "width", "height", "data", "layer", "mark", "encoding"},
	"layer":   {"mark", "encoding"},
	"mark":    {"type", "tooltip", "filled", "point"},
	"channel": {"field", "type", "title", "scale", "sort"},
	"scale":   {"domain", "range", "type"},
}

// vegaFigures returns a figure of every kind.
func vegaFigures() []Figure {
	return []Figure{small(),
		{Title: "map", Panels: []Panel{{Heat: true, X: "a", Y: "b", Groups: []string{"1", "2"}, Curves: []Curve{{"c", []Point{{X: 0, Mean: 1, N: 3}}}}}}},
		{Title: "forest", Panels: []Panel{{Forest: true, Groups: []string{"a − b"}, Curves: []Curve{{"difference", []Point{{Mean: 1, Lo: 0.5, Hi: 1.5}}}}}}},
		{Title: "log", Panels: []Panel{{LogX: true, LogY: true, Curves: []Curve{{"c", []Point{{X: 1, Mean: 1, Lo: 1, Hi: 1}}}}}}},
		{Title: "specification", Panels: []Panel{{Y: "d", Curves: []Curve{{"d", []Point{{X: 1, Mean: 3, Lo: 1, Hi: 4}}}}, Options: []Option{{Of: "payment", Name: "spot", Has: []bool{true}}}}}},
	}
}

// TestVega checks that a figure of every kind has the form of a Vega-Lite specification:
// known properties, marks, channels and types, fields that the data have, and all points.
func TestVega(t *testing.T) {
	t.Parallel()
	keys := func(what, where string, m map[string]any) {
		for k := range m {
			if !slices.Contains(vegaKeys[what], k) {
				t.Errorf("%s: a %s has no %s", where, what, k)
			}
		}
	}
	for _, f := range vegaFigures() {
		var s map[string]any
		if err := json.Unmarshal(f.vega(), &s); err != nil {
			t.Fatal(err)
		}
		keys("top", f.Title, s)
		views := s["concat"].([]any)
		if s["$schema"] != vegaSchema || len(views) != len(f.Panels) {
			t.Errorf("%s: %d views of %v", f.Title, len(views), s["$schema"])
		}
		for i, v := range views {
			view := v.(map[string]any)
			keys("view", f.Title, view)
			values := view["data"].(map[string]any)["values"].([]any)
			points := 0
			for _, c := range f.Panels[i].Curves {
				points += len(c.Points)
			}
			if len(values) != points {
				t.Errorf("%s: %d values, want %d", f.Title, len(values), points)
			}
			layers, layered := view["layer"].([]any)
			if !layered {
				layers = []any{map[string]any{"mark": view["mark"], "encoding": view["encoding"]}}
			}
			for _, l := range layers {
				layer := l.(map[string]any)
				keys("layer", f.Title, layer)
				mark, _ := layer["mark"].(string)
				if m, ok := layer["mark"].(map[string]any); ok {
					keys("mark", f.Title, m)
					mark = m["type"].(string)
				}
				if !slices.Contains([]string{"bar", "line", "point", "rect", "rule"}, mark) {
					t.Errorf("%s: mark %q", f.Title, mark)
				}
				for name, c := range layer["encoding"].(map[string]any) {
					channel := c.(map[string]any)
					keys("channel", f.Title+" "+name, channel)
					if !slices.Contains([]string{"x", "x2", "y", "y2", "xOffset", "color"}, name) {
						t.Errorf("%s: channel %q", f.Title, name)
					}
					if kind, ok := channel["type"]; ok && !slices.Contains([]any{"quantitative", "nominal", "ordinal"}, kind) {
						t.Errorf("%s: type %v", f.Title, kind)
					}
					if scale, ok := channel["scale"].(map[string]any); ok {
						keys("scale", f.Title, scale)
					}
					for _, value := range values {
						if _, ok := value.(map[string]any)[channel["field"].(string)]; !ok {
							t.Errorf("%s: %s is of field %v, which %v has not", f.Title, name, channel["field"], value)
						}
					}
				}
			}
		}
	}
}

// TestFigureWidth checks that a figure has the required width, that nothing is drawn outside
// this width, and that the figure contains neither its title nor a font.
func TestFigureWidth(t *testing.T) {
	t.Parallel()
	for mm, want := range map[float64]vg.Length{0: 7 * vg.Inch, 88.9: 3.5 * vg.Inch, 181.864: 7.16 * vg.Inch, 120: 120 * vg.Millimeter} {
		f := small()
		f.Width = mm
		if w, _ := f.size(); w-want > 0.01 || want-w > 0.01 {
			t.Errorf("%v mm: it is %v wide, want %v", mm, w, want)
		}
		svg, targets, err := f.svg()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(svg), "@font-face") || strings.Contains(string(svg), ">"+f.Title) {
			t.Errorf("%v mm: it contains a font, or its title", mm)
		}
		w, h := f.size()
		for _, at := range targets {
			if at.at.Min.X < 0 || at.at.Max.X > w || at.at.Min.Y < 0 || at.at.Max.Y > h {
				t.Errorf("%v mm: %s is drawn at %v of %v by %v", mm, at.text, at.at, w, h)
			}
		}
	}
}

// TestSaid checks that a caption states the number of replications, and mentions error bars
// if there are any.
func TestSaid(t *testing.T) {
	t.Parallel()
	of := func(points ...Point) string {
		return Figure{Caption: "Shares. " + Interval, Panels: []Panel{{Curves: []Curve{{"c", points}}}}}.Said()
	}
	bar := Point{Mean: 1, Lo: 0.5, Hi: 2, N: 5}
	other := bar
	other.N = 4
	for got, want := range map[string]string{
		of(bar):                  "Shares. " + Interval + " Means over n = 5 replications.",
		of(bar, other):           "Shares. " + Interval + " Means are computed over 4 to 5 replications (n), in which they are defined.",
		of(Point{Mean: 1, N: 1}): "Shares. One replication (n = 1).",
		of(Point{Mean: 1}):       "Shares.",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestWordsOfLegend checks that a legend explains abbreviations in words.
func TestWordsOfLegend(t *testing.T) {
	t.Parallel()
	f := small()
	f.Words = map[string]string{"edf": "earliest deadline first"}
	f.Panels[0].Curves = append(f.Panels[0].Curves, Curve{"edf, load 2", []Point{{X: 1, Mean: 1}}})
	svg, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">edf (earliest deadline first)<", ">edf (earliest deadline first), load 2<", "<desc>Numbers are invented. Means are computed over "} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("the figure does not say %s", want)
		}
	}
}
