package experiments

import (
	"context"
	"math"
	"testing"

	"bourse/experiments/metrics"
	"bourse/experiments/papers"
	"bourse/experiments/scenario"
	"bourse/experiments/volunteers"
	"bourse/hosts/availability"
	"bourse/hosts/availability/predictors"
	"bourse/hosts/availability/sched"
)

// TestFigure1 checks that the preset of the volunteer paper's Figure 1, run
// in the market under a bank, comes to what its jobs and hosts come to in the
// replay alone: the golden schedulers (§4) with nothing around them.
func TestFigure1(t *testing.T) {
	t.Parallel()
	data := papers.Presets()["volunteers-figure1"]
	e, err := scenario.Parse("figure1", data, scenario.Known{}, "sweep.0.values=[0.8]", "replications=1", "configurations.week.workload.model.to=172800", "configurations.week.horizon=172800")
	if err != nil {
		t.Fatal(err)
	}
	x := e.Expanded()
	all, err := settings(&x)
	if err != nil {
		t.Fatal(err)
	}
	s, a := all[0], newArena()
	if err := a.draw(s, x.Seed, 0); err != nil {
		t.Fatal(err)
	}
	if err := a.come(s, x.Seed, 0); err != nil {
		t.Fatal(err)
	}
	var jobs []volunteers.Job
	for _, j := range a.plan {
		jobs = append(jobs, volunteers.Job{Submit: j.Arrival, Length: j.Runtime})
	}
	o := predictors.DefaultTDE()
	var matchmakers []sched.Matchmaker
	for o.Days = 1; o.Days <= 6; o.Days++ {
		p, err := predictors.NewTDE(o)
		if err != nil {
			t.Fatal(err)
		}
		m, err := sched.NewThreshold(0.8, "fifo", p)
		if err != nil {
			t.Fatal(err)
		}
		matchmakers = append(matchmakers, m)
	}
	pps, err := sched.New("pps", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	matchmakers = append(matchmakers, pps)
	if len(matchmakers) != len(x.Configurations[0].Admission) {
		t.Fatalf("%d matchmakers, %d policies", len(matchmakers), len(x.Configurations[0].Admission))
	}
	r, err := a.replicate(context.Background(), &x, all, 0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for k, m := range matchmakers {
		want, err := volunteers.Replay(context.Background(), volunteers.Config{
			Trace: &availability.Trace{Hosts: a.histories}, Jobs: jobs, From: 86400, To: 172800, Interval: 60,
			Queue: sched.DefaultQueue(), Matchmaker: m,
		})
		if err != nil {
			t.Fatal(err)
		}
		label := x.Configurations[0].Admission[k].Label
		if want.Done < 500 || want.Failed == 0 {
			t.Fatalf("%s: %d done, %d failed: too few to compare", label, want.Done, want.Failed)
		}
		for _, c := range []struct {
			m    metrics.Metric
			want float64
		}{
			{metrics.JobProcessRatio, want.Ratio()}, {metrics.CompletedLength, want.MeanLength()}, {metrics.Queued, float64(want.Queued)},
			{metrics.Makespan, want.Makespan()}, {metrics.Resubmissions, float64(want.Resent)}, {metrics.Wasted, want.Wasted},
		} {
			got, ok := c.m.Of(&r.Runs[k].Outcome)
			if !ok || math.Abs(got-c.want) > 1e-6*math.Abs(c.want) {
				t.Errorf("%s: %s = %v, %v, want %v", label, c.m.Name, got, ok, c.want)
			}
		}
	}
}
