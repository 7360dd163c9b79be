package experiments

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"bourse/contracts"
	"bourse/experiments/incentives"
	"bourse/experiments/metrics"
	"bourse/experiments/misuse"
	"bourse/experiments/report"
	"bourse/experiments/scenario"
	"bourse/workloadgen"
)

// Temptations select the configurations, users and deviations of an incentive study.
type Temptations struct {
	Configurations []string // names; none means all

	Deviations []incentives.Deviation // at least one
	Alpha      float64                // inelasticity of users (eq. 9), in [0,1]
	Epsilon    float64                // largest gain that counts as none, in dollars; at least 0
	Users      int                    // sampled in each replication, at least 1; all if there are fewer
	Answers    int                    // number of replications, from the first, in which users respond to each other
	Rounds     int                    // maximum number of rounds of responses; at least 1 if Answers is positive

	Workers  int // parallel replications; 0 means one
	Progress func(done, total int)
}

func (t *Temptations) validate() error {
	switch {
	case len(t.Deviations) == 0:
		return misuse.Errorf("deviations: found none, want one at least")
	case !(t.Alpha >= 0 && t.Alpha <= 1):
		return misuse.Errorf("alpha: found %v, want 0 to 1", t.Alpha)
	case !(t.Epsilon >= 0) || math.IsInf(t.Epsilon, 0):
		return misuse.Errorf("epsilon: found %v, want dollars, 0 or more", t.Epsilon)
	case t.Users < 1:
		return misuse.Errorf("users: found %d, want at least 1", t.Users)
	case t.Answers < 0:
		return misuse.Errorf("answers: found %d, want 0 or more replications", t.Answers)
	case t.Answers > 0 && t.Rounds < 1:
		return misuse.Errorf("rounds: found %d, want at least 1", t.Rounds)
	}
	return nil
}

