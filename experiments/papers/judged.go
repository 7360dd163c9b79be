package papers

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"bourse/experiments/metrics"
	"bourse/experiments/misuse"
	"bourse/experiments/papers/claims"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// A Judged is a paper with its claims and their verdicts.
type Judged struct {
	Paper   string             `json:"paper"`
	Title   string             `json:"title"`
	Found   string             `json:"found,omitempty" doc:"one-line result of the published runs"`
	Notes   []string           `json:"notes,omitempty"`
	Reading string             `json:"reading,omitempty" doc:"registered interpretation (reading) of the paper under which its claims are judged"`
	SHA256  string             `json:"sha256" doc:"SHA-256 of the claims file"`
	Since   []string           `json:"registered" doc:"state of the claims file when the runs were made: as registered, changed since the run, or not recorded"`
	Claims  []claims.Judgement `json:"claims"`
}

// logName is the name by which claims refer to the log of the market paper.
const logName = "blue-horizon"

// logResults converts rows measured on the log of the market paper to results.
func logResults(rows []results.Metric) *claims.Results {
	r := &claims.Results{Experiment: logName, Ends: map[string][2]float64{"success_rate": {0, 1}, "correlation": {-1, 1}}}
	for _, row := range rows {
		r.Add(row)
	}
	return r
}

// Judge returns the claims of the papers for which there are results, or of all papers,
// with their verdicts. If there are rows measured on the log of the market paper, the
// claims about the log are tested too.
func Judge(dirs []*results.Dir, all bool, log []results.Metric) ([]Judged, error) {
	papers := Claims()
	found, notes, err := readClaimed(dirs, papers)
	if err != nil {
		return nil, err
	}
	if len(log) > 0 {
		found = append(found, logResults(log))
	}
	judged := []Judged{}
	for _, p := range papers {
		j := Judged{Paper: p.Name, Title: p.Title, Found: p.Found, SHA256: p.SHA256, Claims: claims.Judge(p, found)}
		registered := make(map[string]map[string]string) // by experiment
		concerned := all
		for i, r := range found {
			if p.Concerns(r.Experiment) {
				concerned = true
				j.Notes = append(j.Notes, notes[r.Experiment]...)
				if i < len(dirs) {
					registered[r.Experiment] = dirs[i].Manifest.Claims[p.Name]
				}
			}
		}
		j.Since = report.List(since(p, registered))
		for i, c := range p.Claims {
			for _, e := range c.Experiments() {
				if knew, run := registered[e]; run && (j.Claims[i].Since == "" || j.Claims[i].Since == asRegistered) {
					j.Claims[i].Since = known(knew, p, c.ID)
				}
			}
		}
		if concerned {
			judged = append(judged, j)
		}
	}
	return judged, nil
}

// readClaimed reads the metrics that the claims of papers use from results. It also reads the
// notes, keyed by the name of the experiment.
func readClaimed(dirs []*results.Dir, papers []claims.Paper) (found []*claims.Results, notes map[string][]string, err error) {
	notes = map[string][]string{}
	ends := metrics.Ends()
	for _, dir := range dirs {
		e, err := scenario.Stored(dir.Path, dir.Manifest.Scenario)
		if err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(found, func(r *claims.Results) bool { return r.Experiment == e.Name }) {
			return nil, nil, misuse.Errorf("%s: found two experiments %s, want only one", dir.Path, e.Name)
		}
		r := &claims.Results{Experiment: e.Name, Ends: ends}
		if d := apart(&e); d != nil {
			r.Apart = fmt.Sprintf("%s: found %s, want %s as in the paper's experiment", d.Field, d.One, d.Other)
		}
		for _, a := range e.Sweep {
			r.Axes = append(r.Axes, a.Name())
		}
		var used []string
		for _, p := range papers {
			if p.Concerns(e.Name) {
				used = append(used, p.Metrics()...)
			}
		}
		if used != nil && r.Apart == "" {
			for row, err := range dir.EachMetric(used...) {
				if err != nil {
					return nil, nil, err
				}
				r.Add(row)
			}
		}
		found = append(found, r)
		say := func(what string) { notes[e.Name] = append(notes[e.Name], e.Name+" "+what) }
		if e.Until != nil {
			say("stopped when an interval was narrow enough, although the intervals of claims assume a fixed number of replications")
		}
		if e.Generated() != nil {
			say("uses generated jobs instead of the paper's log")
		}
		if e.DrawsHosts() {
			say("generates the availability of hosts from a model instead of using a recorded trace")
		}
		for _, c := range e.Configurations {
			if log := c.Workload.SWF; log != "" {
				say("uses the log " + path.Base(log) + ", on the assumption that it is the paper's log")
				break
			}
			if a := c.Fleet.Availability; a != nil && a.File != "" {
				say("uses the trace " + path.Base(a.File) + " instead of the models that the claims name")
				break
			}
		}
	}
	return found, notes, nil
}

