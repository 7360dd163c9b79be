package calibrate

import (
	"fmt"
	"math"
	"slices"

	"bourse/experiments/report"
	"bourse/experiments/stats"
)

// A Point is what one policy kept of what it promised with probability G.
type Point struct {
	Configuration string  `json:"configuration"`
	Policy        string  `json:"policy"`
	Forecaster    string  `json:"forecaster"`
	G             float64 `json:"g" doc:"what is promised, a probability"`
	Price         Kept    `json:"price" doc:"that the others bid at most the percentile, until the deadline, on each host that was asked about: parts of that time"`
	Pinball       float64 `json:"pinball" doc:"mean pinball loss of the percentile over that time, $/s"`
	Contract      Kept    `json:"contract" doc:"that an accepted contract is fulfilled"`
	Rejections    Mean    `json:"rejections" doc:"share of the jobs"`
	Revenue       Mean    `json:"revenue" doc:"$"`
	Efficiency    Mean    `json:"efficiency" doc:"of inelastic users (eq. 9, alpha 1)"`
}

// A Report is promised against kept, for both things that g can mean.
type Report struct {
	Scenario     string   `json:"scenario"`
	Replications int      `json:"replications"`
	Points       []Point  `json:"points" doc:"by configuration, policy and forecaster, in order of g"`
	Scores       []Scores `json:"scores" doc:"of the points of each, together"`
	Notes        []string `json:"notes"`
	Files        []string `json:"files" doc:"that were written"`
}

// Scores are those of one configuration, policy and forecaster, over all its points.
type Scores struct {
	Configuration string `json:"configuration"`
	Policy        string `json:"policy"`
	Forecaster    string `json:"forecaster"`
	Price         *Score `json:"price" doc:"null if the policy promises no price: it asks for other percentiles than that of g"`
	Contract      *Score `json:"contract" doc:"null if it accepted nothing"`
}

// A Score says how far promises are from what was kept.
type Score struct {
	Off     float64  `json:"off" doc:"mean of |kept - g|"`
	Worst   float64  `json:"worst" doc:"the least of kept - g: below 0, promises were broken"`
	Brier   float64  `json:"brier" doc:"mean Brier score"`
	Pinball *float64 `json:"pinball" doc:"of prices: mean pinball loss, $/s"`
}

// New returns the report of points.
func New(name string, replications int, points []Point, notes []string) *Report {
	r := &Report{Scenario: name, Replications: replications, Points: points, Scores: []Scores{}, Files: []string{}}
	lines := r.lines()
	r.Points = slices.Concat(lines...)
	for _, of := range lines {
		s := Scores{Configuration: of[0].Configuration, Policy: of[0].Policy, Forecaster: of[0].Forecaster}
		s.Price = score(of, func(p *Point) *Kept { return &p.Price })
		s.Contract = score(of, func(p *Point) *Kept { return &p.Contract })
		if s.Price != nil {
			var losses []float64
			for _, p := range of {
				if p.Price.Promises > 0 {
					losses = append(losses, p.Pinball)
				}
			}
			s.Price.Pinball = new(stats.Mean(losses))
		}
		r.Scores = append(r.Scores, s)
	}
	r.Notes = append(slices.Clip(notes),
		fmt.Sprintf("Shares are means over %d replications; their 95 %% intervals are Wilson's, a replication counting for as many promises as it tells of; where all contracts were fulfilled, or none, each counts.", replications),
		"Price: for each host that the policy asked about, accepted or not, the part of the time until the deadline for which the others bid at most the percentile. Time after the last event of a run is left out. A policy that asks for other percentiles than that of g promises no price.",
		"Contract: accepted contracts that were fulfilled. What was taken back, or was at work when the market closed, counts for neither.")
	return r
}

// lines returns the points of each configuration, policy and forecaster, all three in order
// of appearance.
func (r *Report) lines() (all [][]Point) {
	type key [3]string
	seen := [3]map[string]int{{}, {}, {}}
	at := make(map[key][]Point)
	var keys []key
	for _, p := range r.Points {
		k := key{p.Configuration, p.Policy, p.Forecaster}
		if at[k] == nil {
			keys = append(keys, k)
		}
		at[k] = append(at[k], p)
		for i, name := range k {
			if _, ok := seen[i][name]; !ok {
				seen[i][name] = len(seen[i])
			}
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		for i := range a {
			if a[i] != b[i] {
				return seen[i][a[i]] - seen[i][b[i]]
			}
		}
		return 0
	})
	for _, k := range keys {
		all = append(all, at[k])
	}
	return all
}

