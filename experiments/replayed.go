package experiments

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"bourse/bank"
	"bourse/experiments/metrics"
	"bourse/experiments/misuse"
	"bourse/experiments/replay"
	"bourse/experiments/scenario"
)

// Replay repeats one run of e, once unchanged and once with other values in some fields of its
// configuration ("admission=cac", "market.payment=bid"), on the same jobs and hosts. It
// compares the outcomes of each job. A job is worth its utility at alpha, without what was
// paid (§4.2, eq. 9). Inputs are as for [Explain].
func Replay(ctx context.Context, e *scenario.Experiment, inputs map[string]string, path string, alpha float64, sets ...string) (*replay.Report, error) {
	chosen, err := ChooseRun(e, path)
	if err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	if !(alpha >= 0 && alpha <= 1) {
		return nil, misuse.Errorf("alpha: found %v, want 0 to 1", alpha)
	}
	one, err := chosen.alone(e)
	if err != nil {
		return nil, err
	}
	other, err := again(&one, sets...)
	if err != nil {
		return nil, err
	}
	if d := scenario.Differ(&one, &other); d == nil {
		return nil, misuse.Errorf("run %s was so: want another --admission, or --set", chosen)
	}
	if n := len(other.Configurations[0].Admission); n != 1 || len(other.Configurations) != 1 {
		return nil, misuse.Errorf("found %d configurations with %d policies, want one of each", len(other.Configurations), n)
	}
	was, err := chosen.jobs(ctx, &one, inputs)
	if err != nil {
		return nil, err
	}
	is, err := chosen.jobs(ctx, &other, nil)
	if err != nil {
		return nil, err
	}
	if len(was) != len(is) {
		return nil, misuse.Errorf("it is another workload, of %d jobs in place of %d: want a field that leaves it as it is", len(is), len(was))
	}
	jobs := make([]replay.Job, len(was))
	for i := range jobs {
		a, b := &was[i], &is[i]
		if *a.Job != *b.Job {
			return nil, misuse.Errorf("it is another workload, from job %d on: want a field that leaves it as it is", a.ID)
		}
		jobs[i] = replay.Job{ID: a.ID, Owner: fmt.Sprintf("user:%d", a.User), Asked: a.Arrival}
		if jobs[i].Was, err = fate(a, alpha); err == nil {
			jobs[i].Is, err = fate(b, alpha)
		}
		if err != nil {
			return nil, fmt.Errorf("job %d: %w", a.ID, err)
		}
	}
	mine, theirs := chosen.admission, other.Configurations[0].Admission[0].Label
	if mine == theirs {
		mine, theirs = "as it was", "instead"
	}
	return replay.Compare(mine, theirs, jobs), nil
}

// alone returns the experiment that consists of r's configuration with only r's policy.
func (r Chosen) alone(e *scenario.Experiment) (scenario.Experiment, error) {
	one := *e
	conf := *r.Configuration
	for _, a := range r.Configuration.Admission {
		if a.Label == r.admission {
			conf.Admission = []scenario.Choice{a}
		}
	}
	one.Configurations = []scenario.Configuration{conf}
	return again(&one)
}

// again returns e, which has one configuration, with the fields in sets changed.
func again(e *scenario.Experiment, sets ...string) (scenario.Experiment, error) {
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

// jobs returns the jobs of r's replication in e, which has a single run. Files that it reads
// must have the hashes in inputs, unless that is nil.
func (r Chosen) jobs(ctx context.Context, e *scenario.Experiment, inputs map[string]string) (jobs []metrics.Job, err error) {
	p, err := Prepare(e)
	if err == nil {
		err = files(p.Inputs).same(inputs)
	}
	if err != nil {
		return nil, err
	}
	one := &Replication{Rep: r.replication}
	err = newArena().each(ctx, p.Experiment, p.settings, one, Options{}, func(_ int, run *Run) error {
		jobs = append(jobs, run.Jobs...)
		return nil
	})
	return jobs, err
}

// fate returns the outcome of j.
func fate(j *metrics.Job, alpha float64) (f replay.Fate, err error) {
	c := &j.Contract
	f = replay.Fate{State: c.Outcome.String(), Reason: reason(j), Ended: c.Ended, Paid: c.Paid, Penalty: c.Penalty}
	if j.Admitted() {
		f.State = c.Outcome.State()
		f.Worth, err = bank.Nearest(j.Utility(alpha) + c.Paid.Float64() - c.Penalty.Float64())
	}
	return f, err
}
