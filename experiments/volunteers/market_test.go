package volunteers_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bourse/experiments"
	"bourse/experiments/metrics"
	"bourse/experiments/papers"
	"bourse/experiments/scenario"
	"bourse/experiments/volunteers"
	"bourse/hosts/availability"
	"bourse/hosts/availability/models"
	"bourse/hosts/availability/predictors"
	"bourse/hosts/availability/sched"
	"bourse/hosts/availability/traces"
)

// recorded draws a trace of n hosts over span seconds and writes it to a file for
// scenarios. It returns the file name and the trace read from it.
func recorded(t *testing.T, n int, span float64) (string, *availability.Trace) {
	t.Helper()
	m, err := models.Table().New("diurnal", nil)
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := m.Trace(rand.New(rand.NewPCG(7, 1)), n, span)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("resource,start,end,state,load,mips\n")
	for _, h := range drawn.Hosts {
		for _, r := range h.Records() {
			fmt.Fprintf(&b, "%s,%v,%v,%s,%v,1\n", h.Name, r.Start, r.End, r.State, r.Load)
		}
	}
	trace, _, err := traces.ReadCSV(strings.NewReader(b.String()), availability.Gap)
	if err != nil || len(trace.Hosts) != n {
		t.Fatalf("%d hosts: %v", len(trace.Hosts), err)
	}
	file := filepath.Join(t.TempDir(), "trace.csv")
	if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return file, trace
}

// same runs e and compares every metric of its policies, in order, with the replay of the
// same jobs on the same hosts.
func same(t *testing.T, e *scenario.Experiment, least [2]int, configs ...volunteers.Config) {
	t.Helper()
	ready, err := experiments.Prepare(e)
	if err != nil {
		t.Fatal(err)
	}
	err = ready.Each(t.Context(), experiments.Options{}, func(r *experiments.Replication) error {
		if len(r.Runs) != len(configs) {
			t.Fatalf("%d policies, want %d", len(r.Runs), len(configs))
		}
		for k, c := range configs {
			run := r.Runs[k]
			for _, j := range run.Jobs {
				c.Jobs = append(c.Jobs, volunteers.Job{Submit: j.Arrival, Length: j.Runtime})
			}
			want, err := volunteers.Replay(context.Background(), c)
			if err != nil {
				return err
			}
			if want.Done < least[0] || want.Failed < least[1] {
				t.Fatalf("policy %d: %d done, %d failed: too few to compare", k, want.Done, want.Failed)
			}
			for _, x := range []struct {
				metric metrics.Metric
				want   float64
			}{
				{metrics.JobProcessRatio, want.Ratio()}, {metrics.Makespan, want.Makespan()}, {metrics.Wasted, want.Wasted},
				{metrics.Resubmissions, float64(want.Resent)}, {metrics.Queued, float64(want.Queued)},
				{metrics.CompletedLength, want.MeanLength()}, {metrics.Utilization, want.Utilization()},
			} {
				got, ok := x.metric.Of(&run.Outcome)
				if !ok || math.Abs(got-x.want) > 1e-6*math.Abs(x.want) {
					t.Errorf("replication %d, policy %d: %s is %v (%v), want %v", r.Rep, k, x.metric.Name, got, ok, x.want)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func parsed(t *testing.T, text string, sets ...string) *scenario.Experiment {
	t.Helper()
	e, err := scenario.Parse("test", []byte(text), scenario.Known{}, sets...)
	if err != nil {
		t.Fatal(err)
	}
	return &e
}

// threshold is the paper's algorithm that considers the given number of past days.
func threshold(t *testing.T, least float64, days int) sched.Matchmaker {
	t.Helper()
	o := predictors.DefaultTDE()
	o.Days = days
	p, err := predictors.NewTDE(o)
	if err != nil {
		t.Fatal(err)
	}
	m, err := sched.NewThreshold(least, "fifo", p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestFigure1 checks that the preset of the volunteer paper's Figure 1, run in the market
// with a bank, has the same results as the replay of its jobs and hosts alone, which uses
// the golden schedulers (§4).
func TestFigure1(t *testing.T) {
	t.Parallel()
	file, trace := recorded(t, 85, 172800)
	e := parsed(t, string(papers.Presets()["volunteers-figure1"]), "sweep.0.values=[0.8]", "replications=1", "configurations.week.workload.model.to=172800",
		"configurations.week.horizon=172800", "base.fleet.availability={file: "+file+"}")
	var configs []volunteers.Config
	add := func(m sched.Matchmaker) {
		configs = append(configs, volunteers.Config{Trace: trace, From: 86400, To: 172800, Interval: 60, Queue: sched.DefaultQueue(), Matchmaker: m})
	}
	for days := 1; days <= 6; days++ {
		add(threshold(t, 0.8, days))
	}
	pps, err := sched.Table(nil).New("pps", nil)
	if err != nil {
		t.Fatal(err)
	}
	add(pps)
	same(t, e, [2]int{500, 1}, configs...)
}

// TestOptions checks the same for other options of the queue: jobs in turn, resubmission
// rules, another interval, another matchmaker.
func TestOptions(t *testing.T) {
	t.Parallel()
	file, trace := recorded(t, 12, 259200)
	e := parsed(t, `
name: test
replications: 2
configurations:
  - name: days
    fleet: {hosts: 12, cpus: 1, availability: {file: `+file+`}}
    workload:
      model: {name: regular, from: 86400, to: 259200, every: 300}
      annotate: {price: 0.001}
    horizon: 259200
    market: {sharing: exclusive, payment: budget}
    sla: {enforcement: per-host, of: estimate, slack: 1e6}
    admission:
      - {name: queue, label: threshold, from: 86400, matchmaker: {threshold: {threshold: 0.9, predictor: {name: tde, options: {days: 2}}}}}
      - {name: queue, label: pps, from: 86400, resubmit: head, matchmaker: pps}
      - {name: queue, label: turns, from: 86400, interval: 77, sharing: turns, matchmaker: {pps: {pps_tie: fewest}}}
      - {name: queue, label: first, from: 86400, matchmaker: first-available, resubmit: drop}
`)
	pps := func(tie string) sched.Matchmaker {
		p, err := predictors.NewTDE(predictors.DefaultTDE())
		if err != nil {
			t.Fatal(err)
		}
		o := sched.DefaultPPS()
		if tie != "" {
			o.Tie = tie
		}
		m, err := sched.NewPPS(o, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	configs := make([]volunteers.Config, 4)
	for k := range configs {
		configs[k] = volunteers.Config{Trace: trace, From: 86400, To: 259200, Interval: 60, Queue: sched.DefaultQueue()}
	}
	configs[0].Matchmaker = threshold(t, 0.9, 2)
	configs[1].Matchmaker, configs[1].Queue.Resubmit = pps(""), "head"
	configs[2].Matchmaker, configs[2].Interval, configs[2].InTurn = pps("fewest"), 77, true
	configs[3].Matchmaker, configs[3].Queue.Resubmit = sched.First{}, "drop"
	same(t, e, [2]int{50, 10}, configs...)
}
