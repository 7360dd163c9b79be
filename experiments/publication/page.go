package publication

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/bank"
	"bourse/bank/store"
	"bourse/experiments"
	"bourse/experiments/advise"
	"bourse/experiments/contrast"
	"bourse/experiments/metrics"
	"bourse/experiments/papers"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/experiments/trail"
	"bourse/experiments/verdicts"
)

// spoken returns the metrics that the findings of s discuss. These are the first five, at most,
// of the metrics in the figure that can be compared.
func (s *Report) spoken() (names []string) {
	for _, name := range sweep(s.labels(), s.Experiment).Metrics {
		m := slices.IndexFunc(s.Metrics, func(m metrics.Metric) bool { return m.Name == name })
		known := 0
		s.Each(func(configuration, policy int, _, _ string) {
			if m >= 0 && slices.ContainsFunc(s.Cells[configuration][policy].Values[m], func(x float64) bool { return !math.IsNaN(x) }) {
				known++
			}
		})
		if known > 1 && len(names) < 5 {
			names = append(names, name)
		}
	}
	return names
}

// sentences describes how the policies of s differ, according to the paired comparisons. It
// returns one sentence per metric.
func (s *Report) sentences(of []string) (said []string) {
	e := s.Experiment
	l := s.labels()
	words := verdicts.Words{Of: l.Of, Where: "configuration", Less: s.less}
	if len(e.Sweep) > 0 {
		words.Where, words.Of = "point", s.spot
	} else if len(e.Configurations) == 1 {
		words.Where = ""
	}
	for _, m := range of {
		if rows := s.compared(m); len(rows) > 0 {
			said = append(said, verdicts.Of(rows, words))
		}
	}
	return said
}

// spot formats the name of a configuration for people. In a sweep, it returns the values of
// the point, and otherwise the label of the name.
func (s *Report) spot(name string) string {
	label, values := results.Spot(name)
	if len(values) == 0 {
		return s.labels().Of(label)
	}
	return strings.Join(values, " / ")
}

// less reports whether lower values of a metric are better.
func (s *Report) less(metric string) bool {
	i := slices.IndexFunc(s.Metrics, func(m metrics.Metric) bool { return m.Name == metric })
	return i >= 0 && s.Metrics[i].Less
}

// findings returns the findings of s as sentences. They contain the verdicts of the paired
// comparisons of policies and the verdicts on the paper's claims.
func (s *Report) findings() []string {
	e, said := s.Experiment, s.sentences(s.spoken())
	switch {
	case len(said) == 0:
		return []string{"There is nothing to compare: every configuration has one policy."}
	case e.Replications == 1:
		said = append(said, "A single replication cannot show a significant difference; run more with --replications.")
	default:
		said = append(said, fmt.Sprintf("The findings are paired differences over %d replications. They are significant at 5 %% for all comparisons of a metric simultaneously (Bonferroni).", e.Replications))
	}
	for _, j := range s.judged() {
		if t := j.Table(); len(t.Rows) > 0 {
			said = append(said, fmt.Sprintf("Claims of the paper: %s.", j.Counts()))
		}
	}
	return said
}

// Undecided returns a line about the undecided claims for each paper with claims about s.
func (s *Report) Undecided() (said []string) {
	for _, j := range s.judged() {
		if line := j.Undecided(); line != "" {
			said = append(said, line)
		}
	}
	return said
}

// mostCompared is the maximum number of comparisons of one metric on a page.
const mostCompared = 500

