package experiments

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"bourse/contracts"
	"bourse/experiments/scenario"
	"bourse/workloadgen"
)

// A Trial is one replication of a configuration. It consists of jobs and hosts. It can run
// under any policy of the configuration, with the planned jobs or with other jobs. It can also
// continue from any job with changed terms of that job. Only one goroutine may use it at a
// time.
type Trial struct {
	Plan workloadgen.Plan // in order of arrival

	at        Panic
	setting   *setting
	workspace *workspace
}

// Trial returns the given replication of a configuration.
func (p *Prepared) Trial(configuration, rep int) (t *Trial, err error) {
	t = &Trial{at: place(p.Experiment, configuration, rep), setting: p.settings[configuration], workspace: newWorkspace()}
	defer t.at.Recovered(&err)
	if err := t.workspace.draw(t.setting, p.Experiment.Seed, rep); err != nil {
		return nil, err
	}
	if err := t.workspace.come(t.setting, p.Experiment.Seed, rep); err != nil {
		return nil, err
	}
	t.Plan = t.workspace.plan
	return t, nil
}

// Stream returns the random stream of t with the given name.
func (t *Trial) Stream(name string) *rand.PCG {
	return scenario.Stream(t.at.Seed, t.at.Replication, name)
}

// Optimum returns U* of the jobs of t.
func (t *Trial) Optimum() Optimum {
	t.workspace.plan = t.Plan
	return t.workspace.yardstick(t.setting, 0).Optimum
}

// Request returns the request for j without the owner and the budget.
func (t *Trial) Request(j *workloadgen.Job) (r contracts.Request) {
	t.setting.request(j, &r)
	return r
}

// PlannedDeadlines computes the deadlines from the configuration and writes them into the
// plan. Afterwards, changes to the runtime estimates do not change the deadlines.
func (t *Trial) PlannedDeadlines() {
	t.Plan = slices.Clone(t.Plan)
	for i := range t.Plan {
		t.Plan[i].Deadline = t.Request(&t.Plan[i]).SLA.Deadline
	}
	s, conf := *t.setting, *t.setting.conf
	conf.SLA.Of, conf.SLA.Slack = "deadline", 1
	s.conf = &conf
	t.setting = &s
}

// Run runs plan under the policy at the given position in the configuration.
func (t *Trial) Run(ctx context.Context, policy int, plan workloadgen.Plan) (*Run, error) {
	return t.run(ctx, policy, plan)
}

func (t *Trial) run(ctx context.Context, policy int, plan workloadgen.Plan, hooks ...hook) (run *Run, err error) {
	o := &t.setting.offers[policy]
	at := t.at
	at.Policy = o.Label
	defer at.Recovered(&err)
	t.workspace.plan = plan
	run, err = t.workspace.run(ctx, t.setting, o, at.Seed, at.Replication, nil, append(hooks, hooksOf(o)...)...)
	if located(err) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("configuration %s, replication %d, admission %s: %w", at.Configuration, at.Replication, o.Label, err)
	}
	return run, nil
}

// Reuse makes the memory of run available for other runs. The caller must not read run
// afterwards.
func (t *Trial) Reuse(run *Run) { t.workspace.spare.give(run) }

// An At identifies a job of a plan, with the terms of its submission.
type At struct {
	Position int
	Terms    *Terms // nil means the terms of the plan
	Guest    bool   // whether the job is not in the plan; its owner then always has enough money
}

// Before runs plan under a policy. It also returns a snapshot taken just before the job in at
// is submitted, or nil if the run ends earlier. The snapshot is valid until the next run of t.
// The returned run has no prices.
func (t *Trial) Before(ctx context.Context, policy int, plan workloadgen.Plan, at At) (*Snapshot, *Run, error) {
	f := &Snapshot{job: plan[at.Position].ID, guest: at.Guest}
	hooks := []hook{taker{f}}
	if at.Terms != nil {
		hooks = append(hooks, &subject{f.job, -1, at.Terms, at.Guest, true})
	}
	t.workspace.unpriced = true
	defer func() { t.workspace.unpriced = false }()
	run, err := t.run(ctx, policy, plan, hooks...)
	if err != nil {
		return nil, nil, err
	}
	if f.memo == nil {
		return nil, run, nil
	}
	return f, run, nil
}
