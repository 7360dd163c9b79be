package report

import (
	"fmt"
	"slices"
	"strings"

	"bourse/experiments/results"
)

// A Sweep describes the positions of configurations on axes. A configuration is called
// NAME@VALUE,VALUE.
type Sweep struct {
	Axes    []string // names of the axes, in the order of the values
	Labels  Labels
	Metrics []string          // metrics to show; if empty, all metrics that are defined for some configuration
	Units   map[string]string // unit of each metric; "1" means no unit
	Range   []float64         // ends of the axis for percentages; if empty, 0 and 100
}

// A spot is the position of one configuration on the axes.
type spot struct {
	name   string
	values []string // value on each axis
}

// spotOf splits a name. Missing values are empty.
func (s Sweep) spotOf(configuration string) spot {
	name, values := results.Spot(configuration)
	for len(values) < len(s.Axes) {
		values = append(values, "")
	}
	return spot{name, values[:len(s.Axes)]}
}

// metrics returns the metrics to show.
func (s Sweep) metrics(rows []results.Summary) []string {
	if len(s.Metrics) > 0 {
		return s.Metrics
	}
	return distinct(slices.DeleteFunc(slices.Clone(rows), func(r results.Summary) bool { return r.Mean == nil }),
		func(r results.Summary) string { return r.Metric })
}

// Tables returns one table per metric. A table has one row per configuration and point, and
// one column per admission policy. If the figure has heat maps, Tables returns one table of
// means per map.
func (s Sweep) Tables(rows []results.Summary) []Table {
	if s.crowded(rows) {
		return s.planeTables(rows)
	}
	names := distinct(rows, func(r results.Summary) string { return s.spotOf(r.Configuration).name })
	admissions := distinct(rows, func(r results.Summary) string { return r.Admission })
	var tables []Table
	for _, m := range s.metrics(rows) {
		t := Table{Title: s.title(m), Left: len(s.Axes)}
		if len(names) > 1 {
			t.Header = append(t.Header, "configuration")
			t.Left++
		}
		t.Header = append(t.Header, s.Axes...)
		for _, a := range admissions {
			t.Header = append(t.Header, s.Labels.Of(a))
		}
		row := make(map[string]int) // row index of each configuration
		n := 0
		for _, r := range rows {
			if r.Metric != m {
				continue
			}
			i, ok := row[r.Configuration]
			if !ok {
				i = len(t.Rows)
				row[r.Configuration] = i
				t.Rows = append(t.Rows, s.head(r.Configuration, len(names) > 1, len(t.Header)))
			}
			t.Rows[i][t.Left+slices.Index(admissions, r.Admission)] = Cell{Text: meanSD(r.Mean, r.SD), Row: rowOf(r)}
			n = max(n, r.N)
		}
		t.Note = fmt.Sprintf("Values are means ± standard deviations over %d replications.", n)
		if n == 1 {
			t.Note = "One replication."
		}
		tables = append(tables, t)
	}
	return tables
}

// title returns the name of a metric with the unit of its table. It omits the unit if the
// name includes it.
func (s Sweep) title(metric string) string {
	switch u := s.Units[metric]; u {
	case "%", "s", "$":
		return s.Labels.Of(metric) + " (" + u + ")"
	}
	return s.Labels.Of(metric)
}

// Together returns a single table of all metrics for results without a sweep. The table has
// one column per admission policy.
func (s Sweep) Together(rows []results.Summary) Table {
	all := Table{Title: "Together", Left: 2}
	for _, t := range s.Tables(rows) {
		if all.Header == nil {
			all.Header, all.Note = append([]string{"metric"}, t.Header...), t.Note
		}
		for _, row := range t.Rows {
			all.Rows = append(all.Rows, append([]Cell{{Text: t.Title}}, row...))
		}
	}
	return all
}

// head returns the cells with names at the start of a table row.
func (s Sweep) head(configuration string, named bool, width int) []Cell {
	at := s.spotOf(configuration)
	var cells []Cell
	if named {
		cells = append(cells, Cell{Text: s.Labels.Of(at.name)})
	}
	for _, v := range at.values {
		cells = append(cells, Cell{Text: v})
	}
	for len(cells) < width {
		cells = append(cells, Cell{Text: none})
	}
	return cells
}

// Figure returns a figure with one panel for each metric of each configuration. A panel shows
// the metric against the first axis. It has a line for each admission policy and each point of
// the other axes. If the first axis is not numeric, or if there is no axis, Figure draws bars.
// If there would be too many lines, Figure draws heat maps.
func (s Sweep) Figure(name, title string, rows []results.Summary) Figure {
	if s.crowded(rows) {
		return s.Maps(name, title, rows)
	}
	f := Figure{Name: name, Title: title, Caption: Interval, Letters: true}
	p := s.plot()
	all := Rows(s.Axes, rows, nil)
	if len(s.Axes) > 0 && len(Distinct(all, ByConfiguration)) > 1 {
		p.Facet = append(p.Facet, ByConfiguration)
	}
	p.Y = s.metrics(rows)
	f.Panels = s.Panels(p, all)
	return f
}

// Panels returns the panels of a plot with labelled axes. The y axis shows the metric or,
// if the titles name the metric, only its unit.
func (s Sweep) Panels(p Plot, rows []Row) (all []Panel) {
	byMetric := [][]string{p.Y}
	titled := slices.Contains(p.Facet, ByMetric)
	if titled {
		byMetric = byMetric[:0]
		for _, m := range p.Y {
			byMetric = append(byMetric, []string{m})
		}
	}
	for _, p.Y = range byMetric {
		for _, panel := range p.Panels(rows) {
			if IsAxis(p.X) {
				panel.X = AxisLabel(p.X)
			}
			switch u := s.Units[p.Y[0]]; {
			case !titled && len(p.Y) == 1:
				panel.Y = s.title(p.Y[0])
			case u != "1":
				panel.Y = u
			}
			switch {
			case p.Y[0] == Efficiency:
				panel.Hi = 1
			case s.Units[p.Y[0]] == "%":
				panel.Hi = 100
				if len(s.Range) == 2 {
					panel.Lo, panel.Hi = s.Range[0], s.Range[1]
				}
			}
			all = append(all, panel)
		}
	}
	return all
}

// plot returns the dimensions of the figure of a sweep. It has a panel for each metric.
func (s Sweep) plot() Plot {
	p := Plot{X: ByConfiguration, Color: []string{ByPolicy}, Facet: []string{ByMetric}, Label: s.label}
	if len(s.Axes) > 0 {
		p.X, p.Color = s.Axes[0], append(p.Color, s.Axes[1:]...)
	}
	return p
}

// label formats a value in a dimension.
func (s Sweep) label(dimension, value string) string {
	switch {
	case IsAxis(dimension):
		return dimension + " " + value
	case dimension == ByConfiguration && len(s.Axes) > 0:
		return strings.ReplaceAll(value, "-", " ")
	}
	return s.Labels.Of(value)
}
