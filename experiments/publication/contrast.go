package publication

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/experiments/contrast"
	"bourse/experiments/metrics"
	"bourse/experiments/misuse"
	"bourse/experiments/report"
	"bourse/experiments/results"
)

// Contrasted makes the requested comparison of one or two results directories. The document
// has one table and one forest plot for each metric.
func Contrasted(dirs []*results.Dir, ask contrast.Ask) (d report.Document, err error) {
	for _, m := range ask.Metrics {
		if _, err := metrics.Table().New(m, nil); err != nil {
			return d, misuse.Of(fmt.Errorf("metric: %w", err))
		}
	}
	ask.Ends = metrics.Ends()
	rows, err := contrast.Compare(dirs, ask)
	if err != nil {
		return d, err
	}
	l := Labels()
	d.Title = "Differences of " + ask.Across
	d.Values = func([]string) any { return contrast.Values{Across: ask.Across, Margin: ask.Margin, Rows: rows} }
	if ask.Users {
		ask.Metrics = []string{contrast.Gain}
		d.Tables = append(contrastUsers(l, rows), contrastTables(l, rows, ask)...)
		return d, nil
	}
	d.Tables = contrastTables(l, rows, ask)
	for _, m := range ask.Metrics {
		f := report.Figure{Name: "compare-" + m, Title: l.Of(m) + ": differences of " + ask.Across, Caption: "The figure shows mean differences, with 95 % intervals that are simultaneous for all comparisons."}
		for _, r := range rows {
			if r.Metric == m {
				f.Panels = forest(f.Panels, r, l, ask.Margin)
			}
		}
		d.Figures = append(d.Figures, f)
	}
	return d, nil
}

// contrasts returns the differences between the policies in rows, with one table per
// metric. It returns nil if there is only one policy.
func contrasts(l report.Labels, rows []results.Metric, shown, alike []string) []report.Table {
	ask := contrast.Ask{Metrics: shown, Across: contrast.Policies, Ends: metrics.Ends()}
	found, err := contrast.Of(rows, ask, alike)
	if err != nil {
		return nil
	}
	tables := contrastTables(l, found, ask)
	for i := range tables {
		tables[i].Title += ": differences of policies"
	}
	return tables
}

// contrastTables returns one table per metric. The last table has a note about the
// statistical tests.
func contrastTables(l report.Labels, rows []contrast.Row, ask contrast.Ask) (tables []report.Table) {
	for _, m := range ask.Metrics {
		t := report.Table{
			Title: l.Of(m), Left: 3,
			Header: []string{"in", "first", "second", "n", "first", "second", "difference", "95 %, simultaneous", "p", "corrected", "effect"},
		}
		if !ask.Unsized {
			t.Header = append(t.Header, "n for 80 %")
		}
		if ask.Margin > 0 {
			t.Header = append(t.Header, "p (alike)")
		}
		t.Header = append(t.Header, "the first is")
		for _, r := range rows {
			if r.Metric == m {
				t.Rows = append(t.Rows, contrastCells(r, l, ask))
			}
		}
		tables = append(tables, t)
	}
	tables[len(tables)-1].Note = contrastNote(rows, ask)
	return tables
}

// contrastUsers returns a table with the numbers of users that gain and that lose in each pair of rows.
func contrastUsers(l report.Labels, rows []contrast.Row) []report.Table {
	t := report.Table{
		Title: "Users", Left: 2, Header: []string{"first", "second", "users", "gain under the first", "lose", "undecided", "mean difference, $"},
		Note: "The gain of a user is the value of the user's jobs that were done in time, minus payments, plus penalties received. A difference between gains is significant if the simultaneous 95 % interval of the difference, shown below, does not contain 0.",
	}
	type count struct {
		of   [2]string
		n    map[string]int
		all  int
		mean float64
	}
	var counts []*count
	for _, r := range rows {
		i := slices.IndexFunc(counts, func(c *count) bool { return c.of == [2]string{r.First, r.Second} })
		if i < 0 {
			i = len(counts)
			counts = append(counts, &count{of: [2]string{r.First, r.Second}, n: map[string]int{}})
		}
		c := counts[i]
		c.all++
		if c.n[r.Verdict]++; r.Difference != nil {
			c.mean += *r.Difference
		}
	}
	for _, c := range counts {
		t.Rows = append(t.Rows, report.Cells(l.Of(c.of[0]), l.Of(c.of[1]), c.all, c.n["higher"], c.n["lower"],
			c.all-c.n["higher"]-c.n["lower"], strconv.FormatFloat(c.mean/float64(c.all), 'g', 4, 64)))
	}
	return []report.Table{t}
}

