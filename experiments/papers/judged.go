package papers

import (
	"fmt"
	"slices"
	"strings"

	"bourse/experiments/metrics"
	"bourse/experiments/misuse"
	"bourse/experiments/papers/claims"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// A Judged paper is its claims with their verdicts.
type Judged struct {
	Paper  string             `json:"paper"`
	Title  string             `json:"title"`
	Notes  []string           `json:"notes,omitempty"`
	Claims []claims.Judgement `json:"claims"`
}

// Judge returns the claims of the papers that the results touch, with their verdicts.
func Judge(dirs []*results.Dir) ([]Judged, error) {
	found, notes, err := readClaimed(dirs)
	if err != nil {
		return nil, err
	}
	all := []Judged{}
	for _, p := range Claims() {
		j := Judged{Paper: p.Name, Title: p.Title, Claims: claims.Judge(p, found)}
		touched := false
		for _, r := range found {
			if p.Concerns(r.Experiment) {
				touched = true
				j.Notes = append(j.Notes, notes[r.Experiment]...)
			}
		}
		if touched {
			all = append(all, j)
		}
	}
	return all, nil
}

// readClaimed reads results, and what is to be said of them by the name of their
// experiment.
func readClaimed(dirs []*results.Dir) (found []claims.Results, notes map[string][]string, err error) {
	notes = map[string][]string{}
	ends := metrics.Ends()
	for _, dir := range dirs {
		e, err := scenario.Stored(dir.Path, dir.Manifest.Scenario)
		if err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(found, func(r claims.Results) bool { return r.Experiment == e.Name }) {
			return nil, nil, misuse.Errorf("%s: found a second experiment %s, want one of each", dir.Path, e.Name)
		}
		rows, err := dir.Metrics()
		if err != nil {
			return nil, nil, err
		}
		r := claims.Results{Experiment: e.Name, Rows: rows, Ends: ends}
		for _, a := range e.Sweep {
			r.Axes = append(r.Axes, a.Name())
		}
		found = append(found, r)
		say := func(what string) { notes[e.Name] = append(notes[e.Name], e.Name+" is of "+what) }
		if e.Generated() != nil {
			say("generated jobs, not of the log that the paper used")
		}
		if e.DrawsHosts() {
			say("hosts that come and go as models say, not of a recorded trace")
		}
		for _, c := range e.Configurations {
			if a := c.Fleet.Availability; a != nil && a.File != "" {
				say(a.File + ", whatever model claims are said to be judged on")
				break
			}
		}
	}
	return found, notes, nil
}

// Document returns the verdicts on all, as t can show them; if brief, a line a claim.
func Document(all []Judged, t report.Terminal, brief bool) report.Document {
	texts := make([]string, len(all))
	for i, j := range all {
		texts[i] = j.text(t, brief)
	}
	return report.Said(strings.Join(texts, "\n"), all)
}

// text returns the verdicts as t can show them; if brief, a line a claim.
func (j Judged) text(t report.Terminal, brief bool) string {
	var b strings.Builder
	b.WriteString(j.Title + "\n")
	for _, n := range j.Notes {
		b.WriteString("Note: " + n + "\n")
	}
	count := map[claims.Verdict]int{}
	for _, c := range j.Claims {
		count[c.Verdict]++
		fmt.Fprintf(&b, "%-12s %3s  %s %q", c.Verdict, c.ID, c.Section, c.Quote)
		if c.Holm != nil {
			fmt.Fprintf(&b, "  p %.3g", *c.Holm)
		}
		b.WriteString("\n")
		if c.Why != "" {
			fmt.Fprintf(&b, "%19s%s\n", "", c.Why)
		}
		if brief {
			continue
		}
		if c.Note != "" {
			fmt.Fprintf(&b, "%19sread as: %s\n", "", c.Note)
		}
		for _, o := range c.Outcomes {
			b.WriteString(outcomeLine(o))
		}
		if c.Otherwise != "" {
			fmt.Fprintf(&b, "%19sotherwise: %s\n", "", c.Otherwise)
		}
	}
	fmt.Fprintf(&b, "%d pass, %d fail, %d not testable; p corrected for %d claims (Holm)\n",
		count[claims.Pass], count[claims.Fail], count[claims.NotTestable], tested(j.Claims))
	if table := j.table(); len(table.Rows) > 0 {
		b.WriteString("\n" + table.Text(t))
	}
	return b.String()
}

func outcomeLine(o claims.Outcome) string {
	mark := "yes"
	if !o.Holds {
		mark = "NO "
	}
	interval := ""
	if o.Lo95 != nil {
		interval = fmt.Sprintf(" [%.4g, %.4g]", *o.Lo95, *o.Hi95)
	}
	p := ""
	if o.P != nil {
		p = fmt.Sprintf(", p %.2g", *o.P)
	}
	return fmt.Sprintf("%15s %s %.4g%s, want %s (n %d%s): %s\n", "", mark, o.Mean, interval, o.Want, o.N, p, o.What)
}

// tested returns how many claims have a p value.
func tested(all []claims.Judgement) int {
	n := 0
	for _, c := range all {
		if c.P != nil {
			n++
		}
	}
	return n
}

// table returns which claims hold on what, where they are judged on several: a row
// a claim, a column for each.
func (j Judged) table() report.Table {
	t := report.Table{Title: "Which claims hold on which", Header: []string{"claim"}, Left: 1}
	column, row := map[string]int{}, map[string]int{}
	for _, c := range j.Claims {
		if c.On != "" && column[c.On] == 0 {
			column[c.On] = len(t.Header)
			t.Header = append(t.Header, c.On)
		}
	}
	for _, c := range j.Claims {
		if c.On == "" {
			continue
		}
		id := strings.TrimSuffix(c.ID, "-"+c.On)
		i, ok := row[id]
		if !ok {
			i = len(t.Rows)
			row[id] = i
			t.Rows = append(t.Rows, slices.Repeat([]report.Cell{{Text: "–"}}, len(t.Header)))
			t.Rows[i][0].Text = id
		}
		t.Rows[i][column[c.On]] = report.Cell{Text: strings.ToLower(string(c.Verdict)), Strong: c.Verdict == claims.Fail}
	}
	return t
}
