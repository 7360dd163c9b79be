package fitlab

import (
	"slices"

	"bourse/experiments/misuse"
	"bourse/experiments/report"
	"bourse/workloadgen/describe"
)

// A compared contains the values of one quantity in both workloads.
type compared struct {
	title, unit string
	a, b        describe.Quantity
	describe.Comparison
}

// Compared is the JSON form of a comparison.
type Compared struct {
	A     string   `json:"a"`
	B     string   `json:"b"`
	Tests []test   `json:"tests" doc:"gaps between arrivals, runtimes, sizes"`
	Files []string `json:"files" doc:"files written"`
}

type test struct {
	A  moments      `json:"a"`
	B  moments      `json:"b"`
	KS report.Maybe `json:"ks" doc:"two-sample Kolmogorov-Smirnov distance"`
	P  report.Maybe `json:"p" doc:"probability of a distance at least as large if both samples come from one distribution"`
}

// Compare tests whether two measured workloads have similar gaps, runtimes and sizes. It
// returns a table of tests, and a figure that plots the quantiles of one workload against
// those of the other.
func Compare(names [2]string, logs [2]*describe.Log) (report.Document, error) {
	a, b := logs[0], logs[1]
	all := []compared{
		{title: "Gap between arrivals", unit: "s", a: a.IAT, b: b.IAT},
		{title: "Runtime", unit: "s", a: a.Run, b: b.Run},
		{title: "Size", unit: "processors", a: a.Procs, b: b.Procs},
	}
	for i := range all {
		q := &all[i]
		for i, side := range []describe.Quantity{q.a, q.b} {
			if side.N == 0 {
				return report.Document{}, misuse.Errorf("%s: %s: found no values", names[i], q.a.Name)
			}
		}
		q.Comparison = describe.Compare("quantiles", q.a.Values, q.b.Values, 200)
	}
	return report.Document{
		Tables: []report.Table{comparedTable(names, all)}, Figures: []report.Figure{qqFigure(names, all)},
		Values: func(files []string) any {
			var tests []test
			for _, q := range all {
				tests = append(tests, test{momentsOf(q.a), momentsOf(q.b), report.Maybe(q.Test.D), report.Maybe(q.Test.P)})
			}
			return Compared{names[0], names[1], tests, report.List(files)}
		},
	}, nil
}

func comparedTable(names [2]string, all []compared) report.Table {
	t := report.Table{
		Title:  "Two-sample Kolmogorov-Smirnov: A is " + names[0] + ", B is " + names[1],
		Header: []string{"quantity", "n of A", "n of B", "mean of A", "mean of B", "KS", "p"}, Left: 1,
		Note: "p is the probability of a distance at least as large if both samples come from the same distribution and all values are independent. Values below 5 % are marked.",
	}
	for _, q := range all {
		t.Rows = append(t.Rows, report.Cells(q.a.Name, q.a.N, q.b.N, q.a.Mean, q.b.Mean, q.Test.D,
			report.Cell{Text: report.Maybe(q.Test.P).String(), Strong: q.Test.P < 0.05}))
	}
	return t
}

// qqFigure plots the quantiles of workload B against those of workload A, with the line of
// equality.
func qqFigure(names [2]string, all []compared) report.Figure {
	f := report.Figure{
		Name: "qq", Title: "Quantiles of " + names[1] + " over those of " + names[0],
		Caption: "The figure shows 200 quantiles at the centres of equal steps. Quantiles equal to 0 are not drawn.",
		Across:  3, Order: []string{"quantiles", "equal"},
	}
	for _, q := range all {
		p := report.Panel{Title: q.title, X: q.unit + ", " + names[0], Y: q.unit + ", " + names[1], LogX: true, LogY: true}
		p.Curves = []report.Curve{curveOf(q.QQ)}
		equal := report.Curve{Name: "equal"}
		for _, x := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(q.QQ.X, q.QQ.Y)))) {
			if x > 0 {
				equal.Points = append(equal.Points, report.Point{X: x, Mean: x, Lo: x, Hi: x})
			}
		}
		if n := len(equal.Points); n > 2 {
			equal.Points = []report.Point{equal.Points[0], equal.Points[n-1]}
		}
		p.Curves = append(p.Curves, equal)
		f.Panels = append(f.Panels, p)
	}
	return f
}