// sections returns the parts of the page that follow the figures and tables: claims,
// comparisons, advice, and the links from every number to the ledgers in w.
func (s *Report) sections(w *results.Writer, first *shown) (all []report.Section, err error) {
	claimed := report.Section{Name: "claims", Title: "Claims", Lead: "The verdicts on the paper's claims use only these replications."}
	for _, j := range s.judged() {
		if t := j.Table(); len(t.Rows) > 0 {
			claimed.Tables = append(claimed.Tables, t)
		}
	}
	compared := report.Section{Name: "comparisons", Title: "Comparisons", Lead: "Policies are compared in pairs, on the same jobs. Each name links to its row."}
	for _, m := range s.spoken() {
		rows := s.compared(m)
		if len(rows) == 0 {
			continue
		}
		if n := len(rows); n > mostCompared {
			rows = rows[:mostCompared]
			compared.Lead += fmt.Sprintf(" The table shows the first %[3]d of %[1]d comparisons of %[2]s; bourse compare RESULTS --metric %[4]s prints all of them.", n, s.labels().Of(m), mostCompared, m)
		}
		compared.Tables = append(compared.Tables, contrastTables(s.labels(), rows, s.asked(m))...)
	}
	var gained report.Section
	if s.gains = first.compare(); len(s.gains) > 0 {
		gained = report.Section{Name: "users", Title: "Users", Lead: "The gains of each user are compared with the gains under " + s.labels().Of(s.Experiment.Configurations[0].Name) + ", on the same jobs.", Tables: contrastUsers(s.labels(), s.gains)}
		ask := contrast.Ask{Metrics: []string{contrast.Gain}, Across: contrast.Configurations, Users: true, Unsized: true}
		gained.Tables = append(gained.Tables, contrastTables(s.labels(), s.gains[:min(mostCompared, len(s.gains))], ask)...)
	}
	advised := report.Section{Name: "advice", Title: "Advice", Lead: "The table shows when to reserve and when to buy on the spot market (§5)."}
	if t := s.advice(); len(t.Rows) > 0 {
		advised.Tables = []report.Table{t}
	}
	for _, section := range []report.Section{claimed, compared, gained, advised} {
		if len(section.Tables) > 0 {
			all = append(all, section)
		}
	}
	way, err := s.trail(w, first)
	return append(all, way), err
}

// advice returns the advice to users in each configuration that has both markets.
func (s *Report) advice() report.Table {
	t := report.Table{
		Title: "Reserve if p_a is above the threshold", Left: 2,
		Header: []string{"configuration", "users", "p_a", "threshold", "p_a minus threshold, 95 %", "advice", "by"},
		Note:   "Intervals are computed by the jackknife over replications. bourse study advise RESULTS prints details.",
	}
	market := papers.Of("")
	both := func(c scenario.Configuration) bool {
		names := make(map[string]bool)
		for _, a := range c.Admission {
			names[a.Label] = true
		}
		return names[market.Spot] && names[market.Reservation]
	}
	if !slices.ContainsFunc(s.Experiment.Configurations, both) {
		return t
	}
	given := advise.Of(s.MetricRows(advise.Metrics()...), market.Spot, market.Reservation)
	if _, err := advise.Weigh(given); err != nil {
		return t
	}
	for _, a := range given {
		for _, c := range a.User {
			above := "–"
			if c.AboveLo != nil {
				above = report.Maybe(*c.AboveLo).String() + " to " + report.Maybe(*c.AboveHi).String()
			}
			t.Rows = append(t.Rows, report.Cells(s.labels().Of(a.Configuration), c.For, a.Numbers["p_a"], c.Threshold, above, c.Verdict, c.Equation))
		}
	}
	return t
}

// maps returns a heat map of each metric if at least two axes of the sweep have numbers as
// values. With three axes, it returns several small maps per metric.
func (s *Report) maps(drawn []report.Figure) []report.Figure {
	e := s.Experiment
	if len(e.Sweep) < 2 || slices.ContainsFunc(drawn, func(f report.Figure) bool {
		return slices.ContainsFunc(f.Panels, func(p report.Panel) bool { return p.Heat })
	}) {
		return nil
	}
	title := e.Title
	if title == "" {
		title = e.Name
	}
	return []report.Figure{sweep(s.labels(), e).Maps(e.Name+"-maps", title+", as maps", s.SummaryRows())}
}

// A shown contains the jobs and prices that the page shows. These rows come from the unit that
// contains replication 0.
type shown struct {
	e    *scenario.Experiment
	none bool // whether the page shows no jobs
	most int  // maximum number of jobs shown per run
	of   []trail.Run
	at   map[[2]string]int // position of each run in of, by configuration and policy

	gains *contrast.Gains // gains of users; nil unless each configuration has its own policy
}

func newShown(e *scenario.Experiment) *shown {
	first := &shown{e: e, none: large(e), at: make(map[[2]string]int)}
	for _, c := range e.Configurations {
		for _, a := range c.Admission {
			first.at[[2]string{c.Name, a.Label}] = len(first.of)
			first.of = append(first.of, trail.Run{Configuration: c.Name, Admission: a.Label, Reps: e.Replications})
		}
	}
	first.most = trail.Jobs(len(first.of))
	if ownPolicies(e) && e.Replications > 1 {
		first.gains = new(contrast.Gains)
	}
	return first
}

