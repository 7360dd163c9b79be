package study

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/experiments/report"
)

// figure plots the metric against the first axis and marks settings that are not
// significantly worse. Below, it plots the difference between each setting and the best
// one. Each policy and each point of the other axes has a panel of both kinds.
func (r *Tuned) figure() report.Figure {
	f := report.Figure{
		Name: "tune", Title: r.goal(), Order: []string{"all", "not significantly worse", "the best"},
		Caption: "The figure shows means with their 95 % intervals. The figure also shows the difference of each mean from the best mean, with intervals that are simultaneous at 95 %. A setting is not significantly worse if the interval of its difference contains 0. All intervals are confidence sequences.",
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
		mean := r.draw(arms[name], func(s *settingRow) (at, lo, hi report.Maybe) { return s.Mean, s.Lo, s.Hi })
		less := r.draw(arms[name], func(s *settingRow) (at, lo, hi report.Maybe) { return s.Difference, s.LessLo, s.LessHi })
		mean.Title, mean.Y, less.Title, less.Y = name, r.Metric, name, r.Metric+" minus the best"
		f.Panels = append(f.Panels, mean, less)
	}
	alike(f.Panels)
	f.Letters = true
	return f
}

// untouched is the title of the panel with the policies that no axis affects.
const untouched = "policies not affected by any axis"

// alike gives all panels of one kind the same scale. The two kinds alternate. Scales of
// bars start at 0.
func alike(panels []report.Panel) {
	for kind := range 2 {
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := kind; i < len(panels); i += 2 {
			p := &panels[i]
			for _, c := range p.Curves {
				for _, pt := range c.Points {
					lo, hi = min(lo, pt.Lo), max(hi, pt.Hi)
				}
			}
			if p.Groups != nil {
				lo, hi = min(lo, 0), max(hi, 0)
			}
		}
		for i := kind; i < len(panels) && lo < hi; i += 2 {
			panels[i].Lo, panels[i].Hi = lo, hi
		}
	}
}

// panel returns the title of a setting's panel: its policy and its values on all axes
// except the first.
func (r *Tuned) panel(arm int) string {
	s := &r.Settings[arm]
	var at []string
	if len(r.Over) > 0 && strings.Join(s.At, "") == "" {
		return untouched
	}
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

// marked is the maximum number of points for which a curve has marks and intervals. If
// there are more, lines connect the ends of the intervals.
const marked = 40

// draw returns a panel that shows the given arms.
func (r *Tuned) draw(arms []int, of func(*settingRow) (at, lo, hi report.Maybe)) (p report.Panel) {
	at := func(arm int) string {
		if len(r.Over) == 0 || r.Settings[arm].At[0] == "" {
			return r.Settings[arm].Policy
		}
		return r.Settings[arm].At[0]
	}
	if p.X = "policy"; len(r.Over) > 0 && r.Settings[arms[0]].At[0] != "" {
		p.X = r.Over[0]
	}
	numbers := true
	for _, arm := range arms {
		_, err := strconv.ParseFloat(at(arm), 64)
		numbers = numbers && err == nil
	}
	curves := []report.Curve{{Name: "all"}, {Name: "not significantly worse"}, {Name: "the best"}}
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
		pt, in := point(x, mean, lo, hi), &curves[0]
		if s.Kept {
			in = &curves[1]
		}
		if arm == r.Best {
			in = &curves[2]
		}
		if numbers && in != &curves[0] {
			curves[0].Points = append(curves[0].Points, pt)
		}
		in.Points = append(in.Points, pt)
	}
	if all := curves[0].Points; len(all) > marked {
		lower, upper := report.Curve{Name: "ends of intervals"}, report.Curve{Name: "ends of intervals"}
		for _, pt := range all {
			if pt.Lo < pt.Hi {
				lower.Points, upper.Points = append(lower.Points, flat(pt.X, pt.Lo)), append(upper.Points, flat(pt.X, pt.Hi))
			}
		}
		curves = append(curves, lower, upper)
	}
	p.Curves = slices.DeleteFunc(curves, func(c report.Curve) bool { return len(c.Points) == 0 })
	return p
}
