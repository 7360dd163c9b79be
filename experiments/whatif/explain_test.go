package whatif

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bourse/contracts"
	"bourse/contracts/policies"
	"bourse/experiments"
	"bourse/experiments/metrics"
	"bourse/experiments/scenario"
	"bourse/workloadgen"
)

const usualDecisions = 60

var decisions = flag.Int("decisions", usualDecisions, "random decisions that TestExplain explains")

// TestExplain explains random decisions under all policies. It compares the explanations with
// complete runs in which the job has other terms from the start. The smallest change must
// reverse the decision, and a change that is one step smaller must not. The outcomes of all
// jobs must agree to the micro-dollar. A branch without changes must end like its run.
func TestExplain(t *testing.T) {
	t.Parallel()
	per := make(map[string]int)
	changes, rejected := 0, 0
	total := 0
	for n := uint64(0); total < *decisions; n++ {
		p := random(t, n)
		if p == nil {
			continue
		}
		rng := rand.New(rand.NewPCG(n, 77))
		name := p.Experiment.Configurations[0].Admission[0].Name
		for range 2 {
			if err := explained(p, rng, &changes, &rejected); err != nil {
				t.Errorf("scenario %d: %s: %v", n, name, err)
			}
			per[name]++
			total++
		}
	}
	for _, name := range policies.Table(nil, nil).Names() {
		if per[name] == 0 {
			t.Errorf("%s: no decision was explained", name)
		}
	}
	if changes < total/2 || rejected < total/10 {
		t.Errorf("%d decisions, %d of them rejections, have %d changes: too few", total, rejected, changes)
	}
	t.Logf("%d decisions, %d of them rejections, %d changes: %v", total, rejected, changes, per)
}

// explained explains the decision on a random job and checks the explanation.
func explained(p *experiments.Prepared, rng *rand.Rand, changes, rejected *int) error {
	ctx := context.Background()
	tr, err := p.Trial(0, 0)
	if err != nil {
		return err
	}
	n := rng.IntN(len(tr.Plan))
	m, run, err := tr.Before(ctx, 0, tr.Plan, experiments.At{Position: n})
	if err != nil || m == nil {
		return err
	}
	other, err := p.Trial(0, 0)
	if err != nil {
		return err
	}
	plain, err := other.Run(ctx, 0, other.Plan)
	if err != nil {
		return err
	}
	if err := alikeJobs(plain.Jobs, run.Jobs); err != nil {
		return fmt.Errorf("with a snapshot: %w", err)
	}
	x := &explainer{Snapshot: m, jobs: run.Jobs, end: run.End, alpha: float64(rng.IntN(3)) / 2, job: tr.Plan[n].ID}
	asked := m.Terms()
	whole, err := wholly(p, n, &asked)
	if err != nil {
		return err
	}
	took := run.Jobs[m.Position].Bargained
	if err := alikeJobs(whole, run.Jobs); err != nil && !took {
		return fmt.Errorf("as it was: %w", err)
	}
	rest, err := m.Branch().Finish(ctx, &asked)
	if err != nil {
		return err
	}
	if err := alikeJobs(whole, rest); err != nil {
		return fmt.Errorf("continued from %v s: %w", m.Now, err)
	}
	r, err := x.explain(ctx)
	if err != nil {
		return err
	}
	if (r.Taken != nil) != took {
		return fmt.Errorf("job %d owner accepted an offer: %v, want %v", x.job, r.Taken, took)
	}
	was := &whole[m.Position]
	if accepted := was.Admitted(); accepted != (r.Decision.Verdict == "accept") {
		return fmt.Errorf("job %d: %v, want that of %v", x.job, r.Decision.Verdict, was.Contract.Outcome)
	}
	if r.Decision.Verdict == "reject" {
		*rejected++
		if r.Decision.Reason != string(was.Reason) {
			return fmt.Errorf("job %d: refused for %q, want %q", x.job, r.Decision.Reason, was.Reason)
		}
		for _, d := range policies.Tests(x.About) {
			if d.Reason == was.Reason && (r.Decision.Test == nil || r.Decision.Test.Missing() <= 0) {
				return fmt.Errorf("job %d: refused for %q by %+v", x.job, was.Reason, r.Decision.Test)
			}
		}
	}
	if (r.Without != nil) != was.Admitted() {
		return fmt.Errorf("job %d: %v, and without it %+v", x.job, was.Contract.Outcome, r.Without)
	}
	want := r.Decision.Verdict != "accept"
	for _, d := range x.Dimensions(asked, run.End) {
		if d.Of == "submit" && tr.Plan[n].After != 0 {
			continue // a complete run cannot change the submission time, because the job arrives when its predecessor ends
		}
		i := slices.IndexFunc(r.Changes, func(c change) bool { return c.Of == d.Of && c.By == d.By(stepsOf(&c, &d, asked, m.Now)) })
		if i < 0 {
			continue
		}
		c := &r.Changes[i]
		*changes++
		steps := stepsOf(c, &d, asked, m.Now)
		for k := steps; k >= max(1, steps-1); k-- {
			terms := d.At(k)
			jobs, err := wholly(p, n, &terms)
			if err != nil {
				return err
			}
			j := &jobs[slices.IndexFunc(jobs, func(j metrics.Job) bool { return j.ID == x.job })]
			got := j.Admitted()
			if !want {
				got = j.Contract.Outcome == contracts.Refused
			}
			if got != (k == steps) {
				return fmt.Errorf("job %d: %s %s, found %d steps: with %d it is %v", x.job, c.Of, c.By, steps, k, j.Contract.Outcome)
			}
			if k < steps || !want {
				continue
			}
			o, err := x.outcome(jobs, true)
			if err != nil {
				return err
			}
			if o.Externality != c.Then.Externality || o.Has != c.Then.Has || o.Paid != c.Then.Paid || o.Gain != c.Then.Gain || o.Lose != c.Then.Lose {
				return fmt.Errorf("job %d: %s %s: found %+v, want %+v as in a whole run", x.job, c.Of, c.By, c.Then, o)
			}
		}
	}
	return nil
}

