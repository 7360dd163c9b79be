// Package market draws the figures of "Admission Control in a Computational Market"
// (Sandholm, Lai, Clearwater) and lists the contradictions between the paper's numbers.
//
// It treats the names of policies and metrics as text.
package market

import (
	"slices"

	"bourse/experiments/report"
	"bourse/experiments/results"
)

// Figures returns the figures for which there are results. Error bars are 95 % intervals of
// the mean. RAC appears only in figure 3, as in the paper.
func Figures(l report.Labels, summary []results.Summary, curve []results.Point) []report.Figure {
	rows := report.Rows(nil, summary, curve)
	others := slices.DeleteFunc(slices.Clone(rows), func(r report.Row) bool { return r.At[report.ByPolicy] == rac })
	figures := []report.Figure{figure1(l, others), figure2(l, others), figure3(l, rows)}
	for i := range figures {
		f := &figures[i]
		for _, policy := range []string{"be", "sac", "cac", rac} { // use the same colours in all figures
			f.Order = append(f.Order, l.Of(policy))
		}
		if i < 2 && len(others) < len(rows) {
			f.Omits = []string{l.Of(rac) + ", which figure 3 shows"}
		}
		f.Caption += report.Interval
		f.Letters = true
	}
	return slices.DeleteFunc(figures, func(f report.Figure) bool { return len(f.Panels) == 0 })
}

const rac = "rac"

// figure1 shows violations, utilization, rejections and demand correlation. It has a group
// of bars for each configuration and a bar for each admission policy.
func figure1(l report.Labels, rows []report.Row) report.Figure {
	return report.Figure{
		Name: "figure1", Title: "Figure 1. Violations, utilization, rejections and demand correlation",
		Panels: panels(l, rows, report.Plot{
			X: report.ByConfiguration, Y: []string{"violations", "utilization", "rejections", "demand_correlation"},
			Color: []string{report.ByPolicy}, Facet: []string{report.ByMetric},
		}),
	}
}

// figure2 shows efficiency against alpha. It has a panel for each configuration in which
// efficiency is defined, and a line for each admission policy.
func figure2(l report.Labels, rows []report.Row) report.Figure {
	return report.Figure{
		Name: "figure2", Title: "Figure 2. Efficiency against α", Caption: "α = 0 means elastic utility, α = 1 inelastic utility. ",
		Panels: lines(l, slices.DeleteFunc(slices.Clone(rows), func(r report.Row) bool { return r.Mean == nil })),
	}
}

// figure3 compares RAC with BE and CAC in each configuration that includes RAC. It shows
// the metrics of figure1 as groups of bars, and efficiency against alpha.
func figure3(l report.Labels, rows []report.Row) report.Figure {
	f := report.Figure{Name: "figure3", Title: "Figure 3. Random admission control compared with best effort and capacity"}
	of := func(policies ...string) []report.Row {
		return slices.DeleteFunc(slices.Clone(rows), func(r report.Row) bool { return !slices.Contains(policies, r.At[report.ByPolicy]) })
	}
	compared := of("be", "cac", rac)
	measured := slices.DeleteFunc(of(rac), func(r report.Row) bool { return r.At[report.ByMetric] == report.Efficiency })
	for _, c := range report.Distinct(measured, report.ByConfiguration) {
		own := slices.DeleteFunc(slices.Clone(compared), func(r report.Row) bool { return r.At[report.ByConfiguration] != c })
		f.Panels = append(f.Panels, panels(l, own, report.Plot{
			X: report.ByMetric, Y: []string{"violations", "rejections", "utilization", "demand_correlation"},
			Color: []string{report.ByPolicy}, Facet: []string{report.ByConfiguration},
		})...)
		f.Panels = append(f.Panels, lines(l, own)...)
	}
	return f
}

// lines returns one panel per configuration that shows efficiency against alpha.
func lines(l report.Labels, rows []report.Row) []report.Panel {
	all := panels(l, rows, report.Plot{X: report.ByAlpha, Y: []string{report.Efficiency}, Color: []string{report.ByPolicy}, Facet: []string{report.ByConfiguration}})
	for i := range all {
		all[i].X, all[i].Y = "α", "Efficiency"
	}
	return all
}

// panels returns the panels of a plot of quantities in [0,1].
func panels(l report.Labels, rows []report.Row, p report.Plot) []report.Panel {
	p.Label = func(_, value string) string { return l.Of(value) }
	all := p.Panels(rows)
	for i := range all {
		all[i].Lo, all[i].Hi = 0, 1
	}
	return all
}
