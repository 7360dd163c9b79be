package calibrate

import (
	"slices"

	"bourse/experiments/report"
)

// Figure is the reliability diagram: what was kept against what was promised, a panel for
// each configuration, policy and meaning.
func (r *Report) Figure() report.Figure {
	f := report.Figure{
		Name: "calibration", Title: "Promised against kept", Across: 2,
		Caption: "Error bars are 95 % intervals. On the line a promise is kept as often as it says, above it more often.",
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
