package experiments

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"testing"

	"bourse/contracts/bidding"
	"bourse/contracts/broker"
	"bourse/contracts/policies"
	"bourse/contracts/sharing"
	"bourse/experiments/metrics"
	"bourse/experiments/papers"
	"bourse/experiments/scenario"
	"bourse/market/forecast"
	"bourse/workloadgen"
	"bourse/workloadgen/models"
)

// paper returns the paper's experiment (§4.1) with the given number of replications.
func paper(t testing.TB, replications int, sets ...string) *scenario.Experiment {
	t.Helper()
	e, err := scenario.Parse("paper", papers.Presets()["paper"], scenario.Known{
		Admission: policies.Table(nil, nil).Names(), Sharing: sharing.Table().Names(), Bidding: bidding.Table(nil).Names(),
		Forecasters: forecast.Table().Names(), Models: models.Table().Names(), Payments: broker.Payments().Names(),
	}, append(sets, fmt.Sprintf("replications=%d", replications))...)
	if err != nil {
		t.Fatal(err)
	}
	return &e
}

// run runs e and calls take for every replication.
func run(t testing.TB, e *scenario.Experiment, workers int, take func(*Replication)) *Study {
	t.Helper()
	s := NewStudy(e)
	err := Each(context.Background(), e, Options{Workers: workers}, func(r *Replication) error {
		s.take(r)
		if take != nil {
			take(r)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// take measures r, which must be the next replication of its configuration.
func (s *Study) take(r *Replication) {
	found := []float64{float64(r.Optimum.kind())}
	for _, run := range r.Runs {
		found = s.Measure(run, found)
	}
	s.Add(r.Configuration, found)
}

// Value returns metric m in a replication and reports whether the metric is defined.
func (s *Study) Value(configuration, policy, m, rep int) (float64, bool) {
	x := s.Cells[configuration][policy].Values[m][rep]
	return x, !math.IsNaN(x)
}

// indexOf returns the position of the named policy.
func indexOf(t testing.TB, e *scenario.Experiment, configuration int, policy string) int {
	t.Helper()
	c := &e.Configurations[configuration]
	k := slices.IndexFunc(c.Admission, func(a scenario.Choice) bool { return a.Name == policy })
	if k < 0 {
		t.Fatalf("%s has no policy %s", c.Name, policy)
	}
	return k
}

// TestWorkers checks that results do not depend on the number of workers and that
// replications are passed on in order.
func TestWorkers(t *testing.T) {
	t.Parallel()
	e := paper(t, 3)
	told := func(workers int) (*Study, string) {
		h := sha256.New()
		next := 0
		s := run(t, e, workers, func(r *Replication) {
			if i := r.Configuration*e.Replications + r.Rep; i != next {
				t.Errorf("%d workers: replication %d comes as number %d", workers, i, next)
			}
			next++
			for _, run := range r.Runs {
				for _, j := range run.Jobs {
					plan := *j.Job
					j.Job = nil
					fmt.Fprintln(h, plan, j)
				}
				fmt.Fprintln(h, run.Prices, run.End, r.Optimum)
			}
		})
		return s, fmt.Sprintf("%x", h.Sum(nil))
	}
	one, hash := told(1)
	for _, workers := range []int{1, 3, 8} {
		if s, h := told(workers); h != hash || fmt.Sprint(s.Cells) != fmt.Sprint(one.Cells) {
			t.Errorf("%d workers tell another story than one", workers)
		}
	}
}

// TestSeeds checks that replications differ from one another and from those of another
// seed.
func TestSeeds(t *testing.T) {
	t.Parallel()
	seen := map[float64]bool{}
	for _, seed := range []string{"seed=1", "seed=2"} {
		run(t, paper(t, 3, seed), 1, func(r *Replication) {
			if r.Configuration == 0 {
				seen[r.Runs[0].Jobs[1].Arrival] = true
			}
		})
	}
	if len(seen) != 6 {
		t.Errorf("6 replications have %d second arrivals", len(seen))
	}
}

// TestCommonRandomNumbers checks that every policy gets the same jobs, and that
// configurations that differ only in the distribution of values have the same jobs except
// for their values.
func TestCommonRandomNumbers(t *testing.T) {
	t.Parallel()
	e := paper(t, 3)
	high := map[string][]*Replication{}
	run(t, e, 2, func(r *Replication) {
		for _, run := range r.Runs {
			for i, j := range run.Jobs {
				first := r.Runs[0].Jobs[i]
				if j.Arrival != first.Arrival || j.Runtime != first.Runtime || j.Value != first.Value {
					t.Fatalf("%s, replication %d: job %d is another under another policy", e.Configurations[r.Configuration].Name, r.Rep, i)
				}
			}
		}
		name := e.Configurations[r.Configuration].Name
		high[name] = append(high[name], r)
	})
	for _, name := range []string{"equal-high", "normal-high"} {
		for rep, r := range high[name] {
			same, values := 0, 0
			for i, j := range r.Runs[0].Jobs {
				other := high["pareto-high"][rep].Runs[0]
				if j.Arrival == other.Jobs[i].Arrival && j.Runtime == other.Jobs[i].Runtime && j.Nodes == other.Jobs[i].Nodes {
					same++
				}
				if j.Value != other.Jobs[i].Value {
					values++
				}
			}
			if same != 50 || values < 45 {
				t.Errorf("%s, replication %d: %d of 50 jobs as under pareto-high, %d of other value", name, rep, same, values)
			}
		}
	}
}

// TestPaper checks the paper's statements about its policies (§4.3 to §4.5) over 60
// replications.
func TestPaper(t *testing.T) {
	t.Parallel()
	e := paper(t, 60)
	s := run(t, e, 2, func(r *Replication) {
		for k, run := range r.Runs {
			value := 0.0
			for _, j := range run.Jobs {
				if j.Fulfilled() {
					value += j.Value
				}
			}
			if value > r.Optimum.Bound*(1+1e-9) {
				t.Errorf("configuration %d, replication %d, policy %d fulfils $%v, more than U* = %v", r.Configuration, r.Rep, k, value, r.Optimum.Bound)
			}
		}
		if !r.Optimum.Proven {
			t.Errorf("configuration %d, replication %d: U* is not proven", r.Configuration, r.Rep)
		}
	})
	mean := func(configuration int, policy, metric string) float64 {
		return s.summary(configuration, indexOf(t, e, configuration, policy), slices.IndexFunc(s.Metrics, func(m metrics.Metric) bool { return m.Name == metric })).Mean
	}
	for i, c := range e.Configurations {
		be, sac, cac := mean(i, "be", "violations"), mean(i, "sac", "violations"), mean(i, "cac", "violations")
		if cac != 0 {
			t.Errorf("%s: cac violates %v, want none", c.Name, cac)
		}
		if !(be > sac && sac > cac) {
			t.Errorf("%s: be, sac and cac violate %v, %v and %v, want less and less", c.Name, be, sac, cac)
		}
		if r := mean(i, "be", "rejections"); r != 0 {
			t.Errorf("%s: be rejects %v, want none", c.Name, r)
		}
		if lo, hi := mean(i, "cac", "efficiency_0"), mean(i, "cac", "efficiency_1"); math.Abs(lo-hi) > 1e-9 {
			t.Errorf("%s: efficiency of cac is %v to %v, want it flat in alpha", c.Name, lo, hi)
		}
	}
	const low, high = 0, 1
	if p := mean(low, "be", "p_w"); !(p > 0.5) {
		t.Errorf("low load: be fulfils %v, want most", p)
	}
	if p := mean(high, "be", "p_w"); !(p < 0.5) {
		t.Errorf("high load: be fulfils %v, want less than half", p)
	}
	if falls := mean(high, "be", "efficiency_0") - mean(high, "be", "efficiency_1"); !(falls > 0.3) {
		t.Errorf("high load: efficiency of be falls by %v in alpha, want steeply", falls)
	}
	if r := mean(high, "rac", "rejections"); math.Abs(r-0.37) > 0.03 { // 3 standard errors: 3 sqrt(0.37 0.63/3000)
		t.Errorf("rac rejects %v, want 0.37", r)
	}
	for _, alpha := range []string{"efficiency_0", "efficiency_0.5", "efficiency_1"} {
		if rac, cac := mean(high, "rac", alpha), mean(high, "cac", alpha); !(rac < cac) {
			t.Errorf("%s of rac is %v, of cac %v, want less", alpha, rac, cac)
		}
	}
	if rac, cac := mean(high, "rac", "violations"), mean(high, "cac", "violations"); !(rac > cac) {
		t.Errorf("rac violates %v, cac %v, want more", rac, cac)
	}
}

// TestMoney checks that all money of the users is with users, hosts and the provider at the
// end of a run, and that each user has paid the amount in the records.
func TestMoney(t *testing.T) {
	t.Parallel()
	e := paper(t, 1)
	all, err := settings(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := newWorkspace()
	for _, s := range all {
		for k := range s.offers {
			if err := a.draw(s, e.Seed, 0); err != nil {
				t.Fatal(err)
			}
			run, err := a.run(context.Background(), s, &s.offers[k], e.Seed, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			var paid, earned, sum int64
			for _, j := range run.Jobs {
				paid += j.Contract.Paid.Micros()
			}
			for _, owner := range a.owners {
				earned += a.ledger.Balance(owner).Micros()
			}
			for _, balance := range a.ledger.Balances() {
				sum += balance.Micros()
			}
			if paid != earned || sum != 0 {
				t.Errorf("%s, %s: users paid %d, hosts earned %d, accounts add up to %d", s.conf.Name, s.conf.Admission[k].Label, paid, earned, sum)
			}
		}
	}
}

// TestOutcome checks that metrics receive the true outcome of a run. A job is fulfilled if
// all its work is done by the deadline, and no user pays more than the offered budget.
func TestOutcome(t *testing.T) {
	t.Parallel()
	run(t, paper(t, 5), 2, func(r *Replication) {
		for _, run := range r.Runs {
			for _, j := range run.Jobs {
				c := &j.Contract
				if j.Admitted() && c.Budget != dollars(j.Value) {
					t.Fatalf("configuration %d, replication %d: job %+v has the contract of another", r.Configuration, r.Rep, j)
				}
				if j.Fulfilled() != (j.Admitted() && c.ByDue >= j.Work()*(1-1e-9)) || c.Paid.Cmp(dollars(j.Value)) > 0 ||
					j.Admitted() && (c.Admitted != j.Arrival || c.Ended < c.Admitted || c.Ended > j.Arrival+j.Runtime*(1+1e-9)+1e-9) {
					t.Fatalf("configuration %d, replication %d: job %+v", r.Configuration, r.Rep, j)
				}
			}
		}
	})
}

// BenchmarkReplication measures one replication of the paper under one policy: admission,
// prices and a ledger in memory. It reports processor time separately from wall time, which
// other programs can increase. It also separates the time for generating the workload,
// which is done once for all policies.
func BenchmarkReplication(b *testing.B) {
	for _, policy := range []string{"be", "sac", "cac", "rac"} {
		b.Run(policy, func(b *testing.B) {
			e := paper(b, 1)
			all, err := settings(e, nil)
			if err != nil {
				b.Fatal(err)
			}
			const high = 1
			s, k := all[high], indexOf(b, e, high, policy)
			a := newWorkspace()
			var plans [100]workloadgen.Plan
			start := processor()
			for rep := range plans {
				if err := a.draw(s, e.Seed, rep); err != nil {
					b.Fatal(err)
				}
				plans[rep] = slices.Clone(a.plan)
			}
			drawing := (processor() - start) / float64(len(plans))
			b.ReportAllocs()
			start = processor()
			for i := 0; b.Loop(); i++ {
				rep := i % len(plans)
				a.plan = plans[rep]
				run, err := a.run(context.Background(), s, &s.offers[k], e.Seed, rep, nil)
				if err != nil {
					b.Fatal(err)
				}
				a.spare.give(run) // as when results are published
			}
			b.ReportMetric((processor()-start)/float64(b.N)*1e6, "cpu-us/op")
			b.ReportMetric(drawing*1e6, "drawing-us")
		})
	}
}
