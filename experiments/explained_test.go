package experiments

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"bourse/contracts"
	"bourse/contracts/policies"
	"bourse/experiments/explain"
	"bourse/experiments/metrics"
	"bourse/experiments/scenario"
	"bourse/workloadgen"
)

var explainDecisions = flag.Int("explain.decisions", 150, "random decisions that TestExplain explains")

// TestExplain explains random decisions, of every policy under all that a scenario can say,
// and checks them by whole runs in which the job asks for something else from the start: with
// the least change it is decided otherwise, and one step less it is not; and what becomes of
// all is to the micro-dollar what was said. A run goes on from its middle as it would have.
func TestExplain(t *testing.T) {
	t.Parallel()
	per := make(map[string]int)
	dir := t.TempDir()
	changes, rejected := 0, 0
	total := 0
	for n := max(*matrixSeed, matrixHashes); total < *explainDecisions; n++ { // in those before nobody negotiates, and no policy is new
		rng := rand.New(rand.NewPCG(n, 77))
		g := draw(n)
		if err := g.write(dir); err != nil {
			t.Fatal(err)
		}
		e, err := parse(dir)
		if err != nil {
			continue
		}
		x := e.Expanded()
		all, err := settings(&x, nil)
		if err != nil {
			t.Fatalf("draw %d: %v", n, err)
		}
		s := all[0]
		for k := range s.offers {
			o := &s.offers[k]
			for range 2 {
				if err := explained(t, s, o, x.Seed, rng, &changes, &rejected); err != nil {
					t.Errorf("draw %d: %s: %v", n, o.Label, err)
				}
				per[o.Name]++
				total++
			}
		}
	}
	for _, name := range policies.Table(nil, nil).Names() {
		if per[name] == 0 {
			t.Errorf("%s: no decision was explained", name)
		}
	}
	if changes < total/2 || rejected < total/10 {
		t.Errorf("%d decisions, %d of them rejections, have %d changes: too few to tell", total, rejected, changes)
	}
	t.Logf("%d decisions, %d of them rejections, %d changes: %v", total, rejected, changes, per)
}

