package fitlab

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"bourse/experiments/misuse"
	"bourse/experiments/papers"
	"bourse/experiments/report"
	"bourse/workloadgen/describe"
	"bourse/workloadgen/dist"
	"bourse/workloadgen/gof"
	"bourse/workloadgen/models"
	"bourse/workloadgen/swf"
)

// Judged is the JSON form of Table 1.
type Judged struct {
	Pairs   int          `json:"pairs" doc:"number of pairs of samples"`
	Draws   int          `json:"draws" doc:"number of draws in a sample"`
	Level   float64      `json:"level" doc:"p value below which a pair is rejected"`
	Method  []string     `json:"method" doc:"parameters used for the table"`
	Rows    []report.Fit `json:"rows"`
	Differs []string     `json:"differs" doc:"differences between this log and the paper's"`
}

// Judge returns Table 1 for a measured log, with the paper's numbers. It evaluates the
// distributions of the paper or, if model files are named, the distributions in these files.
func Judge(ctx context.Context, file *Log, log *describe.Log, files []string, b gof.Bootstrap, stream Stream, workers int) (report.Document, error) {
	columns, err := paperColumns(log.IAT.Values, log.Run.Values, log.Procs.Values)
	if err == nil && len(files) > 0 {
		err = modelColumns(columns, files)
	}
	if err != nil {
		return report.Document{}, err
	}
	fits, err := table1(ctx, columns, b, stream, workers)
	if err != nil {
		return report.Document{}, err
	}
	differs := []string{"The paper's numbers are for a different log, SDSC Blue Horizon."}
	if isBlueHorizon(file.Trace.Header) {
		differs = paperDiffers(log)
	}
	printed := papers.Of("").Fits
	rows, how := beside(printed, fits), method(b, log)
	return report.Document{
		Tables: []report.Table{report.Fits(printed.Title, rows)}, Notes: slices.Concat(how, differs),
		Values: func([]string) any {
			return Judged{b.Pairs, b.Draws, b.Level, how, rows, report.List(differs)}
		},
	}, nil
}

// method describes in sentences how the table was made.
func method(b gof.Bootstrap, log *describe.Log) []string {
	return []string{
		fmt.Sprintf("Success rates and sample means are computed from %d pairs of samples with %d draws each. One sample of each pair is drawn from the log, and the other sample from the distribution of the row. The paper used 1000 pairs.", b.Pairs, b.Draws),
		fmt.Sprintf("A pair is a success if p is at least %v. p is computed from the limit distribution with Stephens' correction, as in Matlab's kstest2.", b.Level),
		fmt.Sprintf("The standard error of a success rate is at most %.4f; the paper's is 0.0158.", 0.5/math.Sqrt(float64(b.Pairs))),
		fmt.Sprintf("The complete data are %d gaps between arrivals, and %d runtimes and sizes. The complete data are compared with the distribution itself, without sampling.", log.IAT.N, log.Run.N),
	}
}

// isBlueHorizon reports whether a header belongs to the paper's log.
func isBlueHorizon(h swf.Header) bool {
	where, _ := h.Get("Installation")
	return strings.Contains(strings.ToLower(where), "blue horizon")
}

// modelColumns replaces the paper's distributions by the distributions in model files.
func modelColumns(columns []column, files []string) error {
	for i := range columns {
		columns[i].Laws = nil
	}
	for _, name := range files {
		f, err := models.ReadFile(name)
		if err != nil {
			return misuse.Of(err)
		}
		m, err := f.New()
		if err != nil {
			return misuse.Errorf("%s: %w", name, err)
		}
		laws, ok := m.(*models.Independent)
		if !ok {
			return misuse.Errorf("%s: found model %s, want the model independent, which has a distribution for each quantity", name, f.Model)
		}
		gap, runtime, nodes := laws.Laws()
		base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
		for i, law := range []dist.Distribution{gap, runtime, nodes} {
			columns[i].Laws = append(columns[i].Laws, namedLaw{base, law})
		}
	}
	return nil
}

// beside adds the paper's numbers to the fits.
func beside(printed papers.Fits, fits []agreement) []report.Fit {
	var rows []report.Fit
	for _, f := range fits {
		row := report.Fit{Data: f.Law, Against: "Trace " + f.Column, Success: &f.Success, Complete: &f.D, Sample: &f.MeanD}
		if f.Law == "Trace" {
			row.Data = row.Against
		}
		for i := range printed.Rows {
			if p := &printed.Rows[i]; p.Law == f.Law && p.Column == f.Column {
				row.PaperSuccess, row.PaperComplete, row.PaperSample = &p.Success, &p.Complete, &p.Mean
			}
		}
		rows = append(rows, row)
	}
	return rows
}
