package publication

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"bourse/experiments/misuse"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// An Ask is a request for a plot. Empty fields have defaults that depend on the results.
type Ask struct {
	X            string              // dimension along x
	Y            []string            // metrics along y
	Color, Facet []string            // dimensions
	Where        map[string][]string // values to draw in each dimension
}

// Plotted returns the requested plot of results. The default plot shows efficiency against
// alpha. It has a panel for each configuration, and a line for each policy and each point
// of a sweep.
func Plotted(dir *results.Dir, ask Ask) (d report.Document, err error) {
	s, err := readStored(dir)
	if err != nil {
		return d, err
	}
	l := Labels()
	sweep := sweep(l, &s.e)
	all := report.Rows(sweep.Axes, s.summary, s.curve)
	if err := ask.complete(all, sweep.Axes, dir.Path); err != nil {
		return d, err
	}
	rows, alpha, err := ask.selected(all)
	if err != nil {
		return d, err
	}
	p := report.Plot{X: ask.X, Y: ask.Y}
	p.Color, p.Facet = ask.rest(rows, sweep.Axes)
	p.Label = func(dimension, value string) string {
		switch {
		case dimension == report.ByMetric:
			return l.Of(value)
		case report.IsAxis(dimension):
			return report.AxisLabel(dimension) + " " + value
		}
		return cmp.Or(l[value], value) // the name in the scenario if there is no label
	}
	var names []string
	for _, y := range ask.Y {
		names = append(names, l.Of(y))
	}
	f := report.Figure{
		Name:  strings.Trim(regexp.MustCompile(`[^a-z0-9_]+`).ReplaceAllString(strings.ToLower(strings.Join(ask.Y, "-")+"-"+ask.X), "-"), "-"),
		Title: strings.Join(names, " and ") + " against " + report.AxisLabel(ask.X), Caption: alpha + report.Interval, Words: policyWords(l),
	}
	if ask.X == report.ByAlpha {
		f.Name, f.Caption = "curve", "α = 0 means elastic utility, α = 1 inelastic utility. "+f.Caption
	}
	for _, policy := range report.Distinct(all, report.ByPolicy) { // use the same colours in all plots
		f.Order = append(f.Order, p.Label(report.ByPolicy, policy))
	}
	f.Omits = p.Undefined(rows)
	f.Panels = sweep.Panels(p, slices.DeleteFunc(rows, func(r report.Row) bool { return r.Mean == nil }))
	if f.Letters = len(f.Panels) > 1; len(f.Panels) == 0 {
		return d, misuse.Errorf("%s: %s is undefined in all results", dir.Path, strings.Join(ask.Y, " and "))
	}
	return s.document(f), nil
}

// complete sets the defaults of ask. It returns an error for names that the results do not
// contain.
func (ask *Ask) complete(rows []report.Row, axes []string, path string) error {
	measured := report.Distinct(rows, report.ByMetric)
	curve := slices.ContainsFunc(rows, func(r report.Row) bool { return r.At[report.ByAlpha] != "" && r.Mean != nil })
	if len(ask.Y) == 0 {
		if !curve {
			return misuse.Errorf("%s: no efficiency was measured; draw the measured metrics with 'bourse figures', or one of them with --y METRIC: %s", path, strings.Join(measured, ", "))
		}
		ask.Y = []string{report.Efficiency}
	}
	for _, y := range ask.Y {
		if !slices.Contains(measured, y) {
			return misuse.Errorf("--y: %s; the results have %s", scenario.Unknown(y, measured), strings.Join(measured, ", "))
		}
	}
	efficiency := slices.Contains(ask.Y, report.Efficiency)
	if ask.X == "" {
		ask.X = report.ByConfiguration
		if len(axes) > 0 {
			ask.X = axes[0]
		}
		if efficiency && len(ask.Y) == 1 {
			ask.X = report.ByAlpha
		}
	}
	dimensions := slices.Concat([]string{report.ByConfiguration, report.ByPolicy, report.ByMetric}, axes)
	if curve {
		dimensions = append(dimensions, report.ByAlpha)
	}
	used := make(map[string]string)
	for _, flag := range []struct {
		name       string
		dimensions []string
	}{{"--x", []string{ask.X}}, {"--color", ask.Color}, {"--facet", ask.Facet}, {"--where", slices.Sorted(maps.Keys(ask.Where))}} {
		for _, d := range flag.dimensions {
			switch {
			case !slices.Contains(dimensions, d):
				return misuse.Errorf("%s: %s", flag.name, scenario.Unknown(d, dimensions))
			case d == report.ByAlpha && !efficiency:
				return misuse.Errorf("%s: found alpha with --y %s, want --y efficiency, because no other metric depends on alpha", flag.name, strings.Join(ask.Y, ","))
			case flag.name == "--where":
				continue
			case used[d] != "":
				return misuse.Errorf("%s: found %s, which %s already uses, want another dimension", flag.name, d, used[d])
			}
			used[d] = flag.name
		}
	}
	if ask.X == report.ByAlpha && len(ask.Y) > 1 {
		return misuse.Errorf("--x: found alpha with --y %s, want --y efficiency, because no other metric depends on alpha", strings.Join(ask.Y, ","))
	}
	return nil
}

