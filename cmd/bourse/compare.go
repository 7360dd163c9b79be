package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"bourse/experiments"
	"bourse/experiments/report"
	"bourse/workloadgen/describe"
	"bourse/workloadgen/models"

	"github.com/urfave/cli/v2"
)

func compareCommand() *cli.Command {
	return &cli.Command{
		Name:      "compare",
		Usage:     "test whether two workloads are alike: KS and Q-Q",
		ArgsUsage: "A B",
		Description: `A and B are logs, plans (.csv), model files (.yaml) or names of models, of which
jobs are drawn. Two-sample Kolmogorov-Smirnov for gaps between arrivals, runtimes
and sizes, and the quantiles of B over those of A.

   bourse workload compare KTH.swf.gz plan.csv
   bourse workload compare lublin.swf lublin --options '{size: 256}' --jobs 10000
   bourse workload compare SDSC-BLUE.swf.gz blue.yaml --seed 3 --out compared`,
		Flags: append([]cli.Flag{
			filterFlag(),
			&cli.IntFlag{Name: "jobs", DefaultText: "as many as the other has", Usage: "draw `N` jobs of a model"},
			seedFlag(),
			&cli.StringFlag{Name: "options", Usage: "options of a model that is named, as a YAML mapping"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write the Q-Q figure to `DIR`"},
		}, outputFlags()...),
		Action: compareAction,
	}
}

// A compared is a quantity of both workloads.
type compared struct {
	title, unit string
	a, b        describe.Quantity
	describe.Comparison
}

func compareAction(c *cli.Context) error {
	if err := exactly(c, "A", "B"); err != nil {
		return err
	}
	t, err := terminal(c, c.App.Writer)
	if err != nil {
		return err
	}
	if n := c.Int("jobs"); n < 0 || n > 1e8 {
		return usagef("--jobs: found %d, want 0 to 100000000", n)
	}
	logs, err := readBoth(c, c.Args().Slice())
	if err != nil {
		return err
	}
	names := []string{filepath.Base(c.Args().Get(0)), filepath.Base(c.Args().Get(1))}
	var all []compared
	for _, q := range []compared{
		{title: "Gap between arrivals", unit: "s", a: logs[0].IAT, b: logs[1].IAT},
		{title: "Runtime", unit: "s", a: logs[0].Run, b: logs[1].Run},
		{title: "Size", unit: "processors", a: logs[0].Procs, b: logs[1].Procs},
	} {
		for i, side := range []describe.Quantity{q.a, q.b} {
			if side.N == 0 {
				return usagef("%s: %s: found no values", names[i], q.a.Name)
			}
		}
		q.Comparison = describe.Compare("quantiles", q.a.Values, q.b.Values, 200)
		all = append(all, q)
	}
	figure := qqFigure(names, all)
	var wrote []string
	if out := c.String("out"); out != "" {
		if err := os.MkdirAll(out, 0o755); err != nil {
			return err
		}
		if wrote, err = writeFigure(out, figure); err != nil {
			return err
		}
	}
	if c.Bool("json") {
		return printJSON(c, comparedJSON(names, all, wrote))
	}
	fmt.Fprintln(c.App.Writer, comparedTable(names, all).Text(t))
	if wrote == nil {
		fmt.Fprint(c.App.Writer, figure.Text(t))
	}
	for _, name := range wrote {
		note(c, "wrote %s", name)
	}
	return nil
}

// readBoth measures two workloads; models are drawn from last, as many jobs as
// the other has. The second of two models has a replication of its own.
func readBoth(c *cli.Context, names []string) ([2]*describe.Log, error) {
	var logs [2]*describe.Log
	jobs := c.Int("jobs")
	for i, name := range names {
		file, err := readSide(c, name, c.String("filter"))
		if err != nil {
			return logs, err
		}
		if file == nil {
			continue
		}
		for _, line := range file.told() {
			note(c, "%s", line)
		}
		logs[i] = describe.Describe(file.trace)
		if c.Int("jobs") == 0 {
			jobs = logs[i].Ran
		}
	}
	replication := 0
	for i, name := range names {
		if logs[i] != nil {
			continue
		}
		m, err := model(c, name, c.String("options"))
		if err != nil {
			return logs, usageError{err}
		}
		plan, err := m.Plan(experiments.Stream(c.Uint64("seed"), replication, "workload"), jobs, nil)
		if err != nil {
			return logs, usageError{fmt.Errorf("%s: %w", name, err)}
		}
		replication++
		note(c, "%s: %d jobs drawn", name, len(plan))
		logs[i] = describe.Describe(planLog(plan))
	}
	return logs, nil
}

// readSide reads a log or a plan; nil if the name is of a model.
func readSide(c *cli.Context, name, filter string) (*logFile, error) {
	if isModelFile(name) {
		return nil, nil
	}
	file, err := readLog(c, name, filter)
	if errors.Is(err, fs.ErrNotExist) {
		if slices.Contains(models.Table().Names(), name) {
			return nil, nil
		}
		return nil, usagef("%w, and no model of that name: %v", err, models.Table().Names())
	}
	return file, err
}

// isModelFile reports whether a file is one of a model, by its name.
func isModelFile(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".yaml" || ext == ".yml"
}

func comparedTable(names []string, all []compared) report.Table {
	t := report.Table{
		Title:  "Two-sample Kolmogorov-Smirnov: A is " + names[0] + ", B is " + names[1],
		Header: []string{"quantity", "n of A", "n of B", "mean of A", "mean of B", "KS", "p"}, Left: 1,
		Note: "p: the probability of such a distance if both come from one law, every value apart from the others; marked below 5 %.",
	}
	for _, q := range all {
		t.Rows = append(t.Rows, cells(q.a.Name, q.a.N, q.b.N, q.a.Mean, q.b.Mean, q.Test.D,
			report.Cell{Text: maybe(q.Test.P).String(), Strong: q.Test.P < 0.05}))
	}
	return t
}

// qqFigure returns the quantiles of B over those of A, beside the line on which
// they are equal.
func qqFigure(names []string, all []compared) report.Figure {
	f := report.Figure{
		Name: "qq", Title: "Quantiles of " + names[1] + " over those of " + names[0],
		Caption: "200 quantiles at the middles of equal steps; those at 0 are not drawn.",
		Across:  3, Order: []string{"quantiles", "equal"},
	}
	for _, q := range all {
		p := report.Panel{Title: q.title, X: q.unit + ", " + names[0], Y: q.unit + ", " + names[1], LogX: true, LogY: true}
		p.Curves = []report.Curve{curveOf(q.QQ)}
		equal := report.Curve{Name: "equal"}
		for _, x := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(q.QQ.X, q.QQ.Y)))) {
			if x > 0 {
				equal.Points = append(equal.Points, report.Point{X: x, Mean: x, Lo: x, Hi: x})
			}
		}
		if n := len(equal.Points); n > 2 {
			equal.Points = []report.Point{equal.Points[0], equal.Points[n-1]}
		}
		p.Curves = append(p.Curves, equal)
		f.Panels = append(f.Panels, p)
	}
	return f
}

func comparedJSON(names []string, all []compared, files []string) any {
	type test struct {
		A  momentsJSON `json:"a"`
		B  momentsJSON `json:"b"`
		KS maybe       `json:"ks"`
		P  maybe       `json:"p"`
	}
	var tests []test
	for _, q := range all {
		tests = append(tests, test{momentsOf(q.a), momentsOf(q.b), maybe(q.Test.D), maybe(q.Test.P)})
	}
	return struct {
		A     string   `json:"a"`
		B     string   `json:"b"`
		Tests []test   `json:"tests"`
		Files []string `json:"files"`
	}{names[0], names[1], tests, append([]string{}, files...)}
}
