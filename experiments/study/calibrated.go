package study

import (
	"fmt"
	"math"
	"slices"

	"bourse/experiments/report"
	"bourse/experiments/stats"
)

// A Line is one policy with one forecaster in one configuration.
type Line struct {
	Configuration string `json:"configuration"`
	Policy        string `json:"policy"`
	Forecaster    string `json:"forecaster"`
}

// A Point compares a promise of one policy, with probability G, with its realization.
type Point struct {
	Line
	G        float64 `json:"g" doc:"promised probability"`
	Price    kept    `json:"price" doc:"fraction of the time until the deadline during which the sum of the other bids on a queried host is at most the price percentile"`
	Pinball  float64 `json:"pinball" doc:"mean pinball loss of the price percentile until the deadline, $/s"`
	Contract kept    `json:"contract" doc:"probability that an accepted contract is fulfilled"`
	Cost
	Less *Cost `json:"less" doc:"difference from another policy on the same replications; null unless requested"`
}

// A kept contains the realized results of promises with probability g.
type kept struct {
	Promises int      `json:"promises" doc:"number of promises over all replications"`
	Kept     float64  `json:"kept" doc:"mean over replications of the realized fraction; 0 without promises"`
	Lo95     *float64 `json:"lo95" doc:"lower end of the 95 % score interval of clustered trials for the fraction; null for fewer than two replications"`
	Hi95     *float64 `json:"hi95"`
	Brier    float64  `json:"brier" doc:"mean over replications of the mean of (g - realized)²; lower values are better"`
}

// A meanValue is a mean over replications, with Student's 95 % interval.
type meanValue struct {
	Mean float64  `json:"mean"`
	Lo95 *float64 `json:"lo95" doc:"lower end of the interval; null for fewer than two replications, or if all values are equal"`
	Hi95 *float64 `json:"hi95"`
}

// A Cost contains the outcomes of jobs, other than whether promises were kept. Each outcome is
// a mean over replications.
type Cost struct {
	Rejections meanValue `json:"rejections" doc:"fraction of jobs that were rejected"`
	Revenue    meanValue `json:"revenue" doc:"$"`
	Efficiency meanValue `json:"efficiency" doc:"efficiency for inelastic users (eq. 9 at alpha = 1)"`
}

// Calibrated compares promised and realized probabilities for both meanings of g.
type Calibrated struct {
	Scenario     string       `json:"scenario"`
	Replications int          `json:"replications"`
	Less         string       `json:"less" doc:"policy with which costs are compared; empty if there is none"`
	Points       []Point      `json:"points" doc:"points by configuration, policy and forecaster, in the order of g"`
	Scores       []lineScores `json:"scores" doc:"summary of all points for each configuration, policy and forecaster"`
	Notes        []string     `json:"notes"`
	Files        []string     `json:"files" doc:"files written"`
}

// A lineScores contains the scores of one line over all its points.
type lineScores struct {
	Line
	Price    *score `json:"price" doc:"scores of price promises; null if the policy promises no price because it does not use the percentile for g"`
	Contract *score `json:"contract" doc:"scores of promises to fulfil contracts; null if the policy accepted no job"`
}

// A score measures the distance of promised values from realized values.
type score struct {
	Off     float64  `json:"off" doc:"mean of |kept - g|"`
	Worst   float64  `json:"worst" doc:"minimum of realized - g; a negative value means that promises were broken"`
	Brier   float64  `json:"brier" doc:"mean Brier score"`
	Pinball *float64 `json:"pinball" doc:"mean pinball loss of the prices, $/s"`
}

// kinds are the two meanings of g.
var kinds = [2]struct {
	title, what string
	of          func(*Point) *kept
}{
	{"The price stays at or below its percentile", "the price stays at or below its percentile", func(p *Point) *kept { return &p.Price }},
	{"The contract is fulfilled", "the contract is fulfilled", func(p *Point) *kept { return &p.Contract }},
}

