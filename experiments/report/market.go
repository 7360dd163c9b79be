package report

import (
	"slices"

	"bourse/experiments/results"
)

// The paper's figures of admission control in a market. Error bars are 95 %
// intervals of the mean.

// order gives every figure of the market the same colours.
func order() []string { return []string{"BE", "SAC", "CAC", "RAC"} }

const interval = "Error bars are 95 % intervals of the mean."

// Figure1 returns violations, utilization, rejections and demand correlation: a
// group of bars a configuration, a bar an admission policy. RAC is left to
// [Figure3].
func Figure1(rows []results.Summary) Figure {
	f := Figure{
		Name: "figure1", Title: "Figure 1. Violations, utilization, rejections and demand correlation",
		Caption: interval, Order: order(),
	}
	f.Panels = bars(rows, []string{"violations", "utilization", "rejections", "demand_correlation"}, func(s results.Summary) bool {
		return s.Admission != "rac"
	})
	letter(f.Panels)
	return f
}

// Figure2 returns efficiency against alpha: a panel a configuration where it is
// defined, a line an admission policy. RAC is left to [Figure3].
func Figure2(rows []results.Point) Figure {
	f := Figure{
		Name: "figure2", Title: "Figure 2. Efficiency against α",
		Caption: "α = 0 is elastic utility, α = 1 inelastic. " + interval, Order: order(),
	}
	f.Panels = lines(rows, func(p results.Point) bool { return p.Admission != "rac" && p.Mean != nil })
	letter(f.Panels)
	return f
}

// Figure3 compares RAC with BE and CAC in each configuration that has it: the
// metrics of [Figure1] as groups of bars, and efficiency against alpha. It has no
// panels where no row is RAC's.
func Figure3(summary []results.Summary, curve []results.Point) Figure {
	f := Figure{
		Name: "figure3", Title: "Figure 3. Random admission control beside best effort and capacity",
		Caption: interval, Order: order(),
	}
	metrics := []string{"violations", "rejections", "utilization", "demand_correlation"}
	compared := []string{"be", "cac", "rac"}
	for _, c := range distinct(summary, func(s results.Summary) string { return s.Configuration }) {
		if !slices.ContainsFunc(summary, func(s results.Summary) bool { return s.Configuration == c && s.Admission == "rac" }) {
			continue
		}
		var data []Datum
		for _, m := range metrics {
			for _, s := range summary {
				if s.Configuration == c && s.Metric == m && slices.Contains(compared, s.Admission) {
					data = append(data, Datum{Label(c), Label(s.Admission), Label(m), 0, s.Mean, s.Lo95, s.Hi95})
				}
			}
		}
		for _, p := range Bars(data) {
			p.Lo, p.Hi = 0, 1
			f.Panels = append(f.Panels, p)
		}
		f.Panels = append(f.Panels, lines(curve, func(p results.Point) bool {
			return p.Configuration == c && slices.Contains(compared, p.Admission)
		})...)
	}
	letter(f.Panels)
	return f
}

// bars returns a panel a metric, a group a configuration.
func bars(rows []results.Summary, metrics []string, keep func(results.Summary) bool) []Panel {
	var data []Datum
	for _, m := range metrics {
		for _, s := range rows {
			if s.Metric == m && keep(s) {
				data = append(data, Datum{Label(m), Label(s.Admission), Label(s.Configuration), 0, s.Mean, s.Lo95, s.Hi95})
			}
		}
	}
	panels := Bars(data)
	for i := range panels {
		panels[i].Lo, panels[i].Hi = 0, 1
	}
	return panels
}

// lines returns a panel a configuration.
func lines(rows []results.Point, keep func(results.Point) bool) []Panel {
	var data []Datum
	for _, r := range rows {
		if keep(r) {
			data = append(data, Datum{Label(r.Configuration), Label(r.Admission), "", r.Alpha, r.Mean, r.Lo95, r.Hi95})
		}
	}
	panels := Lines(data)
	for i := range panels {
		panels[i].X, panels[i].Y = "α", "Efficiency"
		panels[i].Lo, panels[i].Hi = 0, 1
	}
	return panels
}

// letter puts (a), (b), ... before the titles.
func letter(panels []Panel) {
	for i := range panels {
		if i < 26 {
			panels[i].Title = "(" + string(rune('a'+i)) + ") " + panels[i].Title
		}
	}
}