// explained explains the decision of a random job, and checks it.
func explained(t *testing.T, s *setting, o *offer, seed uint64, rng *rand.Rand, changes, rejected *int) error {
	ctx := context.Background()
	a := newArena()
	if err := errors.Join(a.draw(s, seed, 0), a.come(s, seed, 0)); err != nil {
		return err
	}
	m := &moment{n: rng.IntN(len(a.plan))}
	run, err := a.forked(ctx, s, o, seed, 0, nil, m)
	if err != nil || m.memo == nil {
		return err
	}
	b := newArena()
	b.plan, b.churn, b.histories = a.plan, a.churn, a.histories
	plain, err := b.run(ctx, s, o, seed, 0, nil)
	if err != nil {
		return err
	}
	if err := alikeJobs(plain.Jobs, run.Jobs); err != nil {
		return fmt.Errorf("while a moment is taken: %w", err)
	}
	x := &explainer{moment: m, run: run, alpha: float64(rng.IntN(3)) / 2, job: a.plan[m.n].ID}
	asked := m.terms()
	whole, err := wholly(s, o, seed, m.n, &asked)
	if err != nil {
		return err
	}
	took := run.Jobs[m.n].Bargained
	if err := alikeJobs(whole, run.Jobs); err != nil && !took {
		return fmt.Errorf("as it was: %w", err)
	}
	goes, err := m.future().finish(ctx, &asked)
	if err != nil {
		return err
	}
	if err := alikeJobs(whole, goes); err != nil {
		return fmt.Errorf("gone on from %v s: %w", m.now, err)
	}
	r, err := x.explain(ctx)
	if err != nil {
		return err
	}
	if (r.Taken != nil) != took {
		return fmt.Errorf("job %d: it took an offer: %v; found %+v", x.job, took, r.Taken)
	}
	was := &whole[m.n]
	if accepted := was.Admitted(); accepted != (r.Decision.Verdict == "accept") {
		return fmt.Errorf("job %d: %v, it was %v", x.job, r.Decision.Verdict, was.Contract.Outcome)
	}
	if r.Decision.Verdict == "reject" {
		*rejected++
		if r.Decision.Reason != string(was.Reason) {
			return fmt.Errorf("job %d: refused for %q, it was for %q", x.job, r.Decision.Reason, was.Reason)
		}
		for _, d := range policies.Tests(o.Name) {
			if d.Reason == was.Reason && (r.Decision.Test == nil || r.Decision.Test.Missing() <= 0) {
				return fmt.Errorf("job %d: refused for %q by %+v", x.job, was.Reason, r.Decision.Test)
			}
		}
	}
	if (r.Without != nil) != was.Admitted() {
		return fmt.Errorf("job %d: %v, and without it %+v", x.job, was.Contract.Outcome, r.Without)
	}
	want := r.Decision.Verdict != "accept"
	for _, d := range x.dimensions(asked, run.End) {
		i := slices.IndexFunc(r.Changes, func(c explain.Change) bool { return c.Of == d.Of && c.By == d.By(stepsOf(&c, &d, x, asked)) })
		if i < 0 {
			continue
		}
		c := &r.Changes[i]
		*changes++
		steps := stepsOf(c, &d, x, asked)
		for n := steps; n >= max(1, steps-1); n-- {
			tm := terms{d.At(n)}
			jobs, err := wholly(s, o, seed, m.n, &tm)
			if err != nil {
				return err
			}
			j := &jobs[slices.IndexFunc(jobs, func(j metrics.Job) bool { return j.ID == x.job })]
			got := j.Admitted()
			if !want {
				got = j.Contract.Outcome == contracts.Refused
			}
			if got != (n == steps) {
				return fmt.Errorf("job %d: %s %s, found %d steps: with %d it is %v", x.job, c.Of, c.By, steps, n, j.Contract.Outcome)
			}
			if n < steps || !want {
				continue
			}
			o, err := x.outcome(jobs, true)
			if err != nil {
				return err
			}
			if o.Externality != c.Then.Externality || o.Has != c.Then.Has || o.Paid != c.Then.Paid || o.Gain != c.Then.Gain || o.Lose != c.Then.Lose {
				return fmt.Errorf("job %d: %s %s: by a whole run %+v, found %+v", x.job, c.Of, c.By, o, c.Then)
			}
		}
	}
	return nil
}

// stepsOf returns how many steps of d the change is, 0 if it is of another dimension.
func stepsOf(c *explain.Change, d *explain.Dimension, x *explainer, asked terms) int64 {
	if c.Of != d.Of {
		return 0
	}
	one := d.At(1)
	switch by := func(a, b float64) int64 { return int64(a/b + 0.5) }; c.Of {
	case "budget":
		return by(float64(c.Terms.Budget.Micros()-asked.Budget.Micros()), float64(one.Budget.Micros()-asked.Budget.Micros()))
	case "deadline":
		return by(c.Terms.Deadline-asked.Deadline, one.Deadline-asked.Deadline)
	case "nodes":
		return by(float64(c.Terms.Nodes-asked.Nodes), float64(one.Nodes-asked.Nodes))
	case "submit":
		return by(c.Terms.Submit-x.arena.plan[x.n].Arrival, 1)
	}
	if c.Terms.Class == one.Class {
		return 1
	}
	return 0
}

// wholly runs all jobs from the start; job n asks for t.
func wholly(s *setting, o *offer, seed uint64, n int, t *terms) ([]metrics.Job, error) {
	a := newArena()
	if err := errors.Join(a.draw(s, seed, 0), a.come(s, seed, 0)); err != nil {
		return nil, err
	}
	plan := slices.Clone(a.plan)
	job := plan[n]
	job.Arrival += t.Later
	plan = slices.Delete(plan, n, n+1)
	for t.Later > 0 && n < len(plan) && plan[n].Arrival <= job.Arrival {
		n++
	}
	a.plan = slices.Insert(plan, n, job)
	run, err := a.forked(context.Background(), s, o, seed, 0, nil, &moment{n: n, asks: t})
	if err != nil {
		return nil, err
	}
	return run.Jobs, nil
}

