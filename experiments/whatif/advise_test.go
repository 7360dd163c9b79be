package whatif

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bourse/experiments"
	"bourse/experiments/metrics"
	"bourse/experiments/scenario"
	"bourse/workloadgen"
)

// TestAdvise compares the reported outcome of a job in a replication with complete runs of
// plans that contain the job from the start with this budget. It covers the spot market and
// reservations, users whose funds equal the budgets of their jobs, and users with fixed funds.
func TestAdvise(t *testing.T) {
	t.Parallel()
	for _, funds := range []string{"", ", funds: 40"} {
		e, err := scenario.Parse("a", []byte("name: a\nseed: 5\nreplications: 2\nconfigurations:\n  - {name: b, workload: {model: {name: paper, jobs: 30, users: 5}"+funds+"}, admission: [be, cac]}\n"), experiments.Known())
		if err != nil {
			t.Fatal(err)
		}
		p, err := experiments.Prepare(&e)
		if err != nil {
			t.Fatal(err)
		}
		j, budgets := &AdviceJob{Work: 300, Nodes: 3, Deadline: 400, Value: 10}, []float64{0.5, 8, 30}
		for rep := range 2 {
			got, err := visit(t.Context(), p, rep, j, budgets)
			if err != nil {
				t.Fatal(err)
			}
			want := unit{Spot: make([]meanOutcome, 3), Reservation: make([]meanOutcome, 3)}
			rng := rand.New(scenario.Stream(e.Seed, rep, "advise"))
			tr, err := p.Trial(0, rep)
			if err != nil {
				t.Fatal(err)
			}
			plan := tr.Plan
			for range visits {
				at := plan[0].Arrival + rng.Float64()*(plan[len(plan)-1].Arrival-plan[0].Arrival)
				for i, budget := range budgets {
					guest := workloadgen.Job{ID: 1000, User: 1000, Arrival: at, Runtime: 300, Estimate: 300, Deadline: 400, Nodes: 3, Value: budget}
					with := append(slices.Clone(plan), guest)
					slices.SortStableFunc(with, func(a, b workloadgen.Job) int {
						if a.Arrival < b.Arrival {
							return -1
						}
						return 1
					})
					for k, to := range [][]meanOutcome{want.Spot, want.Reservation} {
						run, err := tr.Run(t.Context(), k, with)
						if err != nil {
							t.Fatal(err)
						}
						n := slices.IndexFunc(run.Jobs, func(j metrics.Job) bool { return j.User == 1000 })
						to[i].plus(became(&run.Jobs[n]), 1.0/visits)
					}
				}
			}
			if !slices.Equal(got.Spot, want.Spot) || !slices.Equal(got.Reservation, want.Reservation) {
				t.Errorf("replication %d%s: %+v, by hand %+v", rep, funds, got, want)
			}
			if got.Spot[0].Done >= got.Spot[2].Done && got.Reservation[0].Done >= got.Reservation[2].Done {
				t.Errorf("replication %d%s: budgets do not matter: %+v", rep, funds, got)
			}
		}
		for _, c := range []struct {
			ask  AdviseAsk
			want string
		}{
			{AdviseAsk{Configuration: "z"}, `configuration: found "z", want one of b`},
			{AdviseAsk{Reservation: "sac"}, "configuration b did not run policy sac"},
			{AdviseAsk{Reservation: "cac", Job: AdviceJob{Nodes: 99}}, "job: nodes: found 99, want at most the"},
		} {
			if _, err := Advise(t.Context(), &e, c.ask); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		}
	}
}
