package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"bourse/experiments/fitlab"
	"bourse/experiments/report"
	"bourse/workloadgen/fit"

	"github.com/urfave/cli/v2"
)

func fitCommand() *cli.Command {
	c := fitlab.DefaultCandidates()
	laws := func(name, of string, by []string) cli.Flag {
		return &cli.StringFlag{Name: name, Value: strings.Join(by, ","), Usage: "fit these `LAWS` to the " + of}
	}
	return &cli.Command{
		Name:      "fit",
		Usage:     "fit laws to a log, and write the nearest as a model",
		ArgsUsage: "FILE",
		Description: `Prints each law with its parameters and their standard errors, log-likelihood, AIC
and Kolmogorov-Smirnov distance, the nearest first and marked. With --out the nearest
law of each quantity goes into a model file, which 'workload generate' takes, and a
scenario as 'workload: {model: {name: file, file: MODEL.yaml}}', with budgets from
'annotate' where a policy wants them. Sizes are fitted in powers of two.

Laws: ` + strings.Join(fit.Names()[:8], ", ") + `,
` + strings.Join(fit.Names()[8:], ", ") + `.

   bourse workload fit KTH-SP2-1996-2.1-cln.swf.gz
   bourse workload fit SDSC-BLUE.swf.gz --iat hypweib --out blue.yaml
   bourse workload generate blue.yaml -n 10000 --swf like-blue.swf`,
		Flags: append([]cli.Flag{
			filterFlag(),
			laws("iat", "gaps between arrivals", c.IAT),
			laws("runtime", "runtimes", c.Run),
			laws("nodes", "sizes", c.Procs),
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write the model to `FILE`"},
			&cli.BoolFlag{Name: "hurst", Usage: "give the model's gaps the memory of the log's: its Hurst exponent by R/S"},
			workersFlag(),
		}, outputFlags()...),
		Action: fitAction,
	}
}

func fitAction(c *cli.Context) error {
	if err := exactly(c, "FILE"); err != nil {
		return err
	}
	t, err := terminal(c, c.App.Writer)
	if err != nil {
		return err
	}
	var candidates fitlab.Candidates
	for _, q := range []struct {
		flag string
		laws *[]string
	}{{"iat", &candidates.IAT}, {"runtime", &candidates.Run}, {"nodes", &candidates.Procs}} {
		if *q.laws, err = lawNames(q.flag, c.String(q.flag)); err != nil {
			return err
		}
	}
	file, log, err := measureLog(c, "fit")
	if err != nil {
		return err
	}
	fits, err := fitlab.FitLog(c.Context, log, candidates, fitlab.OptionsFor(log), c.Int("workers"))
	if err != nil {
		return err
	}
	if out := c.String("out"); out != "" {
		model, err := fits.File(fitlab.Choice{}, log, filepath.Base(file.name))
		if err != nil {
			return err
		}
		if c.Bool("hurst") {
			h := log.RescaledRange.H
			if !(h > 0 && h < 1) {
				return usagef("--hurst: the gaps have Hurst exponent %v, want one in (0,1)", h)
			}
			model.Options["hurst"] = h
			model.About = append(model.About, fmt.Sprintf("gaps: Hurst exponent %.3f by R/S", h))
		}
		if err := writeFile(c, out, model.Write); err != nil {
			return err
		}
		note(c, "wrote %s", out)
	}
	if c.Bool("json") {
		return printJSON(c, struct {
			File string        `json:"file"`
			Fits []quantityFit `json:"fits"`
		}{file.name, fitsJSON(fits)})
	}
	for _, table := range fitTables(fits) {
		fmt.Fprintln(c.App.Writer, table.Text(t))
	}
	return nil
}