// alikeJobs reports the first difference in what became of jobs.
func alikeJobs(a, b []metrics.Job) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d jobs and %d", len(a), len(b))
	}
	for i := range a {
		x, y := &a[i], &b[i]
		if x.ID != y.ID || x.Reason != y.Reason || x.Contract.Outcome != y.Contract.Outcome || x.Contract.Paid != y.Contract.Paid ||
			x.Contract.Penalty != y.Contract.Penalty || x.Contract.Ended != y.Contract.Ended || x.Contract.ByDue != y.Contract.ByDue {
			return fmt.Errorf("job %d: %q %+v and %q %+v", x.ID, x.Reason, x.Contract, y.Reason, y.Contract)
		}
	}
	return nil
}

// TestWithout checks what is said of a market without a job by two runs made by hand, of
// plans with and without it: on as many hosts as every job has nodes, where nothing is drawn
// by lot, it does not matter that it is decided and turned away.
func TestWithout(t *testing.T) {
	t.Parallel()
	const seed = 5
	ctx := context.Background()
	harmed := 0
	without := make(map[string]int)
	for _, policy := range policies.Table(nil, nil).Names() {
		nodes, cpus, options := 4, 2, ""
		switch policy {
		case "queue": // has jobs of one node
			nodes, options = 1, ", interval: 5, matchmaker: first-available"
		case "reserve": // a host is a cluster
			cpus = 4
		case "rac": // none is refused by lot
			options = ", reject: 0"
		case "partition": // a job fits on one side
			options = ", reserved: 1"
		}
		text := fmt.Sprintf("name: x\nbase: {fleet: {hosts: %d, cpus: %d}, workload: {model: paper}, market: {sharing: %s}}\nconfigurations:\n  - {name: c, admission: [{name: %s%s}]}\n",
			nodes, cpus, policies.Of(policy).Sharing, policy, options)
		e, err := scenario.Parse("test", []byte(text), scenario.Known{})
		if err != nil {
			t.Fatal(err)
		}
		e = e.Expanded()
		all, err := settings(&e, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := all[0]
		o := &s.offers[0]
		rng := rand.New(rand.NewPCG(seed, 9))
		plan := crowd(32, 6)
		for i := range plan {
			plan[i].Nodes = nodes
			plan[i].Deadline *= 1 + 4*rng.Float64()
		}
		of := func(plan workloadgen.Plan) []metrics.Job {
			a := newArena()
			a.plan = plan
			run, err := a.forked(ctx, s, o, seed, 0, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			return run.Jobs
		}
		was := of(plan)
		for n := 1; n < len(plan); n += 3 {
			a := newArena()
			a.plan = plan
			m := &moment{n: n}
			run, err := a.forked(ctx, s, o, seed, 0, nil, m)
			if err != nil {
				t.Fatal(err)
			}
			x := &explainer{moment: m, run: run, alpha: 1, job: plan[n].ID}
			r, err := x.explain(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if r.Without == nil {
				continue
			}
			without[policy]++
			is := of(slices.Delete(slices.Clone(plan), n, n+1))
			others := slices.Delete(slices.Clone(was), n, n+1)
			worth, paid := int64(0), int64(0)
			for i := range others {
				a, _ := fate(&others[i], 1)
				b, _ := fate(&is[i], 1)
				worth += b.Worth.Micros() - a.Worth.Micros()
				paid += b.Paid.Micros() - a.Paid.Micros()
			}
			if got := r.Without; got.Externality.Micros() != worth || got.Paid.Micros() != paid {
				t.Errorf("%s, job %d: others' work is worth %d less, they pay %d more; by hand %d and %d",
					policy, n, got.Externality.Micros(), got.Paid.Micros(), worth, paid)
			}
			if worth > 0 {
				harmed++
			}
		}
	}
	for _, policy := range policies.Table(nil, nil).Names() {
		if without[policy] < 2 {
			t.Errorf("%s: a market without %d of its jobs: too few to tell", policy, without[policy])
		}
	}
	if harmed < 4 {
		t.Errorf("%d jobs harm others: too few to tell", harmed)
	}
}