// JudgeStudy returns the claims about an experiment with their verdicts. It uses only the
// given rows. It returns no claims if the experiment is not the paper's own.
func JudgeStudy(e *scenario.Experiment, about Claimed, rows func(metrics ...string) []results.Metric) (judged []Judged) {
	if apart(e) != nil {
		return nil
	}
	for _, p := range about {
		r := &claims.Results{Experiment: e.Name, Ends: metrics.Ends()}
		for _, a := range e.Sweep {
			r.Axes = append(r.Axes, a.Name())
		}
		for _, row := range rows(p.Metrics()...) {
			r.Add(row)
		}
		j := Judged{Paper: p.Name, Title: p.Title, Found: p.Found}
		j.Claims = claims.Judge(p, []*claims.Results{r})
		judged = append(judged, j)
	}
	return judged
}

// Table returns the verdicts of j with one row per claim. A row shows the number on which
// the verdict depends.
func (j Judged) Table() report.Table {
	t := report.Table{
		Title: j.Title, Left: 3, Header: []string{"verdict", "claim", "sentence", "number", "wanted", "n"},
		Note: "Intervals are simultaneous at 95 % over the claims of the paper (Bonferroni). bourse paper claims RESULTS shows the evidence for each claim.",
	}
	for _, c := range j.Claims {
		if len(c.Outcomes) == 0 {
			continue
		}
		row := report.Cells(strings.ToLower(string(c.Verdict)), c.ID, c.Section+": “"+c.Quote+"”", "", "", "")
		row[0].Strong = c.Verdict == claims.Contradicted
		if c.Decides >= 0 {
			o := c.Outcomes[c.Decides]
			number, want, _ := strings.Cut(estimate(o), ", want ")
			row[3].Text, row[4].Text, row[5].Text = number, want, strconv.Itoa(o.N)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Counts returns the number of claims with each verdict. It excludes post hoc claims.
func (j Judged) Counts() string { return j.counts() }

// Document returns all verdicts in a form that t can display. If brief is set, there is one
// line per claim.
func Document(all []Judged, t report.Terminal, brief bool) report.Document {
	texts := make([]string, len(all))
	for i, j := range all {
		texts[i] = j.text(t, brief)
	}
	return report.Said(strings.Join(texts, "\n"), all)
}

// Undecided returns one line with the number of claims for each verdict, the undecided
// claims, and the replications needed to decide these. It is empty if no claim was tested.
func (j Judged) Undecided() string {
	var open []string
	var needed []int
	tested := false
	for _, c := range j.Claims {
		tested = tested || len(c.Outcomes) > 0
		if c.Verdict == claims.Undecided && c.PostHoc == "" {
			open = append(open, c.ID)
			if c.Needed != nil {
				needed = append(needed, *c.Needed)
			}
		}
	}
	if !tested {
		return ""
	}
	s := "claims of the paper: " + j.counts()
	if len(open) == 0 {
		return s
	}
	s += ". Undecided: " + strings.Join(open, ", ")
	if slices.Sort(needed); len(needed) > 0 {
		s += fmt.Sprintf("; %d replications would decide half of these claims, and %d would decide %s", needed[(len(needed)-1)/2], needed[len(needed)-1],
			map[bool]string{true: "all", false: "all claims except those for which the number is unknown"}[len(needed) == len(open)])
	}
	return s
}

// counts returns the number of claims with each verdict. It excludes post hoc claims.
func (j Judged) counts() string {
	count := map[claims.Verdict]int{}
	for _, c := range j.Claims {
		if c.PostHoc == "" {
			count[c.Verdict]++
		}
	}
	return fmt.Sprintf("%d supported, %d contradicted, %d undecided, %d not testable", count[claims.Supported], count[claims.Contradicted], count[claims.Undecided], count[claims.NotTestable])
}

// text returns the verdicts in a form that t can display. If brief is set, there is one
// line per claim.
func (j Judged) text(t report.Terminal, brief bool) string {
	var b strings.Builder
	say := func(before, format string, args ...any) {
		b.WriteString(t.Hang(before, fmt.Sprintf(format, args...)) + "\n")
	}
	say("", "%s", j.Title)
	for _, n := range j.Notes {
		say("Note: ", "%s", n)
	}
	for _, what := range j.Since {
		say("Claims: ", "%s", what)
	}
	tested := false
	for _, c := range j.Claims {
		tested = tested || c.PostHoc == "" && len(c.Outcomes) > 0
		head := fmt.Sprintf("%s %q", c.Section, c.Quote)
		if c.Decides >= 0 {
			head += "  " + rests(c)
		}
		say(fmt.Sprintf("%-12s %3s  ", c.Verdict, c.ID), "%s", head)
		line := func(format string, args ...any) { say(fmt.Sprintf("%19s", ""), format, args...) }
		if s := covers(c.Panels); len(c.Outcomes) > 1 {
			line("%s", s)
		}
		if c.Why != "" {
			line("%s", c.Why)
		}
		if c.Since == changed || c.Since == added {
			line("%s", c.Since)
		}
		if c.PostHoc != "" {
			line("post hoc: %s", c.PostHoc)
		}
		if brief {
			continue
		}
		if c.Note != "" {
			line("read as: %s", c.Note)
		}
		for i, o := range c.Outcomes {
			say(fmt.Sprintf("%19s%s ", "", where(o)), "%s", outcome(o))
			next := claims.Outcome{}
			if i+1 < len(c.Outcomes) {
				next = c.Outcomes[i+1]
			}
			if o.Exact != "" && o.Exact != next.Exact {
				line("       no chance: %s", o.Exact)
			}
			if o.Margin != next.Margin || o.Source != next.Source {
				line("margin %.4g: %s", o.Margin, o.Source)
			}
		}
		if c.Otherwise != "" {
			line("otherwise: %s", c.Otherwise)
		}
	}
	counted := j.counts()
	if tested {
		counted += "; intervals hold simultaneously at 95 % over the claims of the paper (Bonferroni)"
	}
	say("", "%s", counted)
	return b.String()
}

// covers describes the panels on which a sentence was tested.
func covers(panels map[claims.Verdict]int) string {
	n, parts := 0, []string{}
	for _, v := range []claims.Verdict{claims.Supported, claims.Contradicted, claims.Undecided} {
		if n += panels[v]; panels[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", panels[v], strings.ToLower(string(v))))
		}
	}
	if n == 1 {
		return "1 panel"
	}
	return fmt.Sprintf("%d panels: %s", n, strings.Join(parts, ", "))
}

// where describes the position of the interval of a test.
func where(o claims.Outcome) string {
	switch {
	case o.Where == claims.Supported:
		return "inside "
	case o.Where == claims.Contradicted:
		return "OUTSIDE"
	case o.Equal:
		return "equal  "
	}
	return "across "
}

// rests describes the number on which the verdict on c depends.
func rests(c claims.Judgement) string {
	o := c.Outcomes[c.Decides]
	s := fmt.Sprintf("%s, n\u00a0%d", whole(o), o.N)
	if c.P != nil {
		s += fmt.Sprintf(", p %.2g", *c.P)
	}
	s += "; at half the margin, " + strings.ToLower(string(c.Half))
	if c.Verdict == claims.Undecided && o.Equal {
		s += fmt.Sprintf("; the interval lies within the margin of %.4g", o.Margin)
	}
	if c.Needed != nil {
		s += fmt.Sprintf("; n %d would decide it", *c.Needed)
	}
	return s
}

// estimate formats a number with its interval and the region in which it must lie.
func estimate(o claims.Outcome) string {
	s := fmt.Sprintf("%.4g", o.Value)
	if o.Lo != nil {
		s += fmt.Sprintf(" [%.4g, %.4g]", *o.Lo, *o.Hi)
	}
	return s + ", want " + o.Want
}

// whole formats an estimate so that a line break cannot separate it from its region.
func whole(o claims.Outcome) string { return strings.ReplaceAll(estimate(o), " ", "\u00a0") }

func outcome(o claims.Outcome) string {
	p := ""
	if o.P != nil {
		p = fmt.Sprintf(", p %.2g", *o.P)
	}
	return fmt.Sprintf("%s (n\u00a0%d%s): %s", whole(o), o.N, p, o.What)
}
