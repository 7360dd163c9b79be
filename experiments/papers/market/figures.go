// Package market draws the figures of "Admission Control in a Computational Market"
// (Sandholm, Lai, Clearwater), and says where its numbers speak against it.
//
// It knows names of policies and metrics as text, and does not know what any of them
// means.
package market

import (
	"slices"

	"bourse/experiments/report"
	"bourse/experiments/results"
)

// Figures returns those that there are results for. Error bars are 95 % intervals of
// the mean.
func Figures(l report.Labels, summary []results.Summary, curve []results.Point) []report.Figure {
	figures := []report.Figure{figure1(l, summary), figure2(l, curve), figure3(l, summary, curve)}
	for i := range figures {
		f := &figures[i]
		for _, policy := range []string{"be", "sac", "cac", "rac"} { // of the same colours in all
			f.Order = append(f.Order, l.Of(policy))
		}
		f.Caption += report.Interval
		report.Letter(f.Panels)
	}
	return slices.DeleteFunc(figures, func(f report.Figure) bool { return len(f.Panels) == 0 })
}

// figure1 shows violations, utilization, rejections and demand correlation: a group of
// bars a configuration, a bar an admission policy. RAC is left to figure3.
func figure1(l report.Labels, rows []results.Summary) report.Figure {
	f := report.Figure{Name: "figure1", Title: "Figure 1. Violations, utilization, rejections and demand correlation"}
	var data []report.Datum
	for _, m := range []string{"violations", "utilization", "rejections", "demand_correlation"} {
		for _, s := range rows {
			if s.Metric == m && s.Admission != "rac" {
				data = append(data, report.Datum{Panel: l.Of(m), Curve: l.Of(s.Admission), Group: l.Of(s.Configuration), Mean: s.Mean, Lo: s.Lo95, Hi: s.Hi95, N: s.N, Row: report.RowAnchor(s.Configuration, s.Admission, s.Metric)})
			}
		}
	}
	f.Panels = shares(report.Bars(data))
	return f
}

// figure2 shows efficiency against alpha: a panel a configuration where it is defined, a
// line an admission policy. RAC is left to figure3.
func figure2(l report.Labels, rows []results.Point) report.Figure {
	f := report.Figure{Name: "figure2", Title: "Figure 2. Efficiency against α", Caption: "α = 0 is elastic utility, α = 1 inelastic. "}
	f.Panels = lines(l, rows, func(p results.Point) bool { return p.Admission != "rac" && p.Mean != nil })
	return f
}

// figure3 compares RAC with BE and CAC in each configuration that has it: the metrics of
// figure1 as groups of bars, and efficiency against alpha.
func figure3(l report.Labels, summary []results.Summary, curve []results.Point) report.Figure {
	f := report.Figure{Name: "figure3", Title: "Figure 3. Random admission control beside best effort and capacity"}
	compared := []string{"be", "cac", "rac"}
	var seen []string
	for _, s := range summary {
		c := s.Configuration
		if s.Admission != "rac" || slices.Contains(seen, c) {
			continue
		}
		seen = append(seen, c)
		var data []report.Datum
		for _, m := range []string{"violations", "rejections", "utilization", "demand_correlation"} {
			for _, s := range summary {
				if s.Configuration == c && s.Metric == m && slices.Contains(compared, s.Admission) {
					data = append(data, report.Datum{Panel: l.Of(c), Curve: l.Of(s.Admission), Group: l.Of(m), Mean: s.Mean, Lo: s.Lo95, Hi: s.Hi95, N: s.N, Row: report.RowAnchor(s.Configuration, s.Admission, s.Metric)})
				}
			}
		}
		f.Panels = append(f.Panels, shares(report.Bars(data))...)
		f.Panels = append(f.Panels, lines(l, curve, func(p results.Point) bool {
			return p.Configuration == c && slices.Contains(compared, p.Admission)
		})...)
	}
	return f
}

// lines returns a panel a configuration.
func lines(l report.Labels, rows []results.Point, keep func(results.Point) bool) []report.Panel {
	var data []report.Datum
	for _, r := range rows {
		if keep(r) {
			data = append(data, report.Datum{Panel: l.Of(r.Configuration), Curve: l.Of(r.Admission), X: r.Alpha, Mean: r.Mean, Lo: r.Lo95, Hi: r.Hi95, N: r.N, Row: report.CurveAnchor(r.Configuration, r.Admission, r.Alpha)})
		}
	}
	panels := report.Lines(data)
	for i := range panels {
		panels[i].X, panels[i].Y = "α", "Efficiency"
	}
	return shares(panels)
}

// shares returns panels of what lies between 0 and 1.
func shares(panels []report.Panel) []report.Panel {
	for i := range panels {
		panels[i].Lo, panels[i].Hi = 0, 1
	}
	return panels
}
