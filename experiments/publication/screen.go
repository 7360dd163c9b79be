package publication

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// These are the dimensions of a screen in characters. The remaining line of a terminal with 25
// lines shows the time of the run.
const (
	screenLines   = 24
	screenColumns = 80
)

// Screen returns a summary of s on one screen. It contains the run, the means of two metrics,
// the findings, the verdicts on the paper's claims, and the paths of all other results, which
// are in dir. It has at most 24 lines of 80 columns, unless paths are long. If all tables fit,
// they replace the means of the two metrics. The argument ledgers describes the state of the
// ledgers.
func (s *Report) Screen(t report.Terminal, dir, ledgers string) string {
	if t.Width == 0 || t.Width > screenColumns {
		t.Width = screenColumns
	}
	head, tail := t.Lines(s.ran()), s.elsewhere(t, dir, ledgers)
	left := screenLines - len(head) - len(tail) - 2
	body := s.whole(t, left)
	if body == nil {
		body = s.means(t, left)
	}
	left -= len(body)
	var found []string
	for _, sentence := range slices.Concat(s.stopped(), s.shortfalls(), s.gainers(), s.sentences(s.Experiment.Headline())) {
		if lines := t.Lines(sentence); len(found)+len(lines) < left {
			found = append(found, lines...)
		}
	}
	if len(found) > 0 {
		found = append(found, "")
	}
	return strings.Join(slices.Concat(head, []string{""}, body, []string{""}, found, tail), "\n") + "\n"
}

// Brief returns a two-line summary of s, for runs of several figures. The results are in
// dir.
func (s *Report) Brief(dir string) string {
	figure := filepath.Join(dir, "report.html")
	if len(s.drawn) > 0 {
		figure = filepath.Join(dir, "figures", s.drawn[0]+".svg")
	}
	return s.ran() + "\n  " + figure + "\n"
}

// ran describes the run.
func (s *Report) ran() string {
	e := s.Experiment
	policies := 0
	for i := range e.Configurations {
		policies = max(policies, len(e.Configurations[i].Admission))
	}
	if ownPolicies(e) {
		policies = len(e.Configurations)
	}
	places := s.places(len(e.Configurations))
	if len(e.Sweep) > 0 {
		var axes []string
		for _, a := range e.Sweep {
			axes = append(axes, a.Name())
		}
		places += " of " + strings.Join(axes, " and ")
	}
	said := fmt.Sprintf("%s: %s, %s, %s", e.Name, places, numbered(policies, "policy", "policies"), numbered(e.Replications, "replication", "replications"))
	if titled := e.Title + ": " + said; e.Title != "" && utf8.RuneCountInString(titled) <= screenColumns {
		return titled
	}
	return said
}

// places formats n as a number of configurations or, in a sweep, of points.
func (s *Report) places(n int) string {
	if len(s.Experiment.Sweep) > 0 {
		return numbered(n, "point", "points")
	}
	return numbered(n, "configuration", "configurations")
}

