package fitlab

import (
	"context"
	"fmt"
	"slices"

	"bourse/workloadgen/config"
	"bourse/workloadgen/dist"
	"bourse/workloadgen/gof"
)

// A column is a quantity of a trace with the distributions to compare with it.
type column struct {
	Name   string    // IAT, RUN, CPU
	Values []float64 // values in any order, at least one
	Laws   []namedLaw
}

// A namedLaw is a distribution with the name that tables use.
type namedLaw struct {
	Name string
	dist.Distribution
}

// An agreement is a row of Table 1. It states how well a distribution, or the trace itself,
// agrees with the trace.
type agreement struct {
	Law     string // "Trace" for the trace itself
	Column  string
	Success float64 // fraction of the pairs of samples for which the test does not reject that the distributions are equal
	D       float64 // distance from the complete data; 0 for the trace itself
	MeanD   float64 // mean distance over the pairs of samples
}

// table1 returns the market paper's Table 1 for any columns. For each column, it has one
// row for the trace itself and one for each distribution.
func table1(ctx context.Context, columns []column, b gof.Bootstrap, stream Stream, workers int) ([]agreement, error) {
	type task struct {
		sample []float64
		law    dist.Distribution // nil for the trace itself
	}
	var rows []task
	var fits []agreement
	for _, c := range columns {
		if len(c.Values) == 0 {
			return nil, fmt.Errorf("table 1: column %s: found no values", c.Name)
		}
		sample := slices.Sorted(slices.Values(c.Values))
		rows, fits = append(rows, task{sample, nil}), append(fits, agreement{Law: "Trace", Column: c.Name})
		for _, l := range c.Laws {
			rows, fits = append(rows, task{sample, l.Distribution}), append(fits, agreement{Law: l.Name, Column: c.Name})
		}
	}
	// Part 0 of a row uses the complete data, and the other parts use bootstrap samples.
	parts := 1 + b.Parts()
	tallies := make([]gof.Tally, len(rows)*parts)
	err := each(ctx, len(tallies), workers, func(i int) error {
		r, part := rows[i/parts], i%parts-1
		trace := gof.FromSample(r.sample)
		switch {
		case part >= 0:
			name := fmt.Sprintf("table1/%s/%s/%d", fits[i/parts].Column, fits[i/parts].Law, part)
			other := trace
			if r.law != nil {
				other = gof.FromLaw(r.law)
			}
			tallies[i] = b.Run(part, other, trace, stream(name))
		case r.law != nil:
			fits[i/parts].D = gof.DistanceTo(r.sample, r.law.CDF)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range fits {
		var sum gof.Tally
		for _, t := range tallies[i*parts+1 : (i+1)*parts] {
			sum = sum.Add(t)
		}
		fits[i].Success, fits[i].MeanD = sum.Success(), sum.MeanD()
	}
	return fits, nil
}

// paperColumns returns the columns of the paper's table: inter-arrival times, runtimes and
// sizes of a trace, with the distributions fitted to them.
func paperColumns(iat, run, cpu []float64) ([]column, error) {
	var err error
	law := func(name, member string, options map[string]any) namedLaw {
		d, e := dist.Table().New(member, config.Spec{Options: options}.Decode)
		if e != nil {
			err = e
		}
		return namedLaw{name, d}
	}
	columns := []column{
		{"IAT", iat, []namedLaw{
			law("HypWeib", "hypweib", nil),
			law("Exp", "exponential", map[string]any{"mean": 378.648}),
		}},
		{"RUN", run, []namedLaw{
			law("PolyLin", "polylin", nil),
			law("Par", "gpareto", nil),
		}},
		{"CPU", cpu, []namedLaw{
			law("BinBin", "binbin", nil),
			law("Zipf", "zipf", nil),
		}},
	}
	return columns, err
}