// calibrated returns the report of points. Their costs are compared with the costs of the
// policy named by less.
func calibrated(name string, replications int, points []Point, less string, notes []string) *Calibrated {
	r := &Calibrated{Scenario: name, Replications: replications, Less: less, Points: points, Scores: []lineScores{}, Files: []string{}}
	place := make(map[string]int) // position of each configuration, policy and forecaster name, in order of appearance
	key := func(p *Point) (k [3]int) {
		for i, name := range []string{p.Configuration, p.Policy, p.Forecaster} {
			name = fmt.Sprint(i, name)
			if _, ok := place[name]; !ok {
				place[name] = len(place)
			}
			k[i] = place[name]
		}
		return k
	}
	for i := range points {
		key(&points[i])
	}
	slices.SortStableFunc(points, func(a, b Point) int {
		x, y := key(&a), key(&b)
		return slices.Compare(x[:], y[:])
	})
	for _, of := range r.lines() {
		s := lineScores{Line: of[0].Line, Price: scoreOf(of, kinds[0].of), Contract: scoreOf(of, kinds[1].of)}
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
		fmt.Sprintf("Fractions are means over %d replications. Their 95 %% intervals are score intervals for clustered trials, where each replication is a cluster.", replications),
		"A price promise is evaluated on each host that the policy queried, even if the policy then rejected the job. The realized fraction is the fraction of the time until the deadline during which the sum of the other bids is at most the price percentile. The time after the last event of a run is not counted. A policy that does not use the percentile for g promises no price.",
		"For contracts, the realized fraction is the fraction of accepted contracts that were fulfilled. Contracts that were cancelled, or still open when the market closed, are not counted.")
	return r
}

// lines returns the points grouped by line.
func (r *Calibrated) lines() (all [][]Point) {
	for i, p := range r.Points {
		if i == 0 || p.Line != r.Points[i-1].Line {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], p)
	}
	return all
}

