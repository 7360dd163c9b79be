package report

import (
	"bytes"
	"encoding/json"
)

// vegaSchema is the version of Vega-Lite that specifications use.
const vegaSchema = "https://vega.github.io/schema/vega-lite/v5.json"

// A spec is a part of a Vega-Lite specification.
type spec = map[string]any

// vega returns a Vega-Lite specification of the figure, including its numbers. Readers can use
// it to draw the figure in a different style.
func (f Figure) vega() []byte {
	across, _ := f.grid()
	s := spec{
		"$schema": vegaSchema, "title": clean(f.Title), "description": clean(f.Said()),
		"columns": across,
		"config":  spec{"font": "Liberation Sans, Arial, Helvetica, sans-serif"},
	}
	names, styles := f.present()
	colors := make([]string, len(names))
	for i, name := range names {
		colors[i] = hex(styles[name].color)
	}
	panels := make([]any, len(f.Panels))
	for i := range f.Panels {
		panels[i] = f.drawn(i).vega(names, colors)
	}
	s["concat"] = panels
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(s); err != nil {
		panic("report: " + err.Error()) // cannot happen, because s contains only maps and strings
	}
	return b.Bytes()
}

// vega returns the Vega-Lite view of a panel.
func (p Panel) vega(names, colors []string) spec {
	values := []any{}
	for _, c := range p.Curves {
		for _, pt := range c.Points {
			v := spec{"curve": clean(c.Name), "mean": Maybe(pt.Mean), "lo": Maybe(pt.Lo), "hi": Maybe(pt.Hi)}
			if p.Groups != nil {
				v["x"] = clean(p.Groups[int(pt.X)])
			} else {
				v["x"] = Maybe(pt.X)
			}
			if pt.N > 0 {
				v["n"] = pt.N
			}
			values = append(values, v)
		}
	}
	field := func(name, kind, title string, more spec) spec {
		of := spec{"field": name, "type": kind, "title": clean(title)}
		for k, v := range more {
			of[k] = v
		}
		return of
	}
	curve := spec{"field": "curve", "type": "nominal", "title": nil}
	if len(names) > 0 {
		curve["scale"] = spec{"domain": names, "range": colors}
	}
	view := spec{"title": clean(p.letter + p.Title), "width": 252, "height": 160, "data": spec{"values": values}}
	switch {
	case p.Heat:
		view["mark"] = spec{"type": "rect", "tooltip": true}
		view["encoding"] = spec{
			"x":     field("x", "ordinal", p.X, spec{"sort": nil}),
			"y":     field("curve", "ordinal", p.Y, spec{"sort": "descending"}),
			"color": field("mean", "quantitative", "mean", nil),
		}
	case p.Forest:
		y := field("x", "ordinal", "", spec{"sort": nil})
		view["layer"] = []any{
			spec{"mark": "rule", "encoding": spec{"x": field("lo", "quantitative", p.X, nil), "x2": spec{"field": "hi"}, "y": y}},
			spec{"mark": spec{"type": "point", "filled": true, "tooltip": true}, "encoding": spec{"x": field("mean", "quantitative", p.X, nil), "y": y}},
		}
	case p.Groups != nil:
		x := field("x", "nominal", p.X, spec{"sort": nil})
		offset := spec{"field": "curve", "sort": names}
		view["layer"] = []any{
			spec{"mark": spec{"type": "bar", "tooltip": true}, "encoding": spec{"x": x, "xOffset": offset, "y": field("mean", "quantitative", p.Y, p.vegaScale()), "color": curve}},
			spec{"mark": "rule", "encoding": spec{"x": x, "xOffset": offset, "y": field("lo", "quantitative", p.Y, nil), "y2": spec{"field": "hi"}}},
		}
	default:
		x := field("x", "quantitative", p.X, nil)
		if p.LogX {
			x["scale"] = spec{"type": "log"}
		}
		view["layer"] = []any{
			spec{"mark": "rule", "encoding": spec{"x": x, "y": field("lo", "quantitative", p.Y, p.vegaScale()), "y2": spec{"field": "hi"}, "color": curve}},
			spec{"mark": spec{"type": "line", "point": true, "tooltip": true}, "encoding": spec{"x": x, "y": field("mean", "quantitative", p.Y, p.vegaScale()), "color": curve}},
		}
	}
	return view
}

// vegaScale returns the range of the y axis if the panel sets one.
func (p Panel) vegaScale() spec {
	switch {
	case p.LogY:
		return spec{"scale": spec{"type": "log"}}
	case p.Lo != 0 || p.Hi != 0:
		lo, hi := p.yRange()
		return spec{"scale": spec{"domain": []float64{lo, hi}}}
	}
	return nil
}
