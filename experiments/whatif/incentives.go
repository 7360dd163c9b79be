package whatif

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"bourse/contracts"
	"bourse/experiments"
	"bourse/experiments/metrics"
	"bourse/experiments/misuse"
	"bourse/experiments/scenario"
)

// Deviations select the configurations, users and deviations of an incentive study.
type Deviations struct {
	Configurations []string // names; none means all

	Deviations []Deviation // at least one
	Alpha      float64     // inelasticity of users (eq. 9), in [0,1]
	Epsilon    float64     // largest gain in dollars that counts as no gain; at least 0
	Users      int         // number of users sampled in each replication, at least 1; if there are fewer users, all are used
	Answers    int         // number of replications, from the first on, in which users respond to one another
	Rounds     int         // maximum number of rounds of responses; at least 1 if Answers is positive

	Workers  int // number of replications that run in parallel; 0 means one
	Progress func(done, total int)
}

func (t *Deviations) validate() error {
	switch {
	case len(t.Deviations) == 0:
		return misuse.Errorf("deviations: found none, want at least one")
	case !(t.Alpha >= 0 && t.Alpha <= 1):
		return misuse.Errorf("alpha: found %v, want 0 to 1", t.Alpha)
	case !(t.Epsilon >= 0) || math.IsInf(t.Epsilon, 0):
		return misuse.Errorf("epsilon: found %v, want dollars, at least 0", t.Epsilon)
	case t.Users < 1:
		return misuse.Errorf("users: found %d, want at least 1", t.Users)
	case t.Answers < 0:
		return misuse.Errorf("answers: found %d, want at least 0 replications", t.Answers)
	case t.Answers > 0 && t.Rounds < 1:
		return misuse.Errorf("rounds: found %d, want at least 1", t.Rounds)
	}
	return nil
}

// Incentives runs every replication of e under each of its policies with truthful reports. For
// each sampled user and each deviation, it repeats the run with only that user misreporting all
// of its jobs. It reports which users gain. If users respond to one another, it also reports
// the final state and its price of anarchy. The result depends on e and t, but not on
// t.Workers.
func Incentives(ctx context.Context, e *scenario.Experiment, t Deviations) (*IncentiveStudy, error) {
	if err := t.validate(); err != nil {
		return nil, err
	}
	x, err := only(e, t.Configurations)
	if err != nil {
		return nil, err
	}
	p, err := experiments.Prepare(x)
	if err != nil {
		return nil, err
	}
	e = p.Experiment
	r := &IncentiveStudy{Scenario: e.Name, Alpha: t.Alpha, Epsilon: t.Epsilon, Users: t.Users, Most: t.Rounds}
	var found []deviationSample
	first := make([]int, len(e.Configurations)) // position in found of each configuration's first entry
	for i := range e.Configurations {
		first[i] = len(found)
		for _, a := range e.Configurations[i].Admission {
			found = append(found, deviationSample{Configuration: e.Configurations[i].Name, Policy: a.Label})
		}
	}
	n, done := e.Replications, 0
	total := len(e.Configurations) * n
	begin := func(ctx context.Context) func(int) ([]trial, error) {
		return func(i int) ([]trial, error) { return t.offer(ctx, p, i/n, i%n) }
	}
	err = experiments.InOrder(ctx, total, t.Workers, begin, func(trials []trial) error {
		for k := range trials {
			of := &found[first[done/n]+k]
			of.Trials = append(of.Trials, trials[k])
		}
		if done++; t.Progress != nil {
			t.Progress(done, total)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.sum(found, t.Deviations)
	return r, nil
}

// only returns the expanded e with only the named configurations. If no names are given, it
// keeps all configurations.
func only(e *scenario.Experiment, names []string) (*scenario.Experiment, error) {
	x := e.Expanded()
	if len(names) == 0 {
		return &x, nil
	}
	var all []string
	var some []scenario.Configuration
	for _, c := range x.Configurations {
		if all = append(all, c.Name); slices.Contains(names, c.Name) {
			some = append(some, c)
		}
	}
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, misuse.Errorf("configuration: %s", scenario.Unknown(name, all))
		}
	}
	x.Configurations = some
	return &x, nil
}

// offer tries the deviations for the sampled users of one replication under each policy.
func (t *Deviations) offer(ctx context.Context, p *experiments.Prepared, configuration, rep int) (trials []trial, err error) {
	tr, err := p.Trial(configuration, rep)
	if err != nil {
		return nil, err
	}
	best := tr.Optimum()
	tr.PlannedDeadlines() // a misreported estimate must not change the deadline
	users := usersOf(tr.Plan)
	if rng := rand.New(tr.Stream("incentives")); len(users) > t.Users {
		rng.Shuffle(len(users), func(i, k int) { users[i], users[k] = users[k], users[i] })
		users = users[:t.Users]
	}
	for k := range p.Experiment.Configurations[configuration].Admission {
		m := &game{Truth: tr.Plan, Alpha: t.Alpha, Run: func(r reported) ([]reportedOutcome, error) { return outcomes(ctx, tr, k, r) }}
		one := trial{Best: metrics.BestAt(t.Alpha, best.Bound, best.Parts), Proven: best.Proven}
		if one.Truth, one.Gains, err = m.gains(users, t.Deviations); err != nil {
			return nil, err
		}
		if rep < t.Answers {
			found, err := m.respond(one.Truth, t.Deviations, t.Epsilon, t.Rounds)
			if err != nil {
				return nil, err
			}
			one.Answer = &found
		}
		trials = append(trials, one)
	}
	return trials, nil
}

// outcomes runs the reported plan under a policy. It returns the outcome of each job at the
// job's true deadline.
func outcomes(ctx context.Context, tr *experiments.Trial, policy int, r reported) ([]reportedOutcome, error) {
	run, err := tr.Run(ctx, policy, r.Plan)
	if err != nil {
		return nil, err
	}
	all := make([]reportedOutcome, len(r.Plan))
	at := make(map[int64]int, len(r.Plan)) // positions by job number, because jobs that follow other jobs may arrive in a different order
	for i := range r.Plan {
		at[r.Plan[i].ID] = i
	}
	for k := range run.Jobs {
		if j := &run.Jobs[k]; j.Admitted() {
			i := at[j.ID]
			truth := tr.Plan[r.Of[i]]
			if truth.After != 0 {
				truth.Arrival = j.Arrival - (j.Think - truth.Think)
			}
			meant := tr.Request(&truth)
			all[i] = reportedOutcome{Done: doneBy(&meant, j), Paid: j.Contract.Paid.Float64() - j.Contract.Penalty.Float64()}
		}
	}
	tr.Reuse(run)
	return all, nil
}

// doneBy returns the work of j that was done by the deadline in meant, the truthful request.
// If the contract had a later deadline and was not cancelled at the true deadline, this work
// is unknown and counts as zero.
func doneBy(meant *contracts.Request, j *metrics.Job) float64 {
	c := &j.Contract
	switch {
	case meant.OnDemand || meant.Late(c.Ended) && !meant.Late(j.Due()):
		return c.ByDue
	case meant.Late(c.Ended):
		return 0
	}
	return max(c.ByDue, c.Done) // the contract may have continued after an earlier deadline
}
