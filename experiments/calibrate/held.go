package calibrate

import (
	"fmt"
	"math"
	"slices"

	"bourse/experiments/report"
)

// Held is how forecasters did on series.
type Held struct {
	Coverages []Coverage `json:"coverages" doc:"by series, forecaster and probability"`
	Notes     []string   `json:"notes"`
	Files     []string   `json:"files" doc:"that were written"`
}

// NewHeld returns coverages with what a reader must know of them.
func NewHeld(all []Coverage) *Held {
	return &Held{Coverages: report.List(all), Files: []string{}, Notes: []string{
		"Coverage: part of the time, over all forecasts, for which the price was at most what was foretold. A forecast is made each tenth of a window and is for the next window.",
		"Sharpness: mean of what was foretold, between 0 and the highest price, over the mean price. Pinball: mean pinball loss of that over the mean price. Forecasts overlap, so there are no intervals.",
		fmt.Sprintf("Windows: %.0f s of what is drawn, %.0f h of demand, %.0f h of spot prices.", drawnWindow, demandWindow/3600, spotWindow/3600),
	}}
}

// Document returns h for people: tables with a row a series and a column a forecaster.
func (h *Held) Document() report.Document {
	d := report.Document{Title: "What forecasters of prices promise and keep", Notes: h.Notes, Figures: []report.Figure{h.Figure()}}
	var gs []float64
	for _, c := range h.Coverages {
		if !slices.Contains(gs, c.G) {
			gs = append(gs, c.G)
		}
	}
	for _, g := range gs {
		for _, what := range []struct {
			title string
			of    func(c *Coverage) report.Cell
		}{
			{"Coverage", func(c *Coverage) report.Cell {
				return report.Cell{Text: fmt.Sprintf("%.3f", c.Covered), Strong: math.Abs(c.Covered-g) > near}
			}},
			{"Sharpness", func(c *Coverage) report.Cell { return report.Cell{Text: fmt.Sprintf("%.3f", c.Sharpness)} }},
			{"Pinball loss", func(c *Coverage) report.Cell { return report.Cell{Text: fmt.Sprintf("%.4f", c.Pinball)} }},
		} {
			d.Tables = append(d.Tables, h.table(g, fmt.Sprintf("%s, promised %v", what.title, g), what.of))
		}
		d.Tables[len(d.Tables)-3].Note = fmt.Sprintf("Strong: off by more than %v.", near)
	}
	d.Values = func(files []string) any {
		out := *h
		out.Files = report.List(files)
		return out
	}
	return d
}

// near is how close to what is promised coverage is good.
const near = 0.02

func (h *Held) table(g float64, title string, of func(*Coverage) report.Cell) report.Table {
	t := report.Table{Title: title, Header: []string{"series"}, Left: 1}
	for i := range h.Coverages {
		c := &h.Coverages[i]
		if c.G != g {
			continue
		}
		if len(t.Rows) == 0 || t.Rows[len(t.Rows)-1][0].Text != c.Series {
			t.Rows = append(t.Rows, []report.Cell{{Text: c.Series}})
		}
		if len(t.Rows) == 1 {
			t.Header = append(t.Header, c.Forecaster)
		}
		last := &t.Rows[len(t.Rows)-1]
		*last = append(*last, of(c))
	}
	return t
}

// Figure is what was covered against what was promised, a panel a series.
func (h *Held) Figure() report.Figure {
	f := report.Figure{Name: "forecast", Title: "Promised against covered", Across: 3, Caption: "On the line a percentile covers the price for as much of the time as it says."}
	for _, c := range h.Coverages {
		if len(f.Panels) == 0 || f.Panels[len(f.Panels)-1].Title != c.Series {
			f.Panels = append(f.Panels, report.Panel{Title: c.Series, X: "promised", Y: "covered", Hi: 1, Curves: []report.Curve{{Name: "as promised"}}})
		}
		p := &f.Panels[len(f.Panels)-1]
		if last := p.Curves[len(p.Curves)-1].Name; last != c.Forecaster {
			p.Curves = append(p.Curves, report.Curve{Name: c.Forecaster})
		}
		if len(p.Curves) == 2 {
			p.Curves[0].Points = append(p.Curves[0].Points, report.Point{X: c.G, Mean: c.G, Lo: c.G, Hi: c.G})
		}
		last := &p.Curves[len(p.Curves)-1]
		last.Points = append(last.Points, report.Point{X: c.G, Mean: c.Covered, Lo: c.Covered, Hi: c.Covered})
	}
	return f
}
