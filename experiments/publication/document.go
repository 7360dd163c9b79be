package publication

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"bourse/experiments"
	"bourse/experiments/catalog"
	"bourse/experiments/metrics"
	"bourse/experiments/papers"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/experiments/stats"
)

// Labels returns the display names of policies, metrics and other terms. A short name of a
// policy, predictor, scheduler or matchmaker is an abbreviation in capitals, unless it is a
// word. Papers and metrics define the other display names.
func Labels() report.Labels {
	l := make(report.Labels)
	for _, family := range []string{"admission", "predictor", "scheduler", "matchmaking"} {
		for _, name := range experiments.NamesOf(family) {
			if len(name) <= 4 && !slices.Contains([]string{"call", "spot"}, name) {
				l[name] = strings.ToUpper(name)
			}
		}
	}
	for _, m := range metrics.All() {
		if m.Label != "" {
			l[m.Name] = m.Label
		}
	}
	maps.Copy(l, papers.Labels())
	return l
}

// policyWords returns the meanings of abbreviated labels of policies, by label. It uses the
// first words of the descriptions in 'bourse scenario options'.
func policyWords(l report.Labels) map[string]string {
	words := make(map[string]string)
	for _, p := range catalog.Plugins("admission") {
		label := l.Of(p.Name)
		if label != strings.ToUpper(p.Name) {
			continue
		}
		doc, _, _ := strings.Cut(p.Doc, "; for ")
		doc, _, named := strings.Cut(doc, ":")
		if !named {
			doc, _, _ = strings.Cut(doc, ", in a ")
			doc, _, _ = strings.Cut(doc, " (")
		}
		words[label] = doc
	}
	return words
}

// figures returns the figures for results of e. If the scenario requests no figure, figures
// returns the figures of the paper.
func figures(l report.Labels, e *scenario.Experiment, paper *papers.Reference, summary []results.Summary, curve []results.Point) []report.Figure {
	drawn := drawnOf(l, e, paper, summary, curve)
	words := policyWords(l)
	for i := range drawn {
		drawn[i].Words = words
	}
	return drawn
}

func drawnOf(l report.Labels, e *scenario.Experiment, paper *papers.Reference, summary []results.Summary, curve []results.Point) []report.Figure {
	if e.Figure != nil || len(e.Sweep) > 0 {
		title := e.Title
		if title == "" {
			title = e.Name
		}
		return []report.Figure{sweep(l, e).Figure(e.Name, title, summary)}
	}
	return paper.Figures(l, summary, curve)
}

// tables returns the tables for results of e. A sweep has one table for each metric in the
// figure. A figure of several configurations has a single table. Any other experiment has one
// table per configuration. The next tables contain the paired tests of the paper or the
// differences between policies. If the paper prints values, there is also a table of measured
// and printed values. The tables contain the metrics of the figure or, if there is no figure,
// the metrics of the paper.
func tables(l report.Labels, e *scenario.Experiment, paper *papers.Reference, summary []results.Summary, rows []results.Metric, alike []string) []report.Table {
	if len(e.Sweep) > 0 {
		tables := sweep(l, e).Tables(summary)
		if t := besidePrinted(l, e, paper, summary); len(t.Rows) > 0 {
			tables = append(tables, t)
		}
		return tables
	}
	if e.Figure != nil && len(e.Configurations) > 1 {
		return []report.Table{sweep(l, e).Together(summary)}
	}
	shown := shownOf(e, paper)
	main := slices.DeleteFunc(slices.Clone(summary), func(r results.Summary) bool {
		return !slices.Contains(shown, r.Metric)
	})
	tables := report.RunTables(l, slices.DeleteFunc(slices.Clone(main), func(r results.Summary) bool {
		// The admission ratio is 1 minus the rejection ratio, and the paper prints only one of
		// the two.
		return r.Metric == metrics.Admission.Name && slices.Contains(shown, metrics.Rejections.Name) ||
			r.Metric == metrics.Fulfilment.Name && slices.Contains(shown, metrics.Violations.Name)
	}))
	if t := besidePrinted(l, e, paper, main); len(t.Rows) > 0 {
		tables = append(tables, t)
	}
	if e.Replications == 1 {
		return tables
	}
	if paper.Tests.Configurations == nil { // the paper has no tests of this experiment
		return append(tables, contrasts(l, rows, paper.Tests.Metrics(), alike)...)
	}
	if tests := tTests(rows, paper.Tests); len(tests) > 0 {
		tables = append(tables, report.TTests(l, paper.Tests.Title, tests, stats.CriticalT(0.05, e.Replications-1)))
	}
	return tables
}

