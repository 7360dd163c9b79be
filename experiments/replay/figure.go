package replay

import (
	"cmp"
	"slices"

	"bourse/experiments/report"
)

// Figure returns what owners have of their requests together, by the instant up to which
// these were asked for, under the one policy and under the other.
func (r *Report) Figure() report.Figure {
	was, is := report.Curve{Name: r.Sides[0].Policy}, report.Curve{Name: r.Sides[1].Policy}
	jobs := slices.Clone(r.Jobs)
	slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Or(cmp.Compare(a.Asked, b.Asked), cmp.Compare(a.ID, b.ID)) })
	var before, after int64 // micro-dollars
	add := func(c *report.Curve, sum *int64, asked float64, f *Fate) {
		*sum += f.Surplus()
		y := float64(*sum) / 1e6
		c.Points = append(c.Points, report.Point{X: asked, Mean: y, Lo: y, Hi: y})
	}
	for i := range jobs {
		add(&was, &before, jobs[i].Asked, &jobs[i].Was)
		add(&is, &after, jobs[i].Asked, &jobs[i].Is)
	}
	return report.Figure{
		Name: "replay", Title: "What owners have, under " + was.Name + " and under " + is.Name,
		Caption: "The sum of what requests are worth to their owners, less what was paid, and penalties, by the instant up to which they were asked for.",
		Panels:  []report.Panel{{X: "asked by, s", Y: "surplus, $", Curves: []report.Curve{was, is}}},
	}
}
