// Package whatif answers questions about one run of an experiment. It computes the outcomes of
// the jobs after a change in one job, in the policy or in the report of one user. Every
// question uses [experiments.Trial]. A Trial lets a caller change the terms of job n and
// continue the run from that job.
//
//	explain     the decision on a job, and the smallest change that reverses it
//	replay      the same jobs under another policy
//	advise      budgets for an additional job
//	incentives  the gain of a user who misreports its jobs
//
// Negotiation asks the same kind of question during a run; see package experiments.
package whatif

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"bourse/bank"
	"bourse/experiments"
	"bourse/experiments/catalog"
	"bourse/experiments/metrics"
	"bourse/experiments/misuse"
	"bourse/experiments/scenario"
)

// An outcome is the result of a job in one run.
type outcome struct {
	State   string      `json:"state" doc:"fulfilled, violated, cancelled or refused"`
	Reason  string      `json:"reason,omitempty" doc:"reason for a refusal"`
	Ended   float64     `json:"ended" doc:"time of the end, s"`
	Worth   bank.Amount `json:"worth" doc:"value of the work to the owner"`
	Paid    bank.Amount `json:"paid"`
	Penalty bank.Amount `json:"penalty" doc:"amount received by the owner"`
}

// outcomeOf returns the outcome of j. The worth of j is its utility at alpha before
// payments.
func outcomeOf(j *metrics.Job, alpha float64) (f outcome, err error) {
	c := &j.Contract
	f = outcome{State: c.Outcome.String(), Reason: experiments.Reason(j), Ended: c.Ended, Paid: c.Paid, Penalty: c.Penalty}
	if j.Admitted() {
		f.State = c.Outcome.State()
		f.Worth, err = bank.Nearest(j.Utility(alpha) + c.Paid.Float64() - c.Penalty.Float64())
	}
	if err != nil {
		err = fmt.Errorf("job %d: %w", j.ID, err)
	}
	return f, err
}

// surplus returns the worth minus payments plus the penalty received, in micro-dollars.
func (f *outcome) surplus() int64 { return f.Worth.Micros() - f.Paid.Micros() + f.Penalty.Micros() }

// summary describes f in a few words.
func (f *outcome) summary() string {
	if f.State == "refused" && f.Reason != "" {
		return "refused: " + f.Reason
	}
	return fmt.Sprintf("%s, paid $%v", f.State, f.Paid)
}

// owner returns the name of a user's account.
func owner(user int64) string { return fmt.Sprintf("user:%d", user) }

// checkAlpha returns an error unless alpha, the inelasticity of users, is in [0,1].
func checkAlpha(alpha float64) error {
	if !(alpha >= 0 && alpha <= 1) {
		return misuse.Errorf("alpha: found %v, want 0 to 1", alpha)
	}
	return nil
}

// single returns the run of e at path, and an experiment that contains only the
// configuration and policy of that run.
func single(e *scenario.Experiment, path string) (r catalog.Chosen, one scenario.Experiment, err error) {
	if r, err = catalog.ChooseRun(e, path); err != nil {
		return r, one, fmt.Errorf("run: %w", err)
	}
	one = *e
	conf := *r.Configuration
	for _, a := range r.Configuration.Admission {
		if a.Label == r.Admission {
			conf.Admission = []scenario.Choice{a}
		}
	}
	one.Configurations = []scenario.Configuration{conf}
	one, err = changed(&one)
	return r, one, err
}

// changed returns e with the fields in sets changed. The experiment must have a single
// configuration.
func changed(e *scenario.Experiment, sets ...string) (scenario.Experiment, error) {
	var text bytes.Buffer
	if err := scenario.Write(&text, *e); err != nil {
		return scenario.Experiment{}, err
	}
	var all []string
	for _, s := range sets {
		if policy, ok := strings.CutPrefix(s, "admission="); ok {
			s = "admission=[" + policy + "]"
		}
		all = append(all, "configurations."+e.Configurations[0].Name+"."+s)
	}
	return scenario.Parse("manifest.json", text.Bytes(), scenario.Known{}, all...)
}

// trialOf returns replication rep of the only configuration of e. Unless inputs is nil, the
// files that the replication reads must have the hashes in inputs.
func trialOf(e *scenario.Experiment, rep int, inputs map[string]string) (*experiments.Trial, error) {
	p, err := experiments.Prepare(e)
	if err == nil {
		err = p.Unchanged(inputs)
	}
	if err != nil {
		return nil, err
	}
	return p.Trial(0, rep)
}

// jobsOf returns the jobs of the only run of e in replication rep.
func jobsOf(ctx context.Context, e *scenario.Experiment, rep int, inputs map[string]string) ([]metrics.Job, error) {
	t, err := trialOf(e, rep, inputs)
	if err != nil {
		return nil, err
	}
	run, err := t.Run(ctx, 0, t.Plan)
	if err != nil {
		return nil, err
	}
	return run.Jobs, nil
}