// compare compares the gains of each user with those under the first configuration. It returns
// nil if there is only one user or if there are too many.
func (first *shown) compare() []contrast.Row {
	if first.gains == nil {
		return nil
	}
	rows, err := first.gains.Compare(first.e.Configurations[0].Name)
	if err != nil || len(rows) < len(first.e.Configurations) {
		return nil
	}
	return rows
}

// take stores the jobs and prices of replication 0 if the unit contains them, and adds all jobs to
// the gains of their users.
func (first *shown) take(of experiments.Unit, unit *results.Unit) error {
	if first.gains != nil {
		for j, err := range unit.Block.Jobs(experiments.Axes(first.e)) {
			if err != nil {
				return err
			}
			first.gains.Add(&j)
		}
	}
	if of.From != 0 || first.none {
		return nil
	}
	jobs, counts, err := unit.Block.FirstJobs(experiments.Axes(first.e), first.most)
	if err != nil {
		return err
	}
	prices, _, err := unit.Block.FirstPrices(experiments.Axes(first.e), trail.Prices())
	if err != nil {
		return err
	}
	for _, j := range jobs {
		r := &first.of[first.at[[2]string{j.Configuration, j.Admission}]]
		r.Jobs, r.AllJobs = append(r.Jobs, j), counts[j.Admission]
	}
	for _, p := range prices {
		r := &first.of[first.at[[2]string{p.Configuration, p.Admission}]]
		r.Prices = append(r.Prices, p)
	}
	return nil
}

// large reports whether e has more than 250 runs, which are pairs of a configuration and a
// policy. The page then shows no jobs, and by default only the ledgers of the first
// configuration are stored.
func large(e *scenario.Experiment) bool {
	runs := 0
	for _, c := range e.Configurations {
		runs += len(c.Admission)
	}
	return runs > 250
}

// trail returns the section that links table rows to ledger entries.
func (s *Report) trail(w *results.Writer, first *shown) (report.Section, error) {
	summary, curve := s.SummaryRows(), s.CurveRows()
	s.Each(func(configuration, policy int, name, label string) {
		r := &first.of[first.at[[2]string{name, label}]]
		for m := range s.Metrics {
			r.Rows = append(r.Rows, trail.Row{Summary: summary[m], Values: s.Cells[configuration][policy].Values[m]})
		}
		summary = summary[len(s.Metrics):]
		r.Curve, curve = curve[:len(s.Experiment.Alphas)], curve[len(s.Experiment.Alphas):]
	})
	for i := range first.of {
		r := &first.of[i]
		key := fmt.Sprintf("ledger/%s/%s/0", r.Configuration, r.Admission)
		dir, err := w.Path(key)
		if err != nil || len(r.Jobs) == 0 {
			continue // if the name is not a valid path, there is no ledger
		}
		if r.Entries, err = entries(dir, r.Jobs); err != nil {
			return report.Section{}, err
		}
		if r.Entries != nil {
			r.Ledger = key
		}
	}
	return (&trail.Trail{Labels: s.labels(), Runs: first.of}).Section(), nil
}

// mostEntries is the maximum number of ledger entries to search for entries of the jobs on the
// page.
const mostEntries = 1 << 18

// entries returns the entries of jobs in the ledger in dir, keyed by contract. It returns
// nil if there is no ledger.
func entries(dir string, jobs []results.Job) (of map[int64][]trail.Entry, err error) {
	r, err := store.OpenReader(dir, store.Options{})
	if errors.Is(err, store.ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	open := make(map[int64]bool, len(jobs))
	for i := range jobs {
		id, err := strconv.ParseInt(jobs[i].Job, 10, 64)
		if err != nil {
			return nil, err
		}
		open[id] = true
	}
	wanted, ended := len(open), 0
	of = make(map[int64][]trail.Entry, wanted)
	after := 0
	for e, hash := range r.Entries() {
		if after++; after > mostEntries {
			break
		}
		if !open[e.Contract] {
			continue
		}
		one := trail.Entry{Entry: *e, Hash: hash}
		one.Moves, one.Note = slices.Clone(e.Moves), slices.Clone(e.Note)
		of[e.Contract] = append(of[e.Contract], one)
		if e.Kind == bank.Reject || e.Kind == bank.Settle {
			if ended++; ended == wanted {
				after = max(after, mostEntries-1000) // a penalty may follow later
			}
		}
	}
	return of, r.Err()
}
