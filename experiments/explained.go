package experiments

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/policies"
	"bourse/experiments/explain"
	"bourse/experiments/metrics"
	"bourse/experiments/misuse"
	"bourse/experiments/replay"
	"bourse/experiments/scenario"
)

// Explain repeats one run of e until one of its jobs is submitted, and explains the decision
// on that job. It searches for the smallest change of each term with which the same policy
// would have decided differently, and for the outcomes of all jobs under that change and
// without the job. A job is worth its utility at alpha, computed from its value in the plan,
// minus what was paid (§4.2, eq. 9). The frontier is computed only if frontier is set. Inputs
// are the hashes of the files that the run read, by path, or nil; a changed file is an error.
func Explain(ctx context.Context, e *scenario.Experiment, inputs map[string]string, path string, job int64, alpha float64, frontier bool) (*explain.Report, error) {
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
	m, run, err := chosen.until(ctx, &one, inputs, job)
	if err != nil {
		return nil, err
	}
	x := &explainer{moment: m, run: run, alpha: alpha, job: job}
	r, err := x.explain(ctx)
	if err == nil && frontier {
		r.Frontier, err = x.frontier(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("job %d: %w", job, err)
	}
	r.Run, r.Policy = chosen.String(), chosen.admission
	return r, nil
}

// until runs r, the only run of e, and returns its snapshot just before job is submitted, and
// the complete run.
func (r Chosen) until(ctx context.Context, e *scenario.Experiment, inputs map[string]string, job int64) (_ *moment, _ *Run, err error) {
	x := e.Expanded()
	at := place(&x, 0, r.replication)
	defer at.recovered(&err)
	read := make(files)
	all, err := settings(&x, read)
	if err == nil {
		err = read.same(inputs)
	}
	if err != nil {
		return nil, nil, err
	}
	s, a := all[0], newArena()
	if err := a.draw(s, x.Seed, r.replication); err != nil {
		return nil, nil, err
	}
	if err := a.come(s, x.Seed, r.replication); err != nil {
		return nil, nil, err
	}
	m := &moment{n: -1}
	for i := range a.plan {
		if a.plan[i].ID == job {
			m.n = i
		}
	}
	if m.n < 0 {
		return nil, nil, misuse.Errorf("job: found %d, want one of the %d that %s has, %d to %d",
			job, len(a.plan), r, a.plan[0].ID, a.plan[len(a.plan)-1].ID)
	}
	run, err := a.forked(ctx, s, &s.offers[0], x.Seed, r.replication, nil, m)
	if err == nil && m.memo == nil {
		err = misuse.Errorf("job: %d was not submitted before the horizon of %s", job, r)
	}
	return m, run, err
}

// An explainer explains the job of a moment.
type explainer struct {
	*moment
	run   *Run
	alpha float64
	job   int64
}

// explain explains the decision on the job.
func (x *explainer) explain(ctx context.Context) (*explain.Report, error) {
	asked := x.terms()
	f := x.future()
	a, err := f.decide(ctx, &asked)
	if err != nil {
		return nil, err
	}
	was := x.run.Jobs[x.n]
	r := &explain.Report{
		Job: x.job, Owner: fmt.Sprintf("user:%d", was.User), Asked: x.written(&asked),
		Decision: explain.Decide(x.job, a.at, &contracts.Decision{Verdict: a.verdict, Reason: a.reason, Numbers: a.numbers}, x.written(&asked), policies.Tests(x.offer.Name)),
		Changes:  []explain.Change{}, Vain: []explain.Vain{}, Frontier: []explain.Point{},
	}
	if r.Fate, err = fate(&was, x.alpha); err != nil {
		return nil, err
	}
	if was.Bargained { // alternatives are compared with what it asked for first
		c := &was.Contract
		r.Taken = &explain.Terms{Work: was.Estimate, Nodes: was.Nodes, Deadline: c.Deadline, Budget: c.Budget, Class: was.Class, Submit: was.Arrival}
		refused := *x.run
		if refused.Jobs, err = f.finish(ctx, &asked); err != nil {
			return nil, err
		}
		x.run = &refused
	}
	want := explain.Wanted(a.verdict)
	type found struct {
		change *explain.Change
		vain   *explain.Vain
	}
	all := x.dimensions(asked, x.run.End)
	begin := func(ctx context.Context) func(int) (found, error) {
		f := x.future()
		return func(i int) (got found, err error) {
			got.change, got.vain, err = x.search(ctx, f, &all[i], want)
			return got, err
		}
	}
	err = inOrder(ctx, len(all), runtime.GOMAXPROCS(0), begin, func(got found) error {
		if got.change != nil {
			r.Changes = append(r.Changes, *got.change)
		} else {
			r.Vain = append(r.Vain, *got.vain)
		}
		return nil
	})
	if err != nil || want == contracts.Accept {
		return r, err
	}
	without, err := x.without(ctx, f, &asked, a.at)
	if err == nil {
		r.Without, err = x.outcome(without, false)
	}
	return r, err
}

// written returns t in the form that reports use.
func (x *explainer) written(t *terms) explain.Terms {
	var r contracts.Request
	task := x.setting.request(&x.arena.plan[x.n], &r)
	t.on(&r, &task)
	return explain.Terms{Work: r.Work, Nodes: r.Nodes, Deadline: t.Deadline, Budget: t.Budget, Class: t.Class, Submit: r.Submit + t.Later}
}

// search finds the smallest change in d with which the job gets the verdict want.
func (x *explainer) search(ctx context.Context, f *future, d *explain.Dimension, want contracts.Verdict) (*explain.Change, *explain.Vain, error) {
	steps, c, vain, err := d.Search(want, func(ask explain.Ask) (contracts.Verdict, contracts.Reason, error) {
		a, err := f.decide(ctx, &terms{ask})
		return a.verdict, a.reason, err
	})
	if err != nil || vain != nil {
		return nil, vain, err
	}
	t := terms{d.At(steps)}
	c.Terms = x.written(&t)
	if want != contracts.Accept {
		return c, nil, nil
	}
	jobs, err := f.finish(ctx, &t)
	if err == nil {
		c.Then, err = x.outcome(jobs, true)
	}
	return c, nil, err
}

// without returns the outcomes of all jobs without the explained job, which was admitted at
// time at. A job that was admitted immediately is decided and then turned away, so that later
// random draws stay the same. A job that had to wait, or has a booking, is not submitted.
func (x *explainer) without(ctx context.Context, f *future, asked *terms, at float64) ([]metrics.Job, error) {
	if at == x.now && !policies.Of(x.offer.Name).Books {
		return f.finish(ctx, asked, contracts.ID(x.job))
	}
	return f.finish(ctx, nil)
}

// outcome compares the actual outcomes of all jobs with the alternative ones. In reports
// whether the alternative includes the job.
func (x *explainer) outcome(would []metrics.Job, in bool) (*explain.Outcome, error) {
	is := make(map[int64]*metrics.Job, len(would))
	for i := range would {
		is[would[i].ID] = &would[i]
	}
	all := make([]replay.Job, 0, len(would))
	for i := range x.run.Jobs {
		was := &x.run.Jobs[i]
		j := replay.Job{ID: was.ID, Owner: fmt.Sprintf("user:%d", was.User), Asked: was.Arrival}
		j.Is.State = "refused"
		var err error
		if j.Was, err = fate(was, x.alpha); err != nil {
			return nil, fmt.Errorf("job %d: %w", was.ID, err)
		}
		if now := is[was.ID]; now != nil {
			value := now.Contract.Budget
			if now.ID == x.job { // its worth is not its bid
				now.Contract.Budget = x.arena.bills[x.n].budget
			}
			j.Is, err = fate(now, x.alpha)
			now.Contract.Budget = value
		}
		if err != nil {
			return nil, fmt.Errorf("job %d: %w", was.ID, err)
		}
		all = append(all, j)
	}
	return explain.Outcomes(x.job, all, in), nil
}

// frontierAt holds the deadlines of a frontier, as multiples of the requested one.
var frontierAt = []float64{0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.5, 2, 2.5, 3, 4}

// frontier returns the smallest budget, in cents, at which the job is accepted, for deadlines
// from half to four times the requested one. Deadlines without such a budget are omitted.
func (x *explainer) frontier(ctx context.Context) (all []explain.Point, err error) {
	begin := func(ctx context.Context) func(int) (explain.Point, error) {
		f := x.future()
		return func(i int) (explain.Point, error) {
			t := x.terms()
			most := x.richest().Micros() / explain.Cent.Micros()
			t.Deadline *= frontierAt[i]
			found, err := explain.Least(most, func(n int64) (bool, error) {
				t.Budget = bank.Micros(n * explain.Cent.Micros())
				a, err := f.decide(ctx, &t)
				return a.verdict == contracts.Accept, err
			})
			return explain.Point{Deadline: t.Deadline, Budget: bank.Micros(found.Steps * explain.Cent.Micros())}, err
		}
	}
	all = []explain.Point{}
	err = inOrder(ctx, len(frontierAt), runtime.GOMAXPROCS(0), begin, func(p explain.Point) error {
		if p.Budget.Sign() > 0 {
			all = append(all, p)
		}
		return nil
	})
	return slices.Clip(all), err
}