// Incentives runs every replication of e under each of its policies with truthful reports. It
// repeats each run for each sampled user and each deviation, with that user misreporting all
// of its jobs and all others truthful, and reports who gains. Where users respond to each
// other, it reports the final state and its price of anarchy. The result depends on e and on
// t, but not on t.Workers.
func Incentives(ctx context.Context, e *scenario.Experiment, t Temptations) (*incentives.Report, error) {
	if err := t.validate(); err != nil {
		return nil, err
	}
	x, err := only(e, t.Configurations)
	if err != nil {
		return nil, err
	}
	p, err := Prepare(x)
	if err != nil {
		return nil, err
	}
	r := &incentives.Report{Scenario: p.Experiment.Name, Alpha: t.Alpha, Epsilon: t.Epsilon, Users: t.Users, Most: t.Rounds}
	var found []incentives.Found
	first := make([]int, len(p.settings)) // in found, of each configuration
	for i, s := range p.settings {
		first[i] = len(found)
		for k := range s.offers {
			found = append(found, incentives.Found{Configuration: s.conf.Name, Policy: s.offers[k].Label})
		}
	}
	n, done := p.Experiment.Replications, 0
	total := len(p.settings) * n
	begin := func(ctx context.Context) func(int) ([]incentives.Trial, error) {
		a := newArena()
		return func(i int) ([]incentives.Trial, error) { return a.tempt(ctx, p, i/n, i%n, &t) }
	}
	i := 0
	err = inOrder(ctx, total, t.Workers, begin, func(trials []incentives.Trial) error {
		for k := range trials {
			of := &found[first[i/n]+k]
			of.Trials = append(of.Trials, trials[k])
		}
		i++
		if done++; t.Progress != nil {
			t.Progress(done, total)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.Sum(found, t.Deviations)
	return r, nil
}

// only returns e, expanded, with the named configurations, or with all if there are no names.
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

// IncentivesPage returns r as a document.
func IncentivesPage(r *incentives.Report) report.Document { return r.Document(labels()) }

// tempt offers deviations to sampled users of one replication, policy by policy.
func (a *arena) tempt(ctx context.Context, p *Prepared, configuration, rep int, t *Temptations) (trials []incentives.Trial, err error) {
	e := p.Experiment
	at := place(e, configuration, rep)
	defer at.recovered(&err)
	s := p.settings[configuration]
	if err := a.draw(s, e.Seed, rep); err != nil {
		return nil, err
	}
	if err := a.come(s, e.Seed, rep); err != nil {
		return nil, err
	}
	best := a.yardstick(s, 0) // users may deviate from the first job on
	s, truth := s.told(a.plan)
	users := incentives.Users(truth)
	if rng := rand.New(scenario.Stream(e.Seed, rep, "incentives")); len(users) > t.Users {
		rng.Shuffle(len(users), func(i, k int) { users[i], users[k] = users[k], users[i] })
		users = users[:t.Users]
	}
	for k := range s.offers {
		o := &s.offers[k]
		at.Policy = o.Label
		m := &incentives.Market{Truth: truth, Alpha: t.Alpha, Run: func(said incentives.Said) ([]incentives.Fate, error) {
			return a.hear(ctx, s, o, e.Seed, rep, truth, said)
		}}
		trial := incentives.Trial{Best: metrics.BestAt(t.Alpha, best.Bound, best.Parts), Proven: best.Proven}
		trial.Truth, trial.Gains, err = m.Gains(users, t.Deviations)
		if err == nil && rep < t.Answers {
			var answer incentives.Answer
			answer, err = m.Answer(trial.Truth, t.Deviations, t.Epsilon, t.Rounds)
			trial.Answer = &answer
		}
		if err != nil {
			return nil, fmt.Errorf("configuration %s, replication %d, admission %s: %w", s.conf.Name, rep, o.Label, err)
		}
		trials = append(trials, trial)
	}
	return trials, nil
}

// told returns a copy of s that uses the deadlines of the plan, and a plan with the deadlines
// that s would have set. A misreported estimate then does not change the deadline.
func (s *setting) told(plan workloadgen.Plan) (*setting, workloadgen.Plan) {
	other, conf := *s, *s.conf
	conf.SLA.Of, conf.SLA.Slack = "deadline", 1
	other.conf = &conf
	truth := slices.Clone(plan)
	for i := range truth {
		var r contracts.Request
		s.request(&truth[i], &r)
		truth[i].Deadline = r.SLA.Deadline
	}
	return &other, truth
}

// hear runs the reported plan and returns the outcome of each job by its true deadline.
func (a *arena) hear(ctx context.Context, s *setting, o *offer, seed uint64, rep int, truth workloadgen.Plan, said incentives.Said) ([]incentives.Fate, error) {
	a.plan = said.Plan
	run, err := a.run(ctx, s, o, seed, rep, nil)
	if err != nil {
		return nil, err
	}
	fates := make([]incentives.Fate, len(said.Plan))
	for i := range run.Jobs {
		j := &run.Jobs[i]
		if !j.Admitted() {
			continue
		}
		var meant contracts.Request
		s.request(&truth[said.Of[i]], &meant)
		fates[i] = incentives.Fate{Done: doneBy(&meant, j), Paid: j.Contract.Paid.Float64() - j.Contract.Penalty.Float64()}
	}
	a.spare.give(run)
	return fates, nil
}

// doneBy returns the work of j that was done by the deadline of the truthful request meant. If
// the contract had a later deadline, and so could not be cancelled at the true one, that work
// is unknown and counts as zero.
func doneBy(meant *contracts.Request, j *metrics.Job) float64 {
	c := &j.Contract
	switch {
	case meant.OnDemand || meant.Late(c.Ended) && !meant.Late(j.Due()):
		return c.ByDue
	case meant.Late(c.Ended):
		return 0
	}
	return max(c.ByDue, c.Done) // it may have continued after an earlier deadline
}