// stepsOf returns the number of steps of d in the change, or 0 if it changes another
// dimension.
func stepsOf(c *change, d *experiments.Dimension, asked experiments.Terms, arrival float64) int64 {
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
		return by(c.Terms.Submit-arrival, 1)
	}
	if c.Terms.Class == one.Class {
		return 1
	}
	return 0
}

// wholly runs all jobs from the start. Job n has the terms t.
func wholly(p *experiments.Prepared, n int, t *experiments.Terms) ([]metrics.Job, error) {
	tr, err := p.Trial(0, 0)
	if err != nil {
		return nil, err
	}
	plan := slices.Clone(tr.Plan)
	job := plan[n]
	job.Arrival += t.Later
	plan = slices.Delete(plan, n, n+1)
	for t.Later > 0 && n < len(plan) && plan[n].Arrival <= job.Arrival {
		n++
	}
	_, run, err := tr.Before(context.Background(), 0, slices.Insert(plan, n, job), experiments.At{Position: n, Terms: t})
	if err != nil {
		return nil, err
	}
	return run.Jobs, nil
}

// alikeJobs reports the first difference between the outcomes of jobs.
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

// TestWithout compares the computed market without a job with runs of plans with and without
// that job. Every job has as many nodes as there are hosts, and nothing is random, so a
// decision about the job has no effect if the job is then rejected.
func TestWithout(t *testing.T) {
	t.Parallel()
	const seed = 5
	ctx := context.Background()
	harmed := 0
	without := make(map[string]int)
	for _, policy := range policies.Table(nil, nil).Names() {
		nodes, cpus, payment, options := 4, 2, "spot", ""
		fleet := 0 // number of hosts; 0 means as many as a job has nodes
		switch policy {
		case "bundle", "windows": // these policies sell the processors of one host
			fleet, cpus, payment = 1, 4, "budget"
		case "call", "posted", "spot": // these policies set the rates
			cpus, payment = 1, "bid"
		case "karma", "slices":
			payment = "free"
		case "queue": // this policy accepts only jobs with one node
			nodes, options = 1, ", interval: 5, matchmaker: first-available"
		case "reserve": // under this policy, a host is a cluster
			cpus = 4
		case "rac": // without random rejections
			options = ", reject: 0"
		case "partition": // each part of the hosts must fit a job
			options = ", reserved: 1"
		}
		if fleet == 0 {
			fleet = nodes
		}
		rng := rand.New(rand.NewPCG(seed, 9))
		plan := make(workloadgen.Plan, 32)
		at := 0.0
		for i := range plan {
			at += 39 * rng.ExpFloat64()
			runtime := 120 + 840*rng.Float64()
			plan[i] = workloadgen.Job{
				ID: int64(i), User: int64(i), Arrival: at, Runtime: runtime, Estimate: runtime, Deadline: runtime * (1 + 4*rng.Float64()),
				Nodes: nodes, Value: 1 + 9*rng.Float64(),
			}
		}
		dir := t.TempDir()
		var table bytes.Buffer
		if err := workloadgen.WriteCSV(&table, plan); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "plan.csv"), table.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("name: x\nseed: 5\nbase: {fleet: {hosts: %d, cpus: %d}, workload: {plan: plan.csv}, market: {sharing: %s, payment: %s}}\nconfigurations:\n  - {name: c, admission: [{name: %s%s}]}\n",
			fleet, cpus, policies.Of(policy).Sharing, payment, policy, options)
		e, err := scenario.Parse(filepath.Join(dir, "x.yaml"), []byte(text), scenario.Known{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := experiments.Prepare(&e)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := p.Trial(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		of := func(plan workloadgen.Plan) []metrics.Job {
			run, err := tr.Run(ctx, 0, plan)
			if err != nil {
				t.Fatal(err)
			}
			return run.Jobs
		}
		was := of(plan)
		for n := 1; n < len(plan); n += 3 {
			m, run, err := tr.Before(ctx, 0, plan, experiments.At{Position: n})
			if err != nil {
				t.Fatal(err)
			}
			x := &explainer{Snapshot: m, jobs: run.Jobs, end: run.End, alpha: 1, job: plan[n].ID}
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
				a, _ := outcomeOf(&others[i], 1)
				b, _ := outcomeOf(&is[i], 1)
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

// TestHelp checks the explanation of a job that no single change admits. The explanation must
// name terms that the policy accepts, and the other policies that accept the job.
func TestHelp(t *testing.T) {
	t.Parallel()
	e, err := scenario.Parse("a", []byte("name: a\nconfigurations:\n  - {name: b, fleet: {hosts: 2, cpus: 1}, workload: {model: {name: paper, jobs: 30}}, admission: [libra, be]}\n"), scenario.Known{})
	if err != nil {
		t.Fatal(err)
	}
	e = e.Expanded()
	helped := 0
	for job := int64(1); job <= 30; job++ {
		r, err := Explain(t.Context(), &e, nil, "b/libra/0", job, 1, false)
		if err != nil {
			t.Fatal(err)
		}
		if (r.Help != nil) != (r.Decision.Verdict != "accept" && len(r.Changes) == 0) {
			t.Errorf("job %d: %s with %d changes has help %+v", job, r.Decision.Verdict, len(r.Changes), r.Help)
		}
		if r.Help == nil {
			continue
		}
		helped++
		if text := r.Text(0); !strings.Contains(text, "No change to a single term helps.") {
			t.Errorf("job %d: got %s", job, text)
		}
		run, err := jobsOf(t.Context(), &scenario.Experiment{Name: e.Name, Seed: e.Seed, Replications: e.Replications, Alphas: e.Alphas, Configurations: []scenario.Configuration{only1(e.Configurations[0], "be")}}, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := slices.IndexFunc(run, func(j metrics.Job) bool { return j.ID == job }); run[n].Admitted() != slices.Contains(r.Help.Policies, "be") {
			t.Errorf("job %d: be accepts it: %v, found %v", job, run[n].Admitted(), r.Help.Policies)
		}
	}
	if helped == 0 {
		t.Error("some change of one term helps every job; want a job for which none does")
	}
}

// only1 returns c with only the named policy.
func only1(c scenario.Configuration, policy string) scenario.Configuration {
	c.Admission = slices.DeleteFunc(slices.Clone(c.Admission), func(a scenario.Choice) bool { return a.Label != policy })
	return c
}
