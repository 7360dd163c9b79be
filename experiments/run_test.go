package experiments

import (
	"context"
	"testing"

	"bourse/experiments/scenario"
)

// paper returns the paper's high load (§4.1) with these policies.
func paper(replications int, policies ...string) *scenario.Experiment {
	c := scenario.Default()
	c.Name = "pareto-high"
	model := scenario.Named("paper")
	c.Workload.Model = &model
	for _, p := range policies {
		c.Admission = append(c.Admission, scenario.Named(p))
	}
	return &scenario.Experiment{
		Name: "test", Seed: 1, Replications: replications, Alphas: []float64{0, 0.5, 1},
		Configurations: []scenario.Configuration{c},
	}
}

func study(t testing.TB, e *scenario.Experiment, opts Options) *Study {
	t.Helper()
	s := NewStudy(e)
	if err := Each(context.Background(), e, opts, func(r *Replication) error { s.Add(r); return nil }); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLook(t *testing.T) {
	s := study(t, paper(60, "be", "sac", "cac", "rac"), Options{Workers: 2})
	for k, a := range s.Experiment.Configurations[0].Admission {
		for m := range s.Metrics {
			d := s.Summary(0, k, m)
			t.Logf("%s %-22s n=%d %.4f ± %.4f", a.Label, s.Metrics[m].Name, d.N, d.Mean, d.SD)
		}
	}
}

// BenchmarkReplication measures one replication of the paper under one policy:
// admission, prices and a ledger in memory.
func BenchmarkReplication(b *testing.B) {
	for _, policy := range []string{"be", "sac", "cac"} {
		b.Run(policy, func(b *testing.B) {
			e := paper(1, policy)
			all, err := settings(e)
			if err != nil {
				b.Fatal(err)
			}
			a := newArena()
			if err := a.draw(all[0], 1, 0); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := a.run(context.Background(), all[0], &all[0].offers[0], 1, i, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
