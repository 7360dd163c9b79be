package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"bourse/experiments/papers"
	"bourse/experiments/papers/claims"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"

	"github.com/urfave/cli/v2"
)

func claimsCommand() *cli.Command {
	return &cli.Command{
		Name:      "claims",
		Usage:     "judge what the papers say by results",
		ArgsUsage: "RESULTS...",
		Description: `Each claim of a paper comes out PASS, FAIL or NOT TESTABLE, with the numbers that
decide it, their 95 % intervals, the number of replications, and a p value,
corrected (Holm) over the claims of the paper. The verdict looks at means alone.
A directory of results directories stands for all of them. Papers that the
results do not touch are left out. Some that fail by our results say what comes of
them under other options. The exit status is 0 whatever the verdicts.

   bourse run --preset librarisk --trace LOG && bourse claims results/librarisk`,
		Flags: []cli.Flag{
			jsonFlag(),
			&cli.BoolFlag{Name: "brief", Usage: "print a line a claim, without the numbers"},
		},
		Action: claimsAction,
	}
}

// A judged paper is its claims with their verdicts.
type judged struct {
	Paper  string             `json:"paper"`
	Title  string             `json:"title"`
	Notes  []string           `json:"notes,omitempty"`
	Claims []claims.Judgement `json:"claims"`
}

func claimsAction(c *cli.Context) error {
	if c.NArg() == 0 {
		return usagef("%s: RESULTS is missing; see '%s --help'", commandName(c), c.Command.HelpName)
	}
	found, notes, err := readClaimed(c.Args().Slice())
	if err != nil {
		return err
	}
	all := []judged{}
	for _, p := range papers.Claims() {
		j := judged{Paper: p.Name, Title: p.Title, Claims: claims.Judge(p, found)}
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
	if c.Bool("json") {
		return printJSON(c, all)
	}
	t, err := terminal(c, c.App.Writer)
	if err != nil {
		return err
	}
	for i, j := range all {
		if i > 0 {
			fmt.Fprintln(c.App.Writer)
		}
		text := j.text(c.Bool("brief"))
		if table := j.table(); len(table.Rows) > 0 {
			text += "\n" + table.Text(t)
		}
		if _, err := fmt.Fprint(c.App.Writer, text); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		note(c, "no paper claims anything about these results")
	}
	return nil
}

// readClaimed reads the results in dirs, or one level below, and what is to be
// said of them by the name of their experiment.
func readClaimed(dirs []string) (found []claims.Results, notes map[string][]string, err error) {
	notes = map[string][]string{}
	for _, path := range dirs {
		all, err := resultsIn(path)
		if err != nil {
			return nil, nil, err
		}
		for _, dir := range all {
			e, err := experimentOf(dir)
			if err != nil {
				return nil, nil, err
			}
			if slices.ContainsFunc(found, func(r claims.Results) bool { return r.Experiment == e.Name }) {
				return nil, nil, usagef("%s: found a second experiment %s, want one of each", dir.Path, e.Name)
			}
			rows, err := dir.Metrics()
			if err != nil {
				return nil, nil, err
			}
			r := claims.Results{Experiment: e.Name, Rows: rows, Ends: metricEnds()}
			for _, a := range e.Sweep {
				r.Axes = append(r.Axes, a.Name())
			}
			found = append(found, r)
			if without(&e) != nil {
				notes[e.Name] = append(notes[e.Name], e.Name+" is of generated jobs, not of the log that the paper used")
			}
			if slices.ContainsFunc(e.Configurations, drawsHosts) {
				notes[e.Name] = append(notes[e.Name], e.Name+" is of hosts that come and go as models say, not of a recorded trace")
			}
			if i := slices.IndexFunc(e.Configurations, func(c scenario.Configuration) bool {
				return c.Fleet.Availability != nil && c.Fleet.Availability.File != ""
			}); i >= 0 {
				notes[e.Name] = append(notes[e.Name], fmt.Sprintf("%s is of %s, whatever model claims are said to be judged on", e.Name, e.Configurations[i].Fleet.Availability.File))
			}
		}
	}
	return found, notes, nil
}

// resultsIn returns the results that path is, or else those one level below it.
func resultsIn(path string) ([]*results.Dir, error) {
	dir, err := openResults(path)
	if err == nil {
		return []*results.Dir{dir}, nil
	}
	if !errors.Is(err, results.ErrNotResults) {
		return nil, err
	}
	below, globErr := filepath.Glob(filepath.Join(path, "[^.]*", "manifest.json"))
	if globErr != nil || len(below) == 0 {
		return nil, err
	}
	var all []*results.Dir
	for _, m := range below {
		dir, err := openResults(filepath.Dir(m))
		if err != nil {
			return nil, err
		}
		all = append(all, dir)
	}
	return all, nil
}

// text returns the verdicts for people.
func (j judged) text(brief bool) string {
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
func (j judged) table() report.Table {
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
