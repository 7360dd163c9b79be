package calibrate

import (
	"fmt"
	"slices"

	"bourse/experiments/report"
)

// Document returns r for people.
func (r *Report) Document() report.Document {
	tables := []report.Table{
		r.table("The price stays at most at its percentile", "pinball, $/s", func(p *Point) *Kept { return &p.Price }, func(p *Point) string { return fmt.Sprintf("%.4g", p.Pinball) }),
		r.table("The contract is fulfilled", "", func(p *Point) *Kept { return &p.Contract }, nil),
		r.costs("What it costs", func(p *Point) *Cost { return &p.Cost }),
	}
	if r.Less != "" {
		tables = append(tables, r.costs("What it costs, less "+r.Less+" on the same jobs", func(p *Point) *Cost { return p.Less }))
	}
	return report.Document{
		Title: "What is promised and what is kept: " + r.Scenario, Tables: append(tables, r.scores()),
		Figures: []report.Figure{r.Figure()}, Notes: r.Notes,
		Values: func(files []string) any {
			out := *r
			out.Files = report.List(files)
			return out
		},
	}
}

// kinds are the two things that g can mean.
func (p *Point) kinds() [2]Kept { return [2]Kept{p.Price, p.Contract} }

// names begins the row of a point, or its header.
var names = []string{"configuration", "policy", "forecaster"}

func (p *Point) names() []any { return []any{p.Configuration, p.Policy, p.Forecaster} }

// table shows one kind of promise. More, of each point, is the last column, unless it is nil.
func (r *Report) table(title, head string, of func(*Point) *Kept, more func(*Point) string) report.Table {
	t := report.Table{Title: title, Header: append(slices.Clone(names), "promised", "kept", "95 % from", "to", "promises", "Brier"), Left: len(names)}
	if more != nil {
		t.Header = append(t.Header, head)
	}
	for i := range r.Points {
		p := &r.Points[i]
		k := of(p)
		if k.Promises == 0 {
			continue
		}
		share := report.Cell{Text: fmt.Sprintf("%.3f", k.Kept), Strong: k.Hi95 != nil && *k.Hi95 < p.G}
		row := report.Cells(append(p.names(), fmt.Sprintf("%.2f", p.G), share, end(k.Lo95, "%.3f"), end(k.Hi95, "%.3f"), k.Promises, fmt.Sprintf("%.4f", k.Brier))...)
		if more != nil {
			row = append(row, report.Cell{Text: more(p)})
		}
		t.Rows = append(t.Rows, row)
	}
	t.Note = "Strong: all of the interval lies below what is promised."
	return t
}

// costs shows what promises cost.
func (r *Report) costs(title string, of func(*Point) *Cost) report.Table {
	t := report.Table{Title: title, Header: append(slices.Clone(names), "promised", "rejections", "±", "revenue, $", "±", "efficiency", "±"), Left: len(names)}
	for i := range r.Points {
		p := &r.Points[i]
		c := of(p)
		if c == nil {
			continue
		}
		row := append(p.names(), fmt.Sprintf("%.2f", p.G))
		for _, m := range []struct {
			Mean
			places int
		}{{c.Rejections, 3}, {c.Revenue, 2}, {c.Efficiency, 3}} {
			half := "–"
			if m.Lo95 != nil {
				half = fmt.Sprintf("%.*f", m.places, (*m.Hi95-*m.Lo95)/2)
			}
			row = append(row, fmt.Sprintf("%.*f", m.places, m.Mean.Mean), half)
		}
		t.Rows = append(t.Rows, report.Cells(row...))
	}
	t.Note = "Half-widths are of Student's 95 % intervals of the mean. Efficiency is that of inelastic users."
	return t
}

func (r *Report) scores() report.Table {
	t := report.Table{
		Title:  "Over all that was promised",
		Header: append(slices.Clone(names), "price: off by", "worst", "Brier", "pinball, $/s", "contract: off by", "worst", "Brier"), Left: len(names),
		Note: "Off by: mean of |kept - promised|. Worst: the least of kept - promised; below 0, promises were broken.",
	}
	for _, s := range r.Scores {
		row := []any{s.Configuration, s.Policy, s.Forecaster}
		if p := s.Price; p != nil {
			row = append(row, fmt.Sprintf("%.3f", p.Off), fmt.Sprintf("%+.3f", p.Worst), fmt.Sprintf("%.4f", p.Brier), fmt.Sprintf("%.4g", *p.Pinball))
		} else {
			row = append(row, "–", "–", "–", "–")
		}
		if c := s.Contract; c != nil {
			row = append(row, fmt.Sprintf("%.3f", c.Off), fmt.Sprintf("%+.3f", c.Worst), fmt.Sprintf("%.4f", c.Brier))
		} else {
			row = append(row, "–", "–", "–")
		}
		t.Rows = append(t.Rows, report.Cells(row...))
	}
	return t
}

func end(x *float64, form string) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf(form, *x)
}