// contrastNote describes how the rows were tested.
func contrastNote(rows []contrast.Row, ask contrast.Ask) string {
	how := "Differences are paired by replication (common random numbers) and tested with Student's t. The effect is the mean divided by the standard deviation of the differences."
	if !rows[0].Paired {
		how = "The seeds differ, so the samples are independent and are compared with Welch's t. The effect is the difference divided by the root mean square of both standard deviations."
	}
	if slices.ContainsFunc(ask.Metrics, func(m string) bool { _, ok := ask.Ends[m]; return ok }) {
		how += " Means of bounded values have the intervals of clustered trials, which stay within the bounds."
	}
	how += fmt.Sprintf(" Intervals of differences and verdicts are simultaneous at 95 %% for these %d comparisons (Bonferroni). A difference is undecided if its interval contains 0.", len(rows))
	if ask.Margin > 0 {
		how += fmt.Sprintf(" The verdict alike means that two one-sided tests at 5 %%, corrected in the same way, show a difference of less than %s.", strconv.FormatFloat(ask.Margin, 'g', -1, 64))
	}
	return how
}

// contrastCells returns the cells of a row of the table.
func contrastCells(r contrast.Row, l report.Labels, ask contrast.Ask) []report.Cell {
	_, bounded := ask.Ends[r.Metric]
	number := func(x *float64) string {
		if x == nil {
			return "–"
		}
		return strconv.FormatFloat(*x, 'g', 4, 64)
	}
	between := func(lo, hi *float64) string {
		if lo == nil {
			return "–"
		}
		return "[" + number(lo) + ", " + number(hi) + "]"
	}
	mean := func(x, lo, hi *float64) string {
		if !bounded || lo == nil {
			return number(x)
		}
		return number(x) + " " + between(lo, hi)
	}
	needed := "–"
	if r.Needed != nil {
		needed = strconv.Itoa(*r.Needed)
	}
	words := []any{
		held(l, r), l.Of(r.First), l.Of(r.Second), r.N,
		mean(r.FirstMean, r.FirstLo95, r.FirstHi95), mean(r.SecondMean, r.SecondLo95, r.SecondHi95),
		number(r.Difference), between(r.Lo95, r.Hi95), small(r.P), small(r.Corrected), number(r.Effect),
	}
	if !ask.Unsized {
		words = append(words, needed)
	}
	if ask.Margin > 0 {
		words = append(words, small(r.Alike))
	}
	cells := report.Cells(append(words, report.Cell{Text: r.Verdict, Strong: r.Decided()})...)
	if ask.Across == contrast.Policies && r.Difference != nil {
		cells[1].Row, cells[2].Row = report.RowAnchor(r.Within, r.First, r.Metric), report.RowAnchor(r.Within, r.Second, r.Metric)
	}
	return cells
}

// held describes the properties that both sides of r have in common.
func held(l report.Labels, r contrast.Row) string {
	one, other, both := strings.Cut(r.Within, ", ")
	if both {
		return l.Of(one) + ", " + l.Of(other)
	}
	return l.Of(one)
}

// small formats a p-value.
func small(p *float64) string {
	switch {
	case p == nil:
		return "–"
	case *p < 0.0001:
		return "< 0.0001"
	}
	return strconv.FormatFloat(*p, 'f', 4, 64)
}

// mostDifferences is the maximum number of differences in one panel.
const mostDifferences = 12

// forest adds r to the last panel, if that panel has the same title and enough space. Otherwise
// it adds r to a new panel.
func forest(panels []report.Panel, r contrast.Row, l report.Labels, margin float64) []report.Panel {
	title := held(l, r)
	if n := len(panels); n == 0 || panels[n-1].Title != title || len(panels[n-1].Groups) == mostDifferences {
		panels = append(panels, report.Panel{Title: title, Forest: true, Lo: -margin, Hi: margin, Curves: []report.Curve{{Name: "difference"}}})
	}
	p := &panels[len(panels)-1]
	if r.Difference != nil {
		pt := report.Point{X: float64(len(p.Groups)), Mean: *r.Difference, Lo: *r.Difference, Hi: *r.Difference}
		if r.Lo95 != nil && !math.IsInf(*r.Lo95, 0) {
			pt.Lo, pt.Hi = *r.Lo95, *r.Hi95
		}
		p.Curves[0].Points = append(p.Curves[0].Points, pt)
	}
	p.Groups = append(p.Groups, l.Of(r.First)+" − "+l.Of(r.Second))
	return panels
}
