package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"text/tabwriter"

	"bourse/bank/whole"
	"bourse/experiments"
	"bourse/experiments/findings"
	"bourse/experiments/incentives"
	"bourse/experiments/papers"
	"bourse/experiments/results"
	"bourse/experiments/scenario"

	"github.com/urfave/cli/v2"
)

func findingsCommand() *cli.Command {
	return &cli.Command{
		Name:  "findings",
		Usage: "run a fixed study, and say in ten results what it finds",
		Description: `Who gains by lying under which policy, what negotiation is worth, which forecaster keeps
its promise, which policy a provider should choose at which load, what a guarantee costs:
runs what these questions rest on, each part with a seed of its own and into a directory of
its own, and writes one page of ten results with their intervals, findings.html. It says
beforehand how long it takes. Stopped, the same command goes on: what is finished is not
run again.

   bourse findings --plan
   bourse findings
   bourse findings --finding revenue --finding guarantee
   bourse findings --replications 10 --out first-look --json`,
		Flags: append([]cli.Flag{
			&cli.StringSliceFlag{Name: "finding", Usage: "answer the question `NAME` alone, as --plan lists them; may be repeated"},
			&cli.IntFlag{Name: "replications", Aliases: []string{"n"}, Usage: "repeat no part more than `N` times, to see it work"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: filepath.Join("results", "findings"), Usage: "write results to `DIR`"},
			workersFlag("replications"),
			&cli.BoolFlag{Name: "fresh", Usage: "begin anew, and replace the results of another study"},
			&cli.BoolFlag{Name: "plan", Usage: "list what would be run, and run nothing"},
			noProgressFlag(),
			&cli.StringFlag{Name: "tables", Value: results.None.String(), Usage: "keep jobs, prices and metrics as `FORM`, as 'bourse run' does: both, parquet, csv or none but metrics"},
		}, outputFlags[findings.Page]()...),
		Action: findingsAction,
	}
}

func findingsAction(c *cli.Context) error {
	if err := checkWorkers(c); err != nil {
		return err
	}
	parts, err := studied(c)
	if err != nil {
		return err
	}
	if c.Bool("plan") {
		return planFindings(c, parts)
	}
	note(c, "%s", left(c, parts))
	e := &findings.Evidence{Rows: make(map[string][]results.Metric), Lies: make(map[string]*incentives.Report)}
	for i := range parts {
		p := &parts[i]
		if p.Tempt != nil {
			if e.Lies[p.Name], err = p.lies(c); err != nil {
				return err
			}
			continue
		}
		if err := p.part.run(c); err != nil {
			return err
		}
		dir, err := results.Open(p.dir)
		if err != nil {
			return err
		}
		if e.Rows[p.Name], err = dir.Metrics(); err != nil {
			return err
		}
	}
	page, err := experiments.Findings(e, c.StringSlice("finding")...)
	if err != nil {
		return err
	}
	wrote, err := writeDocument(c.String("out"), "findings.html", experiments.FindingsPage(page, []string{"bourse", "findings"}))
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c, *page)
	}
	_, err = io.WriteString(c.App.Writer, page.Text())
	noteWrote(c, wrote[:1])
	return err
}

// A studyPart is a part of the study, ready to run.
type studyPart struct {
	findings.Part
	part
	file string // of what users gain
}

// studied returns the parts, as c asks for them.
func studied(c *cli.Context) (all []studyPart, err error) {
	most := c.Int("replications")
	if c.IsSet("replications") && most < 2 {
		return nil, usagef("--replications: found %d, want at least 2", most)
	}
	parts, err := findings.Parts(experiments.NamesOf("forecaster"), c.StringSlice("finding")...)
	if err != nil {
		return nil, err
	}
	for _, f := range parts {
		if c.IsSet("replications") {
			f.Replications = min(f.Replications, most)
		}
		p := studyPart{Part: f}
		p.part.Part = papers.Part{Preset: f.Name, Replications: f.Replications, Seconds: f.Seconds}
		p.dir = filepath.Join(c.String("out"), f.Name)
		p.file = p.dir + ".json"
		p.command = []string{"bourse", "run", "scenario.yaml"}
		p.experiment, err = scenario.Parse("part "+f.Name, f.Scenario, experiments.Known(),
			"seed="+strconv.FormatUint(f.Seed, 10), "replications="+strconv.Itoa(f.Replications))
		if err != nil {
			return nil, err
		}
		if f.Tempt != nil {
			if _, err := p.kept(); err == nil {
				p.done = true
			} else if !errors.Is(err, fs.ErrNotExist) && !c.Bool("fresh") {
				return nil, err
			}
		} else {
			p.done = p.finished()
		}
		p.done = p.done && !c.Bool("fresh")
		all = append(all, p)
	}
	return all, nil
}