// selected returns the rows to draw. For efficiency, alpha is 1 unless ask specifies it. If
// alpha was not specified, fixed is a text that states its value.
func (ask *Ask) selected(rows []report.Row) (drawn []report.Row, fixed string, err error) {
	drawn = slices.DeleteFunc(slices.Clone(rows), func(r report.Row) bool { return !slices.Contains(ask.Y, r.At[report.ByMetric]) })
	where := maps.Clone(ask.Where)
	alphas := slices.DeleteFunc(report.Distinct(drawn, report.ByAlpha), func(a string) bool { return a == "" })
	if len(alphas) > 0 && where[report.ByAlpha] == nil && !slices.Contains(slices.Concat([]string{ask.X}, ask.Color, ask.Facet), report.ByAlpha) {
		if where == nil {
			where = make(map[string][]string)
		}
		where[report.ByAlpha] = alphas[len(alphas)-1:]
		fixed = "Efficiency is at α = " + alphas[len(alphas)-1] + ". "
	}
	for _, d := range slices.Sorted(maps.Keys(where)) {
		there := report.Distinct(drawn, d)
		for _, v := range where[d] {
			if !slices.Contains(there, v) {
				return nil, "", misuse.Errorf("--where %s: %s", d, scenario.Unknown(v, there))
			}
		}
		drawn = slices.DeleteFunc(drawn, func(r report.Row) bool {
			return !slices.Contains(where[d], r.At[d]) && (d != report.ByAlpha || r.At[d] != "")
		})
	}
	return drawn, fixed, nil
}

// rest returns the dimensions that lines and panels represent. These are the dimensions in ask
// or, by default, policy and configuration, followed by every other dimension in which rows
// differ. If there is only one policy and the lines differ in another dimension, they need not
// name the policy.
func (ask *Ask) rest(rows []report.Row, axes []string) (color, facet []string) {
	color, facet = slices.Clone(ask.Color), slices.Clone(ask.Facet)
	free := func(d string) bool { return d != ask.X && !slices.Contains(color, d) && !slices.Contains(facet, d) }
	if len(color) == 0 && free(report.ByPolicy) {
		color = []string{report.ByPolicy}
	}
	if len(facet) == 0 && free(report.ByConfiguration) && len(color) > 0 {
		facet = []string{report.ByConfiguration}
	}
	for _, d := range slices.Concat([]string{report.ByMetric, report.ByConfiguration, report.ByPolicy}, axes) {
		switch {
		case !free(d) || len(report.Distinct(rows, d)) < 2:
		case d == report.ByMetric && len(ask.Facet) == 0:
			facet = slices.Insert(facet, 0, d)
			if len(report.Distinct(rows, report.ByConfiguration)) == 1 {
				facet = facet[:1]
			}
		case report.IsAxis(d) || len(color) == 0:
			color = append(color, d)
		default:
			facet = append(facet, d)
		}
	}
	if len(ask.Color) == 0 && len(color) > 1 && len(report.Distinct(rows, report.ByPolicy)) == 1 {
		color = slices.DeleteFunc(color, func(d string) bool { return d == report.ByPolicy })
	}
	if len(color) == 0 {
		color = []string{report.ByMetric}
	}
	return color, facet
}
