package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bourse/experiments/results"
)

// A Sweep says how the configurations of results, called NAME@VALUE,VALUE, lie
// along axes.
type Sweep struct {
	Axes    []string // names, in the order of the values
	Metrics []string // that are shown; none is all that are defined anywhere
}

// A spot is where one configuration lies.
type spot struct {
	name   string
	values []string // one per axis
}

// spotOf takes a name apart. Values that it lacks are empty.
func (s Sweep) spotOf(configuration string) spot {
	name, rest, _ := strings.Cut(configuration, "@")
	values := strings.Split(rest, ",")
	for len(values) < len(s.Axes) {
		values = append(values, "")
	}
	return spot{name, values[:len(s.Axes)]}
}

// metrics returns what is shown of rows.
func (s Sweep) metrics(rows []results.Summary) []string {
	if len(s.Metrics) > 0 {
		return s.Metrics
	}
	return distinct(slices.DeleteFunc(slices.Clone(rows), func(r results.Summary) bool { return r.Mean == nil }),
		func(r results.Summary) string { return r.Metric })
}

// Tables returns a table a metric: a row for each configuration and its values
// along the axes, a column an admission policy.
func (s Sweep) Tables(rows []results.Summary) []Table {
	names := distinct(rows, func(r results.Summary) string { return s.spotOf(r.Configuration).name })
	admissions := distinct(rows, func(r results.Summary) string { return r.Admission })
	var tables []Table
	for _, m := range s.metrics(rows) {
		t := Table{Title: Label(m), Left: len(s.Axes)}
		if len(names) > 1 {
			t.Header = append(t.Header, "configuration")
			t.Left++
		}
		t.Header = append(t.Header, s.Axes...)
		for _, a := range admissions {
			t.Header = append(t.Header, Label(a))
		}
		row := make(map[string]int) // of each configuration
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
			t.Rows[i][t.Left+slices.Index(admissions, r.Admission)].Text = meanSD(r.Mean, r.SD)
			n = max(n, r.N)
		}
		t.Note = fmt.Sprintf("Mean ± standard deviation over %d replications.", n)
		if n == 1 {
			t.Note = "One replication."
		}
		tables = append(tables, t)
	}
	return tables
}

// head returns a row of a table with its names filled in.
func (s Sweep) head(configuration string, named bool, width int) []Cell {
	at := s.spotOf(configuration)
	var cells []Cell
	if named {
		cells = append(cells, Cell{Text: Label(at.name)})
	}
	for _, v := range at.values {
		cells = append(cells, Cell{Text: v})
	}
	for len(cells) < width {
		cells = append(cells, Cell{Text: none})
	}
	return cells
}

// Figure returns a panel for each metric of each configuration: against the
// first axis, a line for each admission policy and value of the other axes.
// Where the first axis has other values than numbers, and where there is none,
// bars take the place of lines.
func (s Sweep) Figure(name, title string, rows []results.Summary) Figure {
	f := Figure{Name: name, Title: title, Caption: interval}
	names := distinct(rows, func(r results.Summary) string { return s.spotOf(r.Configuration).name })
	numeric := len(s.Axes) > 0
	var data []Datum
	for _, m := range s.metrics(rows) {
		for _, name := range names {
			for _, r := range rows {
				at := s.spotOf(r.Configuration)
				if r.Metric != m || at.name != name {
					continue
				}
				d := Datum{Panel: Label(m), Curve: s.curve(r.Admission, at), Group: Label(at.name), Mean: r.Mean, Lo: r.Lo95, Hi: r.Hi95}
				if len(s.Axes) > 0 {
					var err error
					d.Group = at.values[0]
					d.X, err = strconv.ParseFloat(at.values[0], 64)
					numeric = numeric && err == nil
					if len(names) > 1 {
						d.Panel += ", " + strings.ReplaceAll(name, "-", " ")
					}
				}
				data = append(data, d)
			}
		}
	}
	if numeric {
		f.Panels = Lines(data)
	} else {
		f.Panels = Bars(data)
	}
	for i := range f.Panels {
		if len(s.Axes) > 0 {
			f.Panels[i].X = s.Axes[0]
		}
	}
	letter(f.Panels)
	return f
}

// curve names a line: the policy, and where the other axes stand.
func (s Sweep) curve(admission string, at spot) string {
	name := Label(admission)
	for i := 1; i < len(s.Axes); i++ {
		name += ", " + s.Axes[i] + " " + at.values[i]
	}
	return name
}
