package tune

import (
	"strconv"
	"strings"

	"bourse/experiments/report"
)

// Figure returns the metric by the first axis, with what cannot be told from the best marked,
// and below it each setting less the best: a panel of both for each policy and point of the
// other axes.
func (r *Report) Figure() report.Figure {
	f := report.Figure{
		Name: "tune", Title: r.goal(), Order: []string{"all", "not told from the best", "the best"},
		Caption: "Means, with their 95 % intervals; and means less the best, with intervals that hold together at 95 %: what reaches 0 there is not told from it. Intervals are of confidence sequences.",
	}
	var names []string
	arms := make(map[string][]int)
	for arm := range r.Settings {
		name := r.panel(arm)
		if arms[name] == nil {
			names = append(names, name)
		}
		arms[name] = append(arms[name], arm)
	}
	for _, name := range names {
		mean := r.draw(arms[name], func(s *Row) (at, lo, hi report.Maybe) { return s.Mean, s.Lo, s.Hi })
		less := r.draw(arms[name], func(s *Row) (at, lo, hi report.Maybe) { return s.Difference, s.LessLo, s.LessHi })
		mean.Title, mean.Y, less.Title, less.Y = name, r.Metric, name, r.Metric+" less the best"
		f.Panels = append(f.Panels, mean, less)
	}
	report.Letter(f.Panels)
	return f
}

// panel returns what a setting is drawn under: its policy and where it is on all axes but the
// first.
func (r *Report) panel(arm int) string {
	s := &r.Settings[arm]
	var at []string
	if r.policies() > 1 && len(r.Over) > 0 {
		at = append(at, s.Policy)
	}
	for i, v := range s.At {
		if i > 0 && v != "" {
			at = append(at, short(r.Over[i])+" "+v)
		}
	}
	return strings.Join(at, ", ")
}

// marked is how many points of a curve have marks and intervals at most; the ends of the
// intervals of more are lines.
const marked = 40

// draw returns a panel of arms.
func (r *Report) draw(arms []int, of func(*Row) (at, lo, hi report.Maybe)) (p report.Panel) {
	at := func(arm int) string {
		if len(r.Over) == 0 || r.Settings[arm].At[0] == "" {
			return r.Settings[arm].Policy
		}
		return r.Settings[arm].At[0]
	}
	if p.X = "policy"; len(r.Over) > 0 {
		p.X = r.Over[0]
	}
	numbers := true
	for _, arm := range arms {
		_, err := strconv.ParseFloat(at(arm), 64)
		numbers = numbers && err == nil
	}
	curves := []report.Curve{{Name: "all"}, {Name: "not told from the best"}, {Name: "the best"}}
	for i, arm := range arms {
		s := &r.Settings[arm]
		mean, lo, hi := of(s)
		x, err := strconv.ParseFloat(at(arm), 64)
		if !numbers || err != nil {
			x, p.Groups = float64(i), append(p.Groups, at(arm))
		}
		if !mean.Exists() {
			continue
		}
		pt := report.Point{X: x, Mean: float64(mean), Lo: float64(mean), Hi: float64(mean)}
		if lo.Exists() && hi.Exists() {
			pt.Lo, pt.Hi = float64(lo), float64(hi)
		}
		which := 0
		switch {
		case arm == r.Best:
			which = 2
		case s.Kept:
			which = 1
		}
		if which == 0 || numbers {
			curves[0].Points = append(curves[0].Points, pt)
		}
		if which > 0 {
			curves[which].Points = append(curves[which].Points, pt)
		}
	}
	if n := len(curves[0].Points); n > 0 {
		p.Lo, p.Hi = curves[0].Points[0].Lo, curves[0].Points[0].Hi
	}
	if len(curves[0].Points) > marked {
		curves = append(curves, report.Curve{Name: "ends of intervals"}, report.Curve{Name: "ends of intervals"})
	}
	for _, c := range curves[:3] {
		for _, pt := range c.Points {
			p.Lo, p.Hi = min(p.Lo, pt.Lo), max(p.Hi, pt.Hi)
			if c.Name == curves[0].Name && len(curves) > 3 && pt.Lo < pt.Hi {
				curves[3].Points = append(curves[3].Points, report.Point{X: pt.X, Mean: pt.Lo, Lo: pt.Lo, Hi: pt.Lo})
				curves[4].Points = append(curves[4].Points, report.Point{X: pt.X, Mean: pt.Hi, Lo: pt.Hi, Hi: pt.Hi})
			}
		}
	}
	for _, c := range curves {
		if len(c.Points) > 0 {
			p.Curves = append(p.Curves, c)
		}
	}
	return p
}
