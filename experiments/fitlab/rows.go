package fitlab

import (
	"context"

	"bourse/experiments/misuse"
	"bourse/experiments/results"
	"bourse/experiments/stats"
	"bourse/workloadgen/gof"
)

// Rows returns the numbers needed to test claims about the log of the market paper, in the form
// of rows of an experiment. The configurations are the columns of Table 1 and the whole log.
// The policies are the distributions. Success rates are computed again in each of n
// replications. All other numbers are computed from the whole log. It returns an error for any
// other log.
func (l *Log) Rows(ctx context.Context, b gof.Bootstrap, n int, stream func(replication int) Stream, workers int) (rows []results.Metric, err error) {
	if !isBlueHorizon(l.Trace.Header) {
		return nil, misuse.Errorf("%s: want the log of the market paper, SDSC Blue Horizon", l.Name)
	}
	log, err := l.Measure("judge by")
	if err != nil {
		return nil, err
	}
	columns, err := paperColumns(log.IAT.Values, log.Run.Values, log.Procs.Values)
	if err != nil {
		return nil, err
	}
	correlated := make(map[string]float64)
	if gaps := len(log.IAT.Values); len(log.Run.Values) == gaps+1 { // all jobs ran
		run, procs := log.Run.Values[1:], log.Procs.Values[1:]
		for name, pair := range map[string][2][]float64{"IAT-RUN": {log.IAT.Values, run}, "IAT-CPU": {log.IAT.Values, procs}, "RUN-CPU": {run, procs}} {
			if r, ok := stats.Pearson(pair[0], pair[1]); ok {
				correlated[name] = r
			}
		}
	}
	for rep := range n {
		add := func(column, law, metric string, value float64, trials *int) {
			rows = append(rows, results.Metric{Configuration: column, Admission: law, Replication: rep, Metric: metric, Value: &value, Trials: trials})
		}
		fits, err := table1(ctx, columns, b, stream(rep), workers)
		if err != nil {
			return nil, err
		}
		for _, f := range fits {
			add(f.Column, f.Law, "success_rate", f.Success, &b.Pairs)
			add(f.Column, f.Law, "ks", f.D, nil)
		}
		add("IAT", "Trace", "cv", log.IAT.CV, nil)
		add("IAT", "Trace", "hurst", log.RescaledRange.H, nil)
		for _, name := range []string{"IAT-RUN", "IAT-CPU", "RUN-CPU"} {
			if r, ok := correlated[name]; ok {
				add("log", name, "correlation", r, nil)
			}
		}
	}
	return rows, nil
}
