package whatif

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/policies"
	"bourse/experiments"
	"bourse/experiments/catalog"
	"bourse/experiments/metrics"
	"bourse/experiments/misuse"
	"bourse/experiments/scenario"
	"bourse/workloadgen"
)

// Explain repeats one run of e up to the submission of one job and explains the decision on
// that job. For each term, it finds the smallest change with which the policy would have
// decided differently. It also computes the outcomes of all jobs under that change and
// without the job. The worth of a job is its utility at alpha, computed from the value in
// the plan, before payments (§4.2, eq. 9). The frontier is computed only if frontier is
// set. The map inputs has the hashes of the files that the run read, keyed by path. Unless
// inputs is nil, a changed file is an error.
func Explain(ctx context.Context, e *scenario.Experiment, inputs map[string]string, path string, job int64, alpha float64, frontier bool) (*Explanation, error) {
	if err := checkAlpha(alpha); err != nil {
		return nil, err
	}
	chosen, one, err := single(e, path)
	if err != nil {
		return nil, err
	}
	t, err := trialOf(&one, chosen.Replication, inputs)
	if err != nil {
		return nil, err
	}
	n := slices.IndexFunc(t.Plan, func(j workloadgen.Job) bool { return j.ID == job })
	if n < 0 {
		return nil, misuse.Errorf("job: found %d, want one of the %d jobs of %s, %d to %d", job, len(t.Plan), chosen, t.Plan[0].ID, t.Plan[len(t.Plan)-1].ID)
	}
	s, run, err := t.Before(ctx, 0, t.Plan, experiments.At{Position: n})
	if err == nil && s == nil {
		err = misuse.Errorf("job: found %d, want a job that was submitted before the horizon of %s", job, chosen)
	}
	if err != nil {
		return nil, err
	}
	x := &explainer{Snapshot: s, jobs: run.Jobs, end: run.End, alpha: alpha, job: job}
	r, err := x.explain(ctx)
	if err == nil && r.Decision.Verdict != "accept" && len(r.Changes) == 0 {
		r.Help, err = x.help(ctx, e, chosen)
	}
	if err == nil && frontier {
		r.Frontier, err = x.frontier(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("job %d: %w", job, err)
	}
	r.Run, r.Policy = chosen.String(), chosen.Admission
	return r, nil
}

// An explainer explains the decision on the job of a snapshot.
type explainer struct {
	*experiments.Snapshot
	jobs  []metrics.Job // actual outcomes of all jobs
	end   float64       // end of the run
	alpha float64
	job   int64
}

// explain explains the decision on the job.
func (x *explainer) explain(ctx context.Context) (*Explanation, error) {
	asked := x.Terms()
	f := x.Branch()
	a, err := f.Decide(ctx, &asked)
	if err != nil {
		return nil, err
	}
	was := x.jobs[x.Position]
	r := &Explanation{
		Job: x.job, Owner: owner(was.User), Asked: x.written(&asked),
		Decision: decided(x.job, a.At, &a.Decision, x.written(&asked), policies.Tests(x.About)),
		Changes:  []change{}, Unsolved: []unsolved{}, Frontier: []frontierPoint{},
	}
	if r.Outcome, err = outcomeOf(&was, x.alpha); err != nil {
		return nil, err
	}
	if was.Bargained { // alternatives are first compared with the original request
		c := &was.Contract
		r.Taken = &terms{Work: was.Estimate, Nodes: was.Nodes, Deadline: c.Deadline, Budget: c.Budget, Class: was.Class, Submit: was.Arrival}
		if x.jobs, err = f.Finish(ctx, &asked); err != nil {
			return nil, err
		}
	}
	want := contracts.Accept
	if a.Verdict == want {
		want = contracts.Reject
	}
	type found struct {
		change *change
		vain   *unsolved
	}
	all := x.Dimensions(asked, x.end)
	begin := func(ctx context.Context) func(int) (found, error) {
		f := x.Branch()
		return func(i int) (got found, err error) {
			got.change, got.vain, err = x.search(ctx, f, &all[i], want)
			return got, err
		}
	}
	err = experiments.InOrder(ctx, len(all), runtime.GOMAXPROCS(0), begin, func(got found) error {
		if got.change != nil {
			r.Changes = append(r.Changes, *got.change)
		} else {
			r.Unsolved = append(r.Unsolved, *got.vain)
		}
		return nil
	})
	if err != nil || want == contracts.Accept {
		return r, err
	}
	without, err := x.without(ctx, f, &asked, a.At)
	if err == nil {
		r.Without, err = x.outcome(without, false)
	}
	return r, err
}

// help searches for changes to several terms with which the job would have been accepted.
// It also searches for other policies that accept the unchanged job. It halves the number
// of nodes down to 1 and multiplies the deadline and the budget by up to 100.
func (x *explainer) help(ctx context.Context, e *scenario.Experiment, of catalog.Chosen) (*help, error) {
	h, f, asked := &help{Policies: []string{}}, x.Branch(), x.Terms()
	most := x.Richest()
	for nodes := asked.Nodes; nodes > 0 && h.Terms == nil; nodes /= 2 {
		for i := 0; i < 12 && h.Terms == nil; i++ {
			t := asked
			t.Nodes, t.Deadline = nodes, asked.Deadline*[]float64{1, 2, 10, 100}[i%4]
			t.Budget = bank.Micros(min(asked.Budget.Micros()*[]int64{1, 10, 100}[i/4], most.Micros()))
			a, err := f.Decide(ctx, &t)
			if err != nil {
				return nil, err
			}
			if h.Tried++; a.Verdict == contracts.Accept {
				h.Terms = new(x.written(&t))
			}
		}
	}
	one, conf := *e, *of.Configuration
	conf.Admission = slices.DeleteFunc(slices.Clone(conf.Admission), func(c scenario.Choice) bool { return c.Label == of.Admission })
	if len(conf.Admission) == 0 {
		return h, nil
	}
	one.Configurations = []scenario.Configuration{conf}
	t, err := trialOf(&one, of.Replication, nil)
	if err != nil {
		return nil, err
	}
	for k, c := range conf.Admission {
		run, err := t.Run(ctx, k, t.Plan)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(run.Jobs, func(j metrics.Job) bool { return j.ID == x.job && j.Admitted() }) {
			h.Policies = append(h.Policies, c.Label)
		}
	}
	return h, nil
}

// written converts t to the form that reports use.
func (x *explainer) written(t *experiments.Terms) terms {
	r := x.Request(t)
	return terms{Work: r.Work, Nodes: r.Nodes, Deadline: t.Deadline, Budget: t.Budget, Class: t.Class, Submit: r.Submit}
}

// search finds the smallest change in dimension d for which the decision on the job is
// want.
func (x *explainer) search(ctx context.Context, f *experiments.Branch, d *experiments.Dimension, want contracts.Verdict) (*change, *unsolved, error) {
	found, err := experiments.Least(d.Most, func(steps int64) (bool, error) {
		t := d.At(steps)
		a, err := f.Decide(ctx, &t)
		return a.Verdict == want, err
	})
	if err != nil {
		return nil, nil, err
	}
	if found.Steps == 0 {
		return nil, &unsolved{Of: d.Of, Until: d.By(found.Most), Tried: found.Tried}, nil
	}
	t := d.At(found.Steps)
	c := &change{Of: d.Of, By: d.By(found.Steps), Terms: x.written(&t), Tried: found.Tried, Monotone: found.Monotone}
	if want != contracts.Accept {
		a, err := f.Decide(ctx, &t)
		c.Reason = string(a.Reason)
		return c, nil, err
	}
	jobs, err := f.Finish(ctx, &t)
	if err == nil {
		c.Then, err = x.outcome(jobs, true)
	}
	return c, nil, err
}

// without returns the outcomes of all jobs without the explained job. That job was admitted at
// time at. If the job was admitted immediately, the policy decides on it and it is then
// removed, so that later random numbers stay the same. If the job had to wait or has a booking,
// it is not submitted.
func (x *explainer) without(ctx context.Context, f *experiments.Branch, asked *experiments.Terms, at float64) ([]metrics.Job, error) {
	if at == x.Now && !x.About.Books {
		return f.Finish(ctx, asked, contracts.ID(x.job))
	}
	return f.Finish(ctx, nil)
}

// outcome compares the actual outcomes of all jobs with the alternative outcomes. The argument
// in reports whether the alternative includes the job.
func (x *explainer) outcome(would []metrics.Job, in bool) (*effect, error) {
	is := make(map[int64]*metrics.Job, len(would))
	for i := range would {
		is[would[i].ID] = &would[i]
	}
	all := make([]comparedJob, 0, len(would))
	for i := range x.jobs {
		was := &x.jobs[i]
		j := comparedJob{ID: was.ID, Owner: owner(was.User), Asked: was.Arrival}
		j.Is.State = "refused"
		var err error
		if j.Was, err = outcomeOf(was, x.alpha); err != nil {
			return nil, err
		}
		if now := is[was.ID]; now != nil {
			value := now.Contract.Budget
			if now.ID == x.job { // compute the worth of this job from its original budget
				now.Contract.Budget = x.Terms().Budget
			}
			j.Is, err = outcomeOf(now, x.alpha)
			now.Contract.Budget = value
		}
		if err != nil {
			return nil, err
		}
		all = append(all, j)
	}
	return effectOf(x.job, all, in), nil
}

// frontierAt contains the deadlines of a frontier, as multiples of the requested deadline.
var frontierAt = []float64{0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.5, 2, 2.5, 3, 4}

// frontier returns the smallest budget with which the job is accepted, in steps of one
// cent, for each deadline in frontierAt. It omits deadlines for which there is no such
// budget.
func (x *explainer) frontier(ctx context.Context) (all []frontierPoint, err error) {
	begin := func(ctx context.Context) func(int) (frontierPoint, error) {
		f := x.Branch()
		return func(i int) (frontierPoint, error) {
			t := x.Terms()
			most := x.Richest().Micros() / experiments.Cent.Micros()
			t.Deadline *= frontierAt[i]
			found, err := experiments.Least(most, func(n int64) (bool, error) {
				t.Budget = bank.Micros(n * experiments.Cent.Micros())
				a, err := f.Decide(ctx, &t)
				return a.Verdict == contracts.Accept, err
			})
			return frontierPoint{Deadline: t.Deadline, Budget: bank.Micros(found.Steps * experiments.Cent.Micros())}, err
		}
	}
	all = []frontierPoint{}
	err = experiments.InOrder(ctx, len(frontierAt), runtime.GOMAXPROCS(0), begin, func(p frontierPoint) error {
		if p.Budget.Sign() > 0 {
			all = append(all, p)
		}
		return nil
	})
	return slices.Clip(all), err
}