// shownOf returns the metrics that the tables of e show.
func shownOf(e *scenario.Experiment, paper *papers.Reference) []string {
	if e.Figure != nil {
		return e.Figure.Metrics
	}
	shown := slices.Clone(paper.Metrics)
	if slices.ContainsFunc(e.Configurations, func(c scenario.Configuration) bool { return c.Fleet.Availability != nil }) {
		shown = append(shown, metrics.Volatile()...)
	}
	if slices.ContainsFunc(e.Configurations, func(c scenario.Configuration) bool { return c.Workload.SWF != "" }) {
		shown = append(shown, metrics.OfLogs()...)
	}
	return shown
}

// besidePrinted returns a table of printed and measured values. It omits rows that are
// equal by definition.
func besidePrinted(l report.Labels, e *scenario.Experiment, paper *papers.Reference, summary []results.Summary) report.Table {
	some := slices.DeleteFunc(slices.Clone(summary), func(r results.Summary) bool {
		return r.Paper != nil && r.Mean != nil && *r.Mean == *r.Paper && constant(e, r.Configuration, r.Admission, r.Metric)
	})
	theirs := max(1, paper.Replications)
	return report.PaperTable(l, some, theirs, func(r results.Summary) (float64, bool) {
		rounding, ok := paper.Rounding(r.Configuration, r.Admission, r.Metric)
		if !ok || r.SD == nil || r.N < 2 {
			return 0, false
		}
		return stats.Reach(*r.SD, r.N, theirs, 0.05) + rounding, true
	})
}

// constant reports whether a metric must have the same value in every replication of a
// configuration, because the policy admits every request.
func constant(e *scenario.Experiment, configuration, label, metric string) bool {
	decided := slices.ContainsFunc(metrics.All(), func(m metrics.Metric) bool { return m.Name == metric && m.Decided })
	return decided && slices.ContainsFunc(e.Configurations, func(c scenario.Configuration) bool {
		return c.Name == configuration && slices.ContainsFunc(c.Admission, func(a scenario.Choice) bool { return a.Label == label && experiments.AdmitsAll(&c, &a) })
	})
}

// StudyValues is the JSON form of a study.
type StudyValues struct {
	Results   string                   `json:"results" doc:"directory of the results"`
	Notes     []string                 `json:"notes,omitempty" doc:"remarks needed to interpret the numbers"`
	Finds     []string                 `json:"findings,omitempty" doc:"findings from paired comparisons, one sentence each"`
	Warnings  []string                 `json:"warnings" doc:"valid settings that are probably mistakes, such as settings without effect"`
	Overrides []scenario.Override      `json:"overrides" doc:"settings without effect in some configurations"`
	Summary   []results.Summary        `json:"summary"`
	Curve     []results.Point          `json:"curve" doc:"efficiency at every alpha"`
	Units     []experiments.UnitValues `json:"units,omitempty" doc:"units of the run, present only if requested; the other fields are then omitted"`
}

// Document returns a document with the tables of s, the values printed in the paper and the
// notes. Its JSON form contains the directory of the results.
func (s *Report) Document(dir string) report.Document {
	rows, found := s.SummaryRows(), s.findings()
	worth := s.negotiation()
	notes := append(slices.Clip(s.notes), worth.Notes...)
	all := append(tables(s.labels(), s.Experiment, s.Beside(), rows, s.MetricRows(s.Beside().Tests.Metrics()...), s.Alike), worth.Tables...)
	if jobs, _ := s.jobs(shownOf(s.Experiment, s.Beside())); len(jobs.Rows) > 0 {
		all = append(all, jobs)
	}
	return report.Document{
		Findings: found, Headline: s.extremes(),
		Title: cmp.Or(s.Experiment.Title, s.ran()), Notes: notes,
		Tables: all,
		Values: func([]string) any {
			return StudyValues{
				Results: dir, Notes: notes, Finds: found, Summary: rows, Curve: s.CurveRows(),
				Warnings: report.List(catalog.Idle(s.Experiment)), Overrides: report.List(s.Experiment.Overrides()),
			}
		},
	}
}