// lawNames reads the laws of a flag.
func lawNames(flag, text string) ([]string, error) {
	var names []string
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(fit.Names(), name) {
			return nil, usagef("--%s: found %q, want laws of %s, joined by commas", flag, name, strings.Join(fit.Names(), ", "))
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// A fittedQuantity is the fits of a quantity under the names that people and
// programs know it by.
type fittedQuantity struct {
	title, name string
	fits        []fitlab.Outcome
}

func fitted(r *fitlab.Report) []fittedQuantity {
	return []fittedQuantity{
		{"Gaps between arrivals (s)", "iat", r.IAT},
		{"Runtimes (s)", "runtime", r.Run},
		{"Sizes (processors)", "nodes", r.Procs},
	}
}

// fitTables returns a table a quantity: a row a parameter, the law and how near
// it comes on the first.
func fitTables(r *fitlab.Report) []report.Table {
	var tables []report.Table
	for _, q := range fitted(r) {
		t := report.Table{
			Title:  "Fits. " + q.title,
			Header: []string{"law", "parameter", "value", "s.e.", "log-likelihood", "AIC", "KS"}, Left: 2,
			Note: "Nearest first, by KS: the largest difference between the distribution functions. Marked: the nearest law, and the smallest AIC.",
		}
		least := math.Inf(1)
		for _, f := range q.fits {
			if f.Err == nil && f.AIC < least {
				least = f.AIC
			}
		}
		var notes []string
		noted := make(map[string][]string) // laws of which each is said
		for i, f := range q.fits {
			if f.Err != nil {
				t.Note += " " + sentence(f.Err)
				continue
			}
			if f.Note != "" && noted[f.Note] == nil {
				notes = append(notes, f.Note)
			}
			noted[f.Note] = append(noted[f.Note], f.Name)
			for k, p := range f.Params {
				if k > 0 {
					t.Rows = append(t.Rows, cells("", p.Name, p.Value, p.SE, "", "", ""))
					continue
				}
				t.Rows = append(t.Rows, cells(report.Cell{Text: f.Name, Strong: i == 0}, p.Name, p.Value, p.SE,
					whole(f.LogLik), report.Cell{Text: whole(f.AIC), Strong: f.AIC == least}, strconv.FormatFloat(f.KS, 'f', 4, 64)))
			}
		}
		for _, n := range notes {
			t.Note += fmt.Sprintf(" %s: %s.", strings.Join(noted[n], ", "), n)
		}
		tables = append(tables, t)
	}
	return tables
}

// whole returns x without decimals.
func whole(x float64) string {
	if !maybe(x).exists() {
		return maybe(x).String()
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// sentence returns an error as one.
func sentence(err error) string {
	s := err.Error()
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// quantityFit is the fits of one quantity for programs.
type quantityFit struct {
	Quantity string   `json:"quantity"`
	Laws     []lawFit `json:"laws"`
}

type lawFit struct {
	Law        string         `json:"law"`
	Best       bool           `json:"best"`
	Parameters []parameterFit `json:"parameters"`
	N          int            `json:"n"`
	LogLik     maybe          `json:"log_likelihood"`
	AIC        maybe          `json:"aic"`
	KS         maybe          `json:"ks"`
	Note       string         `json:"note"`
	Error      string         `json:"error,omitempty"`
}

type parameterFit struct {
	Name  string `json:"name"`
	Value maybe  `json:"value"`
	SE    maybe  `json:"se"`
}

func fitsJSON(r *fitlab.Report) []quantityFit {
	var all []quantityFit
	for _, q := range fitted(r) {
		out := quantityFit{q.name, []lawFit{}}
		for i, f := range q.fits {
			law := lawFit{
				Law: f.Name, Best: i == 0 && f.Err == nil, Parameters: []parameterFit{}, N: f.N,
				LogLik: maybe(f.LogLik), AIC: maybe(f.AIC), KS: maybe(f.KS), Note: f.Note,
			}
			if f.Err != nil {
				nan := maybe(math.NaN())
				law.Error, law.LogLik, law.AIC, law.KS = f.Err.Error(), nan, nan, nan
			}
			for _, p := range f.Params {
				law.Parameters = append(law.Parameters, parameterFit{p.Name, maybe(p.Value), maybe(p.SE)})
			}
			out.Laws = append(out.Laws, law)
		}
		all = append(all, out)
	}
	return all
}
