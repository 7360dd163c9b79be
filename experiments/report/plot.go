package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/experiments/results"
)

// These are the dimensions of results, in addition to the axes of a sweep. ByAlpha is the
// alpha of an efficiency.
const (
	ByMetric        = "metric"
	ByConfiguration = "configuration"
	ByPolicy        = "policy"
	ByAlpha         = "alpha"
)

// Efficiency is the name of the metric that depends on alpha.
const Efficiency = "efficiency"

// A Row is a mean in results, with its value in each dimension.
type Row struct {
	At map[string]string
	Datum
}

// Rows returns the means in summary, and the efficiencies at each alpha in curve. If there are
// axes, the name of each configuration must contain a value on each axis.
func Rows(axes []string, summary []results.Summary, curve []results.Point) (rows []Row) {
	at := func(configuration, policy, metric string) map[string]string {
		name, values := configuration, []string(nil)
		if len(axes) > 0 {
			name, values = results.Spot(configuration)
		}
		at := map[string]string{ByMetric: metric, ByConfiguration: name, ByPolicy: policy}
		for i, axis := range axes {
			at[axis] = ""
			if i < len(values) {
				at[axis] = values[i]
			}
		}
		return at
	}
	for _, r := range summary {
		rows = append(rows, Row{at(r.Configuration, r.Admission, r.Metric),
			Datum{Mean: r.Mean, Lo: r.Lo95, Hi: r.Hi95, N: r.N, Row: RowAnchor(r.Configuration, r.Admission, r.Metric)}})
	}
	for _, r := range curve {
		row := Row{at(r.Configuration, r.Admission, Efficiency),
			Datum{Mean: r.Mean, Lo: r.Lo95, Hi: r.Hi95, N: r.N, Row: CurveAnchor(r.Configuration, r.Admission, r.Alpha)}}
		row.At[ByAlpha] = shortest(r.Alpha)
		rows = append(rows, row)
	}
	return rows
}

// Distinct returns the different values of rows in a dimension, in the order of their first
// appearance.
func Distinct(rows []Row, dimension string) []string {
	return distinct(rows, func(r Row) string { return r.At[dimension] })
}

// A Plot states how the dimensions of results are shown in a figure. There is a panel for
// each combination of values in the dimensions of Facet, and a line for each combination in
// the dimensions of Color.
type Plot struct {
	X     string   // dimension along x
	Y     []string // metrics along y
	Color []string // dimensions
	Facet []string // dimensions
	Bars  bool     // draw groups of bars even if x is numeric

	Label func(dimension, value string) string // text of a value
}

// Panels returns the panels for the rows of p's metrics. The panels have bars unless x is
// numeric.
func (p Plot) Panels(rows []Row) []Panel {
	var data []Datum
	bars := p.Bars
	for _, metric := range p.Y {
		for _, r := range rows {
			if r.At[ByMetric] != metric {
				continue
			}
			d, x := r.Datum, r.At[p.X]
			d.Panel, d.Curve, d.Group = p.name(p.Facet, r), p.name(p.Color, r), x
			if number, err := strconv.ParseFloat(x, 64); err == nil && !math.IsInf(number, 0) && !math.IsNaN(number) {
				d.X = number
			} else {
				bars = true
			}
			if !IsAxis(p.X) {
				d.Group = p.Label(p.X, x)
			}
			data = append(data, d)
		}
	}
	return panels(data, bars)
}

// Undefined returns noun phrases that describe the data that Panels omits because they have no
// mean.
func (p Plot) Undefined(rows []Row) (omits []string) {
	missing, of := make(map[string][]string), make(map[string]int)
	var names []string
	for _, r := range rows {
		name := p.name(p.Color, r)
		if panel := p.name(p.Facet, r); panel != "" {
			name += " in " + panel
		}
		if of[name]++; of[name] == 1 {
			names = append(names, name)
		}
		if r.Mean == nil {
			missing[name] = append(missing[name], p.Label(p.X, r.At[p.X]))
		}
	}
	for _, name := range names {
		x := missing[name]
		if len(x) == 0 {
			continue
		}
		if len(x) < of[name] {
			name += " at " + strings.Join(x, ", ")
		}
		omits = append(omits, name+", where "+strings.Join(p.Y, " and ")+" is not defined")
	}
	return omits
}

// IsAxis reports whether a dimension is alpha or an axis of a sweep.
func IsAxis(dimension string) bool {
	return !slices.Contains([]string{ByMetric, ByConfiguration, ByPolicy}, dimension)
}

// AxisLabel returns the name of a dimension for use on an axis.
func AxisLabel(dimension string) string {
	if dimension == ByAlpha {
		return "α"
	}
	return dimension
}

// name returns the labels of a row in the given dimensions.
func (p Plot) name(dimensions []string, r Row) string {
	names := make([]string, len(dimensions))
	for i, d := range dimensions {
		names[i] = p.Label(d, r.At[d])
	}
	return strings.Join(names, ", ")
}