// DrawnValues is the JSON form of figures.
type DrawnValues struct {
	Files   []string          `json:"files" doc:"files written"`
	Points  []report.Drawn    `json:"points" doc:"points of all figures"`
	Omits   []string          `json:"left_out" doc:"data that the figures omit, with reasons"`
	Summary []results.Summary `json:"summary"`
	Curve   []results.Point   `json:"curve" doc:"efficiency at every alpha"`
}

// extremes returns a sentence with the best and the worst mean of the first headline
// metric. It is empty if these means are equal.
func (s *Report) extremes() string {
	m := s.Experiment.Headline()[0]
	rows := slices.DeleteFunc(s.SummaryRows(), func(r results.Summary) bool { return r.Metric != m || r.Mean == nil })
	slices.SortStableFunc(rows, func(a, b results.Summary) int { return cmp.Compare(*b.Mean, *a.Mean) })
	if s.less(m) {
		slices.Reverse(rows)
	}
	if len(rows) == 0 || *rows[0].Mean == *rows[len(rows)-1].Mean {
		return ""
	}
	of := func(r *results.Summary) string {
		return fmt.Sprintf("%s under %s in %s", report.MeanWithin(r), s.labels().Of(r.Admission), s.placed(r.Configuration))
	}
	return fmt.Sprintf("%s: the best mean is %s, and the worst mean is %s.", s.labels().Of(m), of(&rows[0]), of(&rows[len(rows)-1]))
}

// A stored contains the rows of a results directory, with its scenario and its paper.
type stored struct {
	e       scenario.Experiment
	paper   papers.Reference
	summary []results.Summary
	curve   []results.Point
}

func readStored(dir *results.Dir) (s stored, err error) {
	if s.summary, err = dir.Summary(); err != nil {
		return s, err
	}
	if s.curve, err = dir.Curve(); err != nil {
		return s, err
	}
	if s.e, err = scenario.Stored(dir.Path, dir.Manifest.Scenario); err != nil {
		return s, err
	}
	s.e.Replications = dir.Manifest.Replications // the run may have stopped early
	s.paper = papers.Beside(&s.e)
	for i, row := range s.summary { // older results may contain numbers that the paper does not print
		if _, ok := s.paper.Number(row.Configuration, row.Admission, row.Metric); !ok {
			s.summary[i].Paper = nil
		}
	}
	return s, nil
}

// document returns a document with figures and their JSON form.
func (s *stored) document(figures ...report.Figure) (d report.Document) {
	d.Figures = figures
	d.Values = func(files []string) any {
		v := DrawnValues{Files: report.List(files), Points: []report.Drawn{}, Omits: []string{}, Summary: report.List(s.summary), Curve: report.List(s.curve)}
		for _, f := range figures {
			v.Points, v.Omits = append(v.Points, f.Drawn()...), append(v.Omits, f.Omits...)
		}
		return v
	}
	return d
}

// Drawn returns a document with the figures and tables of a results directory.
func Drawn(dir *results.Dir) (report.Document, error) {
	s, err := readStored(dir)
	if err != nil {
		return report.Document{}, err
	}
	l, e := Labels(), &s.e
	shown := s.paper.Tests.Metrics()
	if f := e.Figure; f != nil && f.Less != "" {
		shown = append(shown, f.Metrics...)
	}
	rows, err := dir.Metrics(shown...)
	drawn := append(figures(l, e, &s.paper, s.summary, s.curve), Differences(l, e, rows)...)
	var worth report.Document
	if err == nil && len(negotiated(e)) > 0 {
		var rows []results.Metric
		if rows, err = dir.Metrics(worthOf...); err == nil {
			worth = negotiation(e, rows, dir.Manifest.Alike)
		}
	}
	d := s.document(append(drawn, worth.Figures...)...)
	d.Tables, d.Notes = append(tables(l, e, &s.paper, s.summary, rows, dir.Manifest.Alike), worth.Tables...), worth.Notes
	return d, err
}

// sweep returns the layout of the configurations in e.
func sweep(l report.Labels, e *scenario.Experiment) report.Sweep {
	s := report.Sweep{Labels: l, Metrics: []string{"efficiency_0", "efficiency_1", "violations", "rejections", "utilization"}, Units: map[string]string{}}
	for _, m := range metrics.With(experiments.Named(e)...) {
		s.Units[m.Name] = m.Unit
	}
	for _, a := range e.Sweep {
		s.Axes = append(s.Axes, a.Name())
	}
	if e.Figure != nil {
		s.Metrics, s.Range = e.Figure.Metrics, e.Figure.Range
	}
	return s
}
