package experiments

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"

	"bourse/bank"
	"bourse/contracts"
	"bourse/experiments/advise"
	"bourse/experiments/explain"
	"bourse/experiments/metrics"
	"bourse/experiments/misuse"
	"bourse/experiments/papers"
	"bourse/experiments/scenario"
	"bourse/workloadgen"
)

// An AdviseAsk describes the job to advise on and how to choose among the runs of an
// experiment.
type AdviseAsk struct {
	Job           advise.Job
	Configuration string // empty: the only configuration
	Reservation   string // label of the policy that represents the reservation market
	Probability   float64
	Budgets       [2]float64 // smallest and largest; zero: chosen from what the other jobs offer
	Of            string     // display name of the runs

	Inputs map[string]string // hashes of the files that the runs read, by path; nil: not compared
}

// visits is the number of random arrival times at which the job is tried in each replication.
const visits = 4

// budgetsTried is the number of budgets to evaluate.
const budgetsTried = 16

// Advise evaluates budgets for a job on the runs of e. In each replication, a new user submits
// the job at four random times, one at a time, with each budget, under the spot market's
// policy and the reservation policy. The run then continues from there.
func Advise(ctx context.Context, e *scenario.Experiment, ask AdviseAsk) (*advise.Plan, error) {
	x := e.Expanded()
	var names []string
	var c *scenario.Configuration
	for i := range x.Configurations {
		if names = append(names, x.Configurations[i].Name); x.Configurations[i].Name == ask.Configuration || ask.Configuration == "" && len(x.Configurations) == 1 {
			c = &x.Configurations[i]
		}
	}
	if c == nil {
		return nil, misuse.Errorf("configuration: %s", scenario.Unknown(ask.Configuration, names))
	}
	var policies []scenario.Choice
	for _, label := range []string{papers.Of("").Spot, ask.Reservation} {
		i := slices.IndexFunc(c.Admission, func(a scenario.Choice) bool { return a.Label == label })
		if i < 0 {
			return nil, misuse.Errorf("configuration %s did not run %s, want both %s and a policy for the reservation market (--reservation)", c.Name, label, papers.Of("").Spot)
		}
		policies = append(policies, c.Admission[i])
	}
	if ask.Job.Nodes > c.Fleet.Hosts {
		return nil, misuse.Errorf("job: nodes: found %d, want at most the %d hosts of %s", ask.Job.Nodes, c.Fleet.Hosts, c.Name)
	}
	conf := *c
	conf.Admission = policies
	x.Configurations = []scenario.Configuration{conf}
	read := make(files)
	all, err := settings(&x, read)
	if err == nil {
		err = read.same(ask.Inputs)
	}
	if err != nil {
		return nil, err
	}
	s := all[0]
	lo, hi := ask.Budgets[0], ask.Budgets[1]
	if hi == 0 {
		a := newArena()
		if err := a.draw(s, x.Seed, 0); err != nil {
			return nil, err
		}
		lo, hi = offered(a.plan, &ask.Job)
	}
	budgets := advise.Budgets(lo, hi, budgetsTried)
	var units []advise.Unit
	begin := func(ctx context.Context) func(int) (advise.Unit, error) {
		return func(rep int) (advise.Unit, error) { return visit(ctx, s, x.Seed, rep, &ask.Job, budgets) }
	}
	err = inOrder(ctx, x.Replications, runtime.GOMAXPROCS(0), begin, func(u advise.Unit) error {
		units = append(units, u)
		return nil
	})
	if err != nil {
		return nil, err
	}
	of := fmt.Sprintf("%s, %s under %s and %s", ask.Of, c.Name, policies[0].Label, policies[1].Label)
	return advise.Planned(ask.Job, of, fmt.Sprintf("replications (%d instants in each)", visits), ask.Probability, budgets, units), nil
}

// offered returns the smallest and the largest budget to try, from what the jobs of a plan
// offer per unit of work: a hundredth of the median, and the maximum.
func offered(plan workloadgen.Plan, j *advise.Job) (lo, hi float64) {
	var all []float64
	for i := range plan {
		if p := &plan[i]; p.Runtime > 0 && p.Nodes > 0 && p.Value > 0 {
			all = append(all, p.Value/(p.Runtime*float64(p.Nodes))*j.Total())
		}
	}
	if len(all) == 0 {
		return 0.01, 100
	}
	slices.Sort(all)
	return max(1e-6, all[len(all)/2]/100), max(1e-4, all[len(all)-1])
}

// visit returns the outcome of the job in one replication, averaged over its visits.
func visit(ctx context.Context, s *setting, seed uint64, rep int, j *advise.Job, budgets []float64) (u advise.Unit, err error) {
	u.Spot, u.Reservation = make([]advise.Fate, len(budgets)), make([]advise.Fate, len(budgets))
	rng := rand.New(scenario.Stream(seed, rep, "advise"))
	a := newArena()
	if err := a.draw(s, seed, rep); err != nil {
		return u, err
	}
	if err := a.come(s, seed, rep); err != nil {
		return u, err
	}
	plan := slices.Clone(a.plan)
	if len(plan) == 0 {
		return u, misuse.Errorf("a run has no jobs beside which another could be asked for")
	}
	first, last := plan[0].Arrival, plan[len(plan)-1].Arrival
	most := budgets[len(budgets)-1]
	for range visits {
		at := first + rng.Float64()*(last-first)
		guest := workloadgen.Job{Arrival: at, Runtime: j.Work, Estimate: j.Work, Deadline: j.Deadline, Nodes: j.Nodes, Value: most}
		for i := range plan {
			guest.ID, guest.User = max(guest.ID, plan[i].ID+1), max(guest.User, plan[i].User+1)
		}
		n, _ := slices.BinarySearchFunc(plan, at, func(p workloadgen.Job, at float64) int {
			if p.Arrival <= at {
				return -1
			}
			return 1
		})
		a.plan = slices.Insert(slices.Clone(plan), n, guest)
		for k, to := range [][]advise.Fate{u.Spot, u.Reservation} {
			m := &moment{n: n, guest: true}
			asked := terms{explain.Ask{Budget: dollars(most), Deadline: j.Deadline, Nodes: j.Nodes}}
			m.asks = &asked
			run, err := a.forked(ctx, s, &s.offers[k], seed, rep, nil, m)
			if err != nil {
				return u, err
			}
			a.spare.give(run)
			if m.memo == nil {
				continue // the horizon came first: the job is not admitted
			}
			f := m.future()
			for i, budget := range budgets {
				t := asked
				if t.Budget, err = bank.Dollars(budget); err != nil {
					return u, err
				}
				jobs, err := f.finish(ctx, &t)
				if err != nil {
					return u, err
				}
				to[i].Plus(became(&jobs[n]), 1.0/visits)
			}
		}
	}
	return u, nil
}

// became returns the outcome of j.
func became(j *metrics.Job) (f advise.Fate) {
	c := &j.Contract
	if j.Admitted() {
		f.Admitted = 1
	}
	if c.Outcome == contracts.Fulfilled {
		f.Done = 1
	}
	f.Paid = c.Paid.Float64() - c.Penalty.Float64()
	return f
}