// scoreOf returns the scores of the points that have promises, or nil if there are none.
func scoreOf(points []Point, of func(*Point) *kept) *score {
	s := &score{Worst: math.Inf(1)}
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

// Document returns r as a document for printing.
func (r *Calibrated) Document() report.Document {
	price := r.table(kinds[0].title, true, kinds[0].of)
	costs := []report.Table{r.costs("What it costs", func(p *Point) *Cost { return &p.Cost })}
	if r.Less != "" {
		costs = append(costs, r.costs("Cost, compared with "+r.Less+" on the same jobs", func(p *Point) *Cost { return p.Less }))
	}
	return report.Document{
		Title:   "Promised and realized: " + r.Scenario,
		Tables:  slices.Concat([]report.Table{price, r.table(kinds[1].title, false, kinds[1].of)}, costs, []report.Table{r.scores()}),
		Figures: []report.Figure{r.figure()}, Notes: r.Notes,
		Values: func(files []string) any {
			out := *r
			out.Files = report.List(files)
			return out
		},
	}
}

// header returns a table whose rows start with the fields of a line.
func header(title, note string, names ...string) report.Table {
	return report.Table{Title: title, Note: note, Header: append([]string{"configuration", "policy", "forecaster"}, names...), Left: 3}
}

// row returns one row of such a table.
func (l Line) row(cells ...any) []report.Cell {
	return report.Cells(append([]any{l.Configuration, l.Policy, l.Forecaster}, cells...)...)
}

// table lists the promises of one kind. On request, it includes their pinball loss.
func (r *Calibrated) table(title string, pinball bool, of func(*Point) *kept) report.Table {
	t := header(title, "A value is bold if the whole interval of the value lies below the promise.", "promised", "realized", "95 % from", "to", "promises", "Brier")
	if pinball {
		t.Header = append(t.Header, "pinball, $/s")
	}
	for i := range r.Points {
		p := &r.Points[i]
		k := of(p)
		if k.Promises == 0 {
			continue
		}
		share := report.Cell{Text: fmt.Sprintf("%.3f", k.Kept), Strong: k.Hi95 != nil && *k.Hi95 < p.G}
		row := p.row(fmt.Sprintf("%.2f", p.G), share, fixed(k.Lo95, 3), fixed(k.Hi95, 3), k.Promises, fmt.Sprintf("%.4f", k.Brier))
		if pinball {
			row = append(row, report.Cell{Text: fmt.Sprintf("%.4g", p.Pinball)})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// costs lists the costs of promises.
func (r *Calibrated) costs(title string, of func(*Point) *Cost) report.Table {
	t := header(title, "Half-widths refer to Student's 95 % intervals of the mean. Efficiency is for inelastic users.", "promised", "rejections", "±", "revenue, $", "±", "efficiency", "±")
	for i := range r.Points {
		p := &r.Points[i]
		c := of(p)
		if c == nil {
			continue
		}
		row := []any{fmt.Sprintf("%.2f", p.G)}
		for m, mean := range []meanValue{c.Rejections, c.Revenue, c.Efficiency} {
			places := []int{3, 2, 3}[m]
			half := "–"
			if mean.Lo95 != nil {
				half = fmt.Sprintf("%.*f", places, (*mean.Hi95-*mean.Lo95)/2)
			}
			row = append(row, fmt.Sprintf("%.*f", places, mean.Mean), half)
		}
		t.Rows = append(t.Rows, p.row(row...))
	}
	return t
}

func (r *Calibrated) scores() report.Table {
	t := header("Over all promises", "The column off by is the mean of |realized - promised|. The column worst is the minimum of realized - promised; a negative value means that promises were broken.",
		"price: off by", "worst", "Brier", "pinball, $/s", "contract: off by", "worst", "Brier")
	cells := func(x *score) []any {
		if x == nil {
			return []any{"–", "–", "–"}
		}
		return []any{fmt.Sprintf("%.3f", x.Off), fmt.Sprintf("%+.3f", x.Worst), fmt.Sprintf("%.4f", x.Brier)}
	}
	for _, s := range r.Scores {
		pinball := "–"
		if s.Price != nil {
			pinball = fmt.Sprintf("%.4g", *s.Price.Pinball)
		}
		t.Rows = append(t.Rows, s.row(slices.Concat(cells(s.Price), []any{pinball}, cells(s.Contract))...))
	}
	return t
}

// fixed formats x with the given number of decimals, or as a dash if x is nil.
func fixed(x *float64, places int) string { return digits(float64(maybe(x)), 'f', places) }

// figure returns the reliability diagram, which plots the realized against the promised
// probability. It has a panel for each configuration, policy and meaning of g.
func (r *Calibrated) figure() report.Figure {
	f := report.Figure{
		Name: "calibration", Title: "Promised against kept", Across: 2,
		Caption: "Error bars are 95 % intervals. Points on the line show promises kept exactly as often as stated; points above the line show promises kept more often.",
	}
	several := slices.ContainsFunc(r.Points, func(p Point) bool { return p.Configuration != r.Points[0].Configuration })
	for _, of := range r.lines() {
		for _, kind := range kinds {
			if !slices.ContainsFunc(of, func(p Point) bool { return kind.of(&p).Promises > 0 }) {
				continue
			}
			title := of[0].Policy + ": " + kind.what
			if several {
				title = of[0].Configuration + ", " + title
			}
			for i := range of {
				var pts []report.Point
				if k := kind.of(&of[i]); k.Promises > 0 {
					pts = append(pts, point(of[i].G, report.Maybe(k.Kept), maybe(k.Lo95), maybe(k.Hi95)))
				}
				reliable(&f, title, "kept", of[0].Forecaster, of[i].G, pts...)
			}
		}
	}
	return f
}

// reliable adds the points of a curve to the panel with the given title. The promised
// probabilities are in g.
func reliable(f *report.Figure, title, y, curve string, g float64, pts ...report.Point) {
	i := slices.IndexFunc(f.Panels, func(p report.Panel) bool { return p.Title == title })
	if i < 0 {
		i = len(f.Panels)
		f.Panels = append(f.Panels, report.Panel{Title: title, X: "promised", Y: y, Hi: 1, Curves: []report.Curve{{Name: "as promised"}}})
	}
	p := &f.Panels[i]
	if p.Curves[len(p.Curves)-1].Name != curve {
		p.Curves = append(p.Curves, report.Curve{Name: curve})
	}
	if len(p.Curves) == 2 {
		p.Curves[0].Points = append(p.Curves[0].Points, flat(g, g))
	}
	last := &p.Curves[len(p.Curves)-1]
	last.Points = append(last.Points, pts...)
}