// score returns the scores of points that promise anything, nil if none does.
func score(points []Point, of func(*Point) *Kept) *Score {
	s := &Score{Worst: math.Inf(1)}
	n := 0.0
	for i := range points {
		k := of(&points[i])
		if k.Promises == 0 {
			continue
		}
		n++
		s.Off += math.Abs(k.Kept - points[i].G)
		s.Worst = min(s.Worst, k.Kept-points[i].G)
		s.Brier += k.Brier
	}
	if n == 0 {
		return nil
	}
	s.Off, s.Brier = s.Off/n, s.Brier/n
	return s
}

// Document returns r for people.
func (r *Report) Document() report.Document {
	return report.Document{
		Title: "What is promised and what is kept: " + r.Scenario,
		Tables: []report.Table{
			r.table("The price stays at most at its percentile", "pinball, $/s", func(p *Point) *Kept { return &p.Price }, func(p *Point) string { return fmt.Sprintf("%.4g", p.Pinball) }),
			r.table("The contract is fulfilled", "", func(p *Point) *Kept { return &p.Contract }, nil),
			r.costs(), r.scores(),
		},
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
func (r *Report) costs() report.Table {
	t := report.Table{Title: "What it costs", Header: append(slices.Clone(names), "promised", "rejections", "±", "revenue, $", "±", "efficiency", "±"), Left: len(names)}
	for i := range r.Points {
		p := &r.Points[i]
		row := append(p.names(), fmt.Sprintf("%.2f", p.G))
		for _, m := range []struct {
			Mean
			form string
		}{{p.Rejections, "%.3f"}, {p.Revenue, "%.2f"}, {p.Efficiency, "%.3f"}} {
			half := "–"
			if m.Lo95 != nil {
				half = fmt.Sprintf(m.form, (*m.Hi95-*m.Lo95)/2)
			}
			row = append(row, fmt.Sprintf(m.form, m.Mean.Mean), half)
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

// Figure is the reliability diagram: what was kept against what was promised, a panel for
// each configuration, policy and meaning.
func (r *Report) Figure() report.Figure {
	f := report.Figure{
		Name: "calibration", Title: "Promised against kept", Across: 2,
		Caption: "Error bars are Wilson's 95 % intervals. On the line a promise is kept as often as it says, above it more often.",
	}
	at := make(map[string]int)
	for _, of := range r.lines() {
		for k, what := range []string{"the price stays at most at its percentile", "the contract is fulfilled"} {
			if !slices.ContainsFunc(of, func(p Point) bool { return p.kinds()[k].Promises > 0 }) {
				continue
			}
			title := of[0].Policy + ": " + what
			if key := of[0].Configuration; r.several() {
				title = key + ", " + title
			}
			i, ok := at[title]
			if !ok {
				i = len(f.Panels)
				at[title] = i
				line := report.Curve{Name: "as promised"}
				for _, p := range of {
					line.Points = append(line.Points, report.Point{X: p.G, Mean: p.G, Lo: p.G, Hi: p.G})
				}
				f.Panels = append(f.Panels, report.Panel{Title: title, X: "promised", Y: "kept", Hi: 1, Curves: []report.Curve{line}})
			}
			curve := report.Curve{Name: of[0].Forecaster}
			for _, p := range of {
				kept := p.kinds()[k]
				if kept.Promises == 0 {
					continue
				}
				pt := report.Point{X: p.G, Mean: kept.Kept, Lo: kept.Kept, Hi: kept.Kept}
				if kept.Lo95 != nil {
					pt.Lo, pt.Hi = *kept.Lo95, *kept.Hi95
				}
				curve.Points = append(curve.Points, pt)
			}
			f.Panels[i].Curves = append(f.Panels[i].Curves, curve)
		}
	}
	return f
}

// several reports whether there is more than one configuration.
func (r *Report) several() bool {
	return slices.ContainsFunc(r.Points, func(p Point) bool { return p.Configuration != r.Points[0].Configuration })
}