// A tempted is what is kept of a part in which users are tempted: what was asked, and found.
type tempted struct {
	Scenario string             `json:"scenario"`
	Tempt    findings.Tempt     `json:"tempt"`
	Lies     string             `json:"lies"`
	Report   *incentives.Report `json:"report"`
}

// asked returns what p asks, as it is kept.
func (p *studyPart) asked() (t tempted, err error) {
	t.Scenario, err = p.text()
	t.Tempt, t.Lies = *p.Tempt, said(incentives.Usual())
	return t, err
}

// kept returns what an earlier run has found of p: [fs.ErrNotExist] if there is nothing, or it
// is of something else.
func (p *studyPart) kept() (*incentives.Report, error) {
	data, err := whole.Read(p.file, 1<<28)
	if err != nil {
		return nil, err
	}
	var t tempted
	if err := json.Unmarshal(data, &t); err != nil {
		return nil, fmt.Errorf("%s: %w; without the file its part is run again", p.file, err)
	}
	want, err := p.asked()
	if err != nil {
		return nil, err
	}
	if t.Scenario != want.Scenario || t.Tempt != want.Tempt || t.Lies != want.Lies || t.Report == nil {
		return nil, fs.ErrNotExist
	}
	return t.Report, nil
}

// lies tempts the users of p, unless it has been done.
func (p *studyPart) lies(c *cli.Context) (*incentives.Report, error) {
	if p.done {
		note(c, "%s: found finished in %s", p.Name, p.file)
		return p.kept()
	}
	elapsed := stopwatch()
	t, err := p.asked()
	if err != nil {
		return nil, err
	}
	t.Report, err = experiments.Incentives(c.Context, &p.experiment, experiments.Temptations{
		Configurations: []string{t.Tempt.Configuration}, Deviations: incentives.Usual(),
		Alpha: t.Tempt.Alpha, Epsilon: t.Tempt.Epsilon, Users: t.Tempt.Users, Answers: t.Tempt.Answers, Rounds: t.Tempt.Rounds,
		Workers: c.Int("workers"), Progress: progress(c, p.Name),
	})
	if err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.String("out"), 0o755); err != nil {
		return nil, err
	}
	unfinished := p.file + ".unfinished"
	if err := writeFile(c, unfinished, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(data))
		return err
	}); err != nil {
		return nil, err
	}
	if err := os.Rename(unfinished, p.file); err != nil {
		return nil, err
	}
	note(c, "%s: %s in %s; what users gain in %s", p.Name, count(p.Part.Replications, "replication"), rounded(elapsed()), p.file)
	return t.Report, nil
}

// planFindings prints what would be run.
func planFindings(c *cli.Context, parts []studyPart) error {
	w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "part\treplications\ttime\tfindings\t")
	for i := range parts {
		p := &parts[i]
		time := rounded(p.time(c)).String()
		if p.done {
			time = "found finished"
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t\n", p.Name, p.Part.Replications, time, p.On())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(c.App.Writer, left(c, parts))
	return err
}

// left says what is left to run, and how long that takes.
func left(c *cli.Context, parts []studyPart) string {
	n, seconds := 0, 0.0
	for i := range parts {
		if p := &parts[i]; !p.done {
			n++
			seconds += p.time(c)
		}
	}
	return fmt.Sprintf("%s to run: about %s with %s", count(n, "part"), rounded(seconds), count(c.Int("workers"), "worker"))
}
