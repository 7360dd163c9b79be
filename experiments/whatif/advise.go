package whatif

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"

	"bourse/bank"
	"bourse/contracts"
	"bourse/experiments"
	"bourse/experiments/metrics"
	"bourse/experiments/misuse"
	"bourse/experiments/papers"
	"bourse/experiments/scenario"
	"bourse/workloadgen"
)

// An AdviseAsk describes the job that needs advice and which runs of an experiment to use.
type AdviseAsk struct {
	Job           AdviceJob
	Configuration string // name of the configuration; empty selects the only configuration
	Reservation   string // label of the policy that represents the reservation market
	Probability   float64
	Budgets       [2]float64 // smallest and largest budget; if zero, they are derived from the budgets of the other jobs
	Of            string     // display name of the runs

	Inputs map[string]string // hashes of the files that the runs read, keyed by path; if nil, they are not compared
}

// visits is the number of random submission times of the job per replication.
const visits = 4

// budgetsTried is the number of budgets to evaluate.
const budgetsTried = 16

// Advise evaluates budgets for a job by running e. In each replication, a new user submits the
// job at each of four random times, with each budget, under the spot market's policy and under
// the reservation policy. Each submission is a separate run. The run then continues to its
// end.
func Advise(ctx context.Context, e *scenario.Experiment, ask AdviseAsk) (*BudgetPlan, error) {
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
			return nil, misuse.Errorf("configuration %s did not run policy %s, want results with both %s and a policy for the reservation market (--reservation)", c.Name, label, papers.Of("").Spot)
		}
		policies = append(policies, c.Admission[i])
	}
	if ask.Job.Nodes > c.Fleet.Hosts {
		return nil, misuse.Errorf("job: nodes: found %d, want at most the %d hosts of %s", ask.Job.Nodes, c.Fleet.Hosts, c.Name)
	}
	conf := *c
	conf.Admission = policies
	x.Configurations = []scenario.Configuration{conf}
	p, err := experiments.Prepare(&x)
	if err == nil {
		err = p.Unchanged(ask.Inputs)
	}
	if err != nil {
		return nil, err
	}
	lo, hi := ask.Budgets[0], ask.Budgets[1]
	if hi == 0 {
		t, err := p.Trial(0, 0)
		if err != nil {
			return nil, err
		}
		lo, hi = offered(t.Plan, &ask.Job)
	}
	budgets := budgetsFrom(lo, hi, budgetsTried)
	var units []unit
	begin := func(ctx context.Context) func(int) (unit, error) {
		return func(rep int) (unit, error) { return visit(ctx, p, rep, &ask.Job, budgets) }
	}
	err = experiments.InOrder(ctx, x.Replications, runtime.GOMAXPROCS(0), begin, func(u unit) error {
		units = append(units, u)
		return nil
	})
	if err != nil {
		return nil, err
	}
	of := fmt.Sprintf("%s, %s under %s and %s", ask.Of, c.Name, policies[0].Label, policies[1].Label)
	return planned(ask.Job, of, fmt.Sprintf("replications (%d arrival times in each)", visits), ask.Probability, budgets, units), nil
}

// offered returns the smallest and largest budget to try. The smallest is one hundredth of the
// median, and the largest is the maximum, of the amounts that the plan's jobs would pay for the
// same work.
func offered(plan workloadgen.Plan, j *AdviceJob) (lo, hi float64) {
	var all []float64
	for i := range plan {
		if p := &plan[i]; p.Runtime > 0 && p.Nodes > 0 && p.Value > 0 {
			all = append(all, p.Value/(p.Runtime*float64(p.Nodes))*j.total())
		}
	}
	if len(all) == 0 {
		return 0.01, 100
	}
	slices.Sort(all)
	return max(1e-6, all[len(all)/2]/100), max(1e-4, all[len(all)-1])
}

// visit returns the outcome of the job in one replication, averaged over its submission
// times.
func visit(ctx context.Context, p *experiments.Prepared, rep int, j *AdviceJob, budgets []float64) (u unit, err error) {
	u.Spot, u.Reservation = make([]meanOutcome, len(budgets)), make([]meanOutcome, len(budgets))
	tr, err := p.Trial(0, rep)
	if err != nil {
		return u, err
	}
	rng, plan := rand.New(tr.Stream("advise")), tr.Plan
	if len(plan) == 0 {
		return u, misuse.Errorf("replication %d: found no jobs, want jobs that compete with the given job", rep)
	}
	asked := experiments.Terms{Deadline: j.Deadline, Nodes: j.Nodes}
	most := budgets[len(budgets)-1]
	if asked.Budget, err = bank.Dollars(most); err != nil {
		return u, err
	}
	first, last := plan[0].Arrival, plan[len(plan)-1].Arrival
	for range visits {
		guest := workloadgen.Job{Arrival: first + rng.Float64()*(last-first), Runtime: j.Work, Estimate: j.Work, Deadline: j.Deadline, Nodes: j.Nodes, Value: most}
		n := 0
		for i := range plan {
			guest.ID, guest.User = max(guest.ID, plan[i].ID+1), max(guest.User, plan[i].User+1)
			if plan[i].Arrival <= guest.Arrival {
				n = i + 1
			}
		}
		with := slices.Insert(slices.Clone(plan), n, guest)
		for k, to := range [][]meanOutcome{u.Spot, u.Reservation} {
			s, run, err := tr.Before(ctx, k, with, experiments.At{Position: n, Terms: &asked, Guest: true})
			if err != nil {
				return u, err
			}
			tr.Reuse(run)
			if s == nil {
				continue // the run ended before the submission, so the job was not admitted
			}
			f := s.Branch()
			for i, budget := range budgets {
				t := asked
				if t.Budget, err = bank.Dollars(budget); err != nil {
					return u, err
				}
				jobs, err := f.Finish(ctx, &t)
				if err != nil {
					return u, err
				}
				to[i].plus(became(&jobs[n]), 1.0/visits)
			}
		}
	}
	return u, nil
}

// became returns the outcome of j.
func became(j *metrics.Job) (f meanOutcome) {
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

// AdvisePrices evaluates budgets for a job with the prices in a file. It assumes that the
// user has an exclusive host while the price is at most the bid, and that the user pays
// this price. The bid is the budget divided by the seconds of work.
func AdvisePrices(r io.Reader, file string, wanted PriceSeries, ask AdviseAsk, guarantee float64) (*BudgetPlan, error) {
	p, read, err := readPrices(r, file, wanted)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{wanted.Series, wanted.Zone} {
		if name != "" {
			file += ", " + name
		}
	}
	return AdviseHistory(&PriceHistory{Prices: p, Rule: exclusive, Held: true, Guarantee: guarantee}, ask, file+" ("+read.String()+")")
}

// AdviseHistory evaluates budgets for a job with the price history h. The argument of is the
// name of the history in the report.
func AdviseHistory(h *PriceHistory, ask AdviseAsk, of string) (*BudgetPlan, error) {
	j := &ask.Job
	lo, hi := ask.Budgets[0], ask.Budgets[1]
	if hi == 0 {
		lo, hi = h.ends(j)
	}
	budgets := budgetsFrom(lo, hi, budgetsTried)
	units, batch, err := h.units(j, budgets)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("periods of %.6g s", j.Deadline)
	if batch > 1 {
		what = fmt.Sprintf("batches of %d periods of %.6g s each", batch, j.Deadline)
	}
	return planned(*j, of, what, ask.Probability, budgets, units), nil
}