func numbered(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// whole returns the lines of all tables or, if there is one configuration, of the first
// table. It returns nil if there are more than most lines.
func (s *Report) whole(t report.Terminal, most int) []string {
	if len(s.Experiment.Configurations) > 2 {
		return nil
	}
	tables := s.Document("").Tables
	for _, some := range [][]report.Table{tables, tables[:min(len(tables), 1)]} {
		lines := strings.Split(strings.TrimSpace(report.Document{Tables: some}.Text(t)), "\n")
		if len(lines) <= most {
			return lines
		}
		if len(s.Experiment.Configurations) > 1 {
			break
		}
	}
	return nil
}

// means returns a table of the headline metrics. It has one row per configuration and one column
// per policy. If the table does not fit into most lines, means omits rows and adds a line that
// states this.
func (s *Report) means(t report.Terminal, most int) []string {
	if ownPolicies(s.Experiment) {
		return s.rows(t, most)
	}
	names := s.Experiment.Headline()
	at := make(map[[3]string]results.Summary)
	var places, policies []string
	for _, r := range s.SummaryRows() {
		if !slices.Contains(names, r.Metric) {
			continue
		}
		at[[3]string{r.Metric, r.Configuration, r.Admission}] = r
		if !slices.Contains(places, r.Configuration) {
			places = append(places, r.Configuration)
		}
		if !slices.Contains(policies, r.Admission) {
			policies = append(policies, r.Admission)
		}
	}
	shown := spread(places, max(1, (most-3)/len(names)-1))
	table := report.Table{Header: []string{""}, Left: 1}
	for _, p := range policies {
		table.Header = append(table.Header, s.labels().Of(p))
	}
	for _, m := range names {
		table.Rows = append(table.Rows, []report.Cell{{Text: s.labels().Of(m)}})
		for _, place := range shown {
			row := []report.Cell{{Text: "  " + s.placed(place)}}
			for _, p := range policies {
				r := at[[3]string{m, place, p}]
				row = append(row, report.Cell{Text: report.MeanWithin(&r), Strong: s.best(m, place, p)})
			}
			table.Rows = append(table.Rows, row)
		}
	}
	lines, columns := table.Lines(t)
	return append(lines, t.Lines(s.legend(len(places)-len(shown), len(policies)-columns))...)
}

// rows returns a table of some metrics of the figure, with one row per configuration. If the
// table does not fit into most lines, rows omits rows and columns.
func (s *Report) rows(t report.Terminal, most int) []string {
	names := slices.Clone(s.Experiment.Headline())
	for _, m := range s.spoken() {
		if len(names) < 4 && !slices.Contains(names, m) {
			names = append(names, m)
		}
	}
	table := report.Table{Header: []string{""}, Left: 1}
	for _, m := range names {
		table.Header = append(table.Header, s.labels().Of(m))
	}
	var places []string
	for _, c := range s.Experiment.Configurations {
		places = append(places, c.Name)
	}
	shown := spread(places, max(1, most-4))
	summary := s.SummaryRows()
	for _, place := range shown {
		row := []report.Cell{{Text: s.placed(place)}}
		for _, m := range names {
			i := slices.IndexFunc(summary, func(r results.Summary) bool { return r.Metric == m && r.Configuration == place })
			text := "–"
			if i >= 0 {
				text = report.MeanWithin(&summary[i])
			}
			row = append(row, report.Cell{Text: text, Strong: s.best(m, "all", place)})
		}
		table.Rows = append(table.Rows, row)
	}
	lines, _ := table.Lines(t)
	return append(lines, t.Lines(s.legend(len(places)-len(shown), 0))...)
}

// legend explains the marks of a table, and states how many configurations and policies the
// table omits.
func (s *Report) legend(places, policies int) string {
	said := "± is the half-width of a 95 % interval. * marks the best value, by paired tests."
	if s.Experiment.Replications == 1 {
		said = "There is only one replication, so there are no intervals and no tests."
	}
	var out []string
	if places > 0 {
		out = append(out, s.places(places))
	}
	if policies > 0 {
		out = append(out, numbered(policies, "policy", "policies"))
	}
	if len(out) > 0 {
		said += " Not shown: " + strings.Join(out, " and ") + "."
	}
	return said
}

// gainers states the numbers of users that gain and that lose under each configuration,
// compared with the first configuration. It also names the configurations under which urgent
// jobs and other jobs gain and lose. The page contains the intervals.
func (s *Report) gainers() []string {
	if len(s.gains) == 0 {
		return nil
	}
	baseline := s.Experiment.Configurations[0].Name
	var parts []string
	for _, c := range s.Experiment.Configurations[1:] {
		n := map[string]int{}
		all := 0
		for _, r := range s.gains {
			if r.First == c.Name {
				n[r.Verdict]++
				all++
			}
		}
		text := fmt.Sprintf("%d and %d under %s", n["higher"], n["lower"], s.labels().Of(c.Name))
		if len(parts) == 0 {
			text = fmt.Sprintf("%d of %d gain and %d lose under %s", n["higher"], all, n["lower"], s.labels().Of(c.Name))
		}
		parts = append(parts, text)
	}
	for _, class := range [][2]string{{"welfare_high", "urgent jobs"}, {"welfare_low", "other jobs"}} {
		var gain, lose []string
		for _, r := range s.compared(class[0]) {
			other, higher := r.First, "higher"
			if r.First == baseline {
				other, higher = r.Second, "lower"
			} else if r.Second != baseline {
				continue
			}
			switch r.Verdict {
			case higher:
				gain = append(gain, s.labels().Of(other))
			case "higher", "lower":
				lose = append(lose, s.labels().Of(other))
			}
		}
		var text []string
		if len(gain) > 0 {
			text = append(text, "gain under "+strings.Join(gain, ", "))
		}
		if len(lose) > 0 {
			text = append(text, "lose under "+strings.Join(lose, ", "))
		}
		if len(text) > 0 {
			parts = append(parts, class[1]+" "+strings.Join(text, " and "))
		}
	}
	return []string{"Users, compared with " + s.labels().Of(baseline) + ": " + strings.Join(parts, "; ") + "."}
}

// placed formats a configuration or, in a sweep, the values of a point for people.
func (s *Report) placed(configuration string) string {
	at := s.spot(configuration)
	if name, _ := results.Spot(configuration); name != configuration && s.manyNames() {
		at = s.labels().Of(name) + " " + at
	}
	return at
}

// manyNames reports whether the points of a sweep belong to more than one configuration.
func (s *Report) manyNames() bool {
	first, _ := results.Spot(s.Experiment.Configurations[0].Name)
	return slices.ContainsFunc(s.Experiment.Configurations, func(c scenario.Configuration) bool {
		name, _ := results.Spot(c.Name)
		return name != first
	})
}

// spread returns at most most of the names. The selected names are evenly spaced and include
// the first and the last name.
func spread(names []string, most int) (some []string) {
	if len(names) <= most {
		return names
	}
	if most == 1 {
		return names[:1]
	}
	for i := range most {
		some = append(some, names[i*(len(names)-1)/(most-1)])
	}
	return some
}

// best reports whether a policy is better than every other policy in a configuration,
// according to paired tests of a metric.
func (s *Report) best(metric, configuration, policy string) bool {
	tested := false
	for _, r := range s.compared(metric) {
		if r.Within != configuration || r.First != policy && r.Second != policy {
			continue
		}
		higher := r.Difference != nil && (*r.Difference > 0) == (r.First == policy)
		if !r.Decided() || higher == s.less(metric) {
			return false
		}
		tested = true
	}
	return tested
}

// elsewhere summarizes the claims and the ledgers. It lists the paths of all other results.
func (s *Report) elsewhere(t report.Terminal, dir, ledgers string) (lines []string) {
	add := func(name, what string) {
		lines = append(lines, fmt.Sprintf("%-9s%s", name, what))
	}
	for _, j := range s.judged() {
		if len(j.Table().Rows) > 0 {
			add("Paper", cmp.Or(j.Found, "claims: "+j.Counts()))
			break
		}
	}
	add("Ledgers", ledgers)
	if len(s.drawn) > 0 {
		more := ""
		if n := len(s.drawn) - 1; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		add("Figure", filepath.Join(dir, "figures", s.drawn[0]+".svg")+more)
	}
	if n := len(s.notes); n > 0 {
		add("Notes", numbered(n, "note", "notes")+": bourse show tables "+dir)
	}
	add("Page", filepath.Join(dir, "report.html"))
	add("Results", dir)
	add("More", "bourse show tables|claims|compare|curve|prices|jobs RESULTS")
	return lines
}
