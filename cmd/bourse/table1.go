package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"bourse/experiments"
	"bourse/experiments/fitlab"
	"bourse/experiments/papers/market"
	"bourse/experiments/report"
	"bourse/workloadgen/describe"
	"bourse/workloadgen/gof"
	"bourse/workloadgen/models"
	"bourse/workloadgen/swf"

	"github.com/urfave/cli/v2"
)

func table1Command() *cli.Command {
	return &cli.Command{
		Name:      "table1",
		Usage:     "judge models against a log, as the market paper's Table 1 does",
		ArgsUsage: "FILE",
		Description: `Two-sample Kolmogorov-Smirnov: the share of pairs of 100 draws each that are not
rejected at 5 %, their mean distance, and the distance of the complete data. The
paper took 1000 pairs from SDSC Blue Horizon; its numbers stand beside. Ten times
as many cost a second, and leave a third of the error. --models judges the laws of
model files instead of the paper's, as 'workload fit' writes them.

   bourse workload table1 SDSC-BLUE-2000-4.1-cln.swf.gz
   bourse workload table1 KTH.swf.gz --models kth.yaml,exponential.yaml`,
		Flags: append([]cli.Flag{
			filterFlag(),
			&cli.StringFlag{Name: "models", Usage: "judge the laws of model `FILES` of model 'independent', joined by commas"},
			seedFlag(),
			&cli.IntFlag{Name: "pairs", Value: 10000, Usage: "take `N` pairs of samples; the paper took 1000"},
			workersFlag(),
		}, outputFlags()...),
		Action: table1Action,
	}
}

func table1Action(c *cli.Context) error {
	if err := exactly(c, "FILE"); err != nil {
		return err
	}
	t, err := terminal(c, c.App.Writer)
	if err != nil {
		return err
	}
	b := gof.PaperBootstrap()
	if b.Pairs = c.Int("pairs"); b.Pairs < 1 || b.Pairs > 1e6 {
		return usagef("--pairs: found %d, want 1 to 1000000", b.Pairs)
	}
	file, log, err := measureLog(c, "judge by")
	if err != nil {
		return err
	}
	columns, err := fitlab.PaperColumns(log.IAT.Values, log.Run.Values, log.Procs.Values)
	if err != nil {
		return err
	}
	if files := c.String("models"); files != "" {
		if columns, err = modelColumns(c, columns, strings.Split(files, ",")); err != nil {
			return usageError{err}
		}
	}
	fits, err := fitlab.Table1(c.Context, columns, b, func(name string) rand.Source {
		return experiments.Stream(c.Uint64("seed"), 0, name)
	}, c.Int("workers"))
	if err != nil {
		return err
	}
	differs := []string{"The paper's numbers are of SDSC Blue Horizon, another log than this."}
	if isBlueHorizon(file.trace.Header) {
		differs = fitlab.PaperDiffers(log)
	}
	if c.Bool("json") {
		return printJSON(c, table1JSON(fits, b, log, differs))
	}
	fmt.Fprintln(c.App.Writer, report.Table1(besidePaper(fits)).Text(t))
	for _, line := range append(method(b, log), differs...) {
		fmt.Fprintln(c.App.Writer, line)
	}
	return nil
}

// method says in sentences how the table was made.
func method(b gof.Bootstrap, log *describe.Log) []string {
	return []string{
		fmt.Sprintf("Success rate and sample mean are of %d pairs of %d draws, one from the data, one from the trace; the paper's of 1000.", b.Pairs, b.Draws),
		fmt.Sprintf("A pair is a success where p is at least %v, by the limit with Stephens' correction, as Matlab's kstest2 has it.", b.Level),
		fmt.Sprintf("The standard error of a success rate is at most %.4f, of the paper's 0.0158.", 0.5/math.Sqrt(float64(b.Pairs))),
		fmt.Sprintf("Complete data are %d gaps between arrivals, %d runtimes and as many sizes, against the law itself.", log.IAT.N, log.Run.N),
	}
}

// isBlueHorizon reports whether a header is of the log that the paper judged by.
func isBlueHorizon(h swf.Header) bool {
	where, _ := h.Get("Installation")
	return strings.Contains(strings.ToLower(where), "blue horizon")
}

// modelColumns puts the laws of model files in the place of the paper's.
func modelColumns(c *cli.Context, columns []fitlab.Column, files []string) ([]fitlab.Column, error) {
	for i := range columns {
		columns[i].Laws = nil
	}
	for _, name := range files {
		f, err := readModel(c, name)
		if err != nil {
			return nil, err
		}
		m, err := f.New()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		laws, ok := m.(*models.Independent)
		if !ok {
			return nil, fmt.Errorf("%s: found model %s, want independent, which has a law for each quantity", name, f.Model)
		}
		gap, runtime, nodes := laws.Laws()
		base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
		for i, law := range []fitlab.Law{{Name: base, Distribution: gap}, {Name: base, Distribution: runtime}, {Name: base, Distribution: nodes}} {
			columns[i].Laws = append(columns[i].Laws, law)
		}
	}
	return columns, nil
}

// besidePaper puts what the paper prints beside fits.
func besidePaper(fits []fitlab.Fit) []report.Fit {
	printed := market.T1()
	var rows []report.Fit
	for _, f := range fits {
		row := report.Fit{Data: f.Law, Against: "Trace " + f.Column, Success: &f.Success, Complete: &f.D, Sample: &f.MeanD}
		if f.Law == "Trace" {
			row.Data = row.Against
		}
		if i := slices.IndexFunc(printed, func(p market.Fit) bool { return p.Law == f.Law && p.Column == f.Column }); i >= 0 {
			p := &printed[i]
			row.PaperSuccess, row.PaperComplete, row.PaperSample = &p.Success, &p.Complete, &p.Mean
		}
		rows = append(rows, row)
	}
	return rows
}

// table1JSON returns the table for programs.
func table1JSON(fits []fitlab.Fit, b gof.Bootstrap, log *describe.Log, differs []string) any {
	type row struct {
		Data          string   `json:"data"`
		Against       string   `json:"against"`
		Success       *float64 `json:"success"`
		PaperSuccess  *float64 `json:"paper_success"`
		Complete      *float64 `json:"complete"`
		PaperComplete *float64 `json:"paper_complete"`
		Mean          *float64 `json:"sample_mean"`
		PaperMean     *float64 `json:"paper_sample_mean"`
	}
	var rows []row
	for _, f := range besidePaper(fits) {
		rows = append(rows, row{f.Data, f.Against, f.Success, f.PaperSuccess, f.Complete, f.PaperComplete, f.Sample, f.PaperSample})
	}
	return struct {
		Pairs   int      `json:"pairs"`
		Draws   int      `json:"draws"`
		Level   float64  `json:"level"`
		Method  []string `json:"method"`
		Rows    []row    `json:"rows"`
		Differs []string `json:"differs"`
	}{b.Pairs, b.Draws, b.Level, method(b, log), rows, append([]string{}, differs...)}
}
