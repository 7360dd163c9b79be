package admission

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse/contracts"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// drawJobs draws jobs in order of submission. Estimates are right if accurate,
// and otherwise from a fifth of the truth to five times it.
func drawJobs(t *rapid.T, fleet int, accurate bool) []job {
	jobs := make([]job, rapid.IntRange(1, 40).Draw(t, "jobs"))
	now := 0.0
	for i := range jobs {
		now += rapid.Float64Range(0, 200).Draw(t, "gap")
		runtime := rapid.Float64Range(1, 500).Draw(t, "runtime")
		estimate := runtime
		if !accurate {
			estimate *= math.Exp(rapid.Float64Range(-1.6, 1.6).Draw(t, "error"))
		}
		hard := rapid.Bool().Draw(t, "hard")
		jobs[i] = job{
			ID: int64(i), Submit: now, Runtime: runtime, Estimate: estimate,
			Deadline: runtime * rapid.Float64Range(1.01, 10).Draw(t, "factor"),
			Procs:    rapid.IntRange(1, fleet).Draw(t, "procs"), Hard: &hard,
			Budget: runtime * rapid.Float64Range(0.1, 10).Draw(t, "budget"), Penalty: rapid.Float64Range(0, 1).Draw(t, "penalty"),
		}
	}
	return jobs
}

// drawSpecs draws a fleet of hosts of one processor, or of several with a cap.
func drawSpecs(t *rapid.T) []hosts.Spec {
	specs := uniform(rapid.IntRange(1, 6).Draw(t, "hosts"))
	several := rapid.Bool().Draw(t, "several processors")
	alike := rapid.Bool().Draw(t, "alike")
	for h := range specs {
		if alike && h > 0 {
			name := specs[h].Name
			specs[h] = specs[0]
			specs[h].Name = name
			continue
		}
		specs[h].Speed = rapid.SampledFrom([]float64{0.5, 1, 1, 2}).Draw(t, "speed")
		if several {
			specs[h].CPUs = float64(rapid.IntRange(1, 4).Draw(t, "cpus"))
			specs[h].Cap = rapid.SampledFrom([]float64{0, 1, 1.5}).Draw(t, "cap")
		}
	}
	return specs
}

func drawSpare(t *rapid.T) string {
	return rapid.SampledFrom([]string{"none", "proportional", "equal"}).Draw(t, "spare")
}

// TestLibraIsNeverLate checks that with accurate estimates every job that Libra
// accepts ends in time, whatever comes later and whoever gets spare capacity.
func TestLibraIsNeverLate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		specs := drawSpecs(t)
		w := newWorld(t, specs, "libra", options{"spare": drawSpare(t)})
		for id, f := range w.run(t, drawJobs(t, len(specs), true)) {
			if f.Outcome != contracts.Fulfilled {
				t.Errorf("job %d is %v: ended at %v, due %v", id, f.Outcome, f.Ended, f.Due())
			}
		}
	})
}

// TestHardIsNeverLate checks that with accurate estimates and strict protection
// LibraSLA delays no job with a hard deadline, and that it does delay soft ones.
func TestHardIsNeverLate(t *testing.T) {
	t.Parallel()
	late := 0
	rapid.Check(t, func(t *rapid.T) {
		specs := drawSpecs(t)
		for h := range specs {
			specs[h].CPUs, specs[h].Cap = 1, 0
		}
		w := newWorld(t, specs, "librasla", options{"late": rapid.SampledFrom([]string{"shift", "pressure"}).Draw(t, "late")})
		for id, f := range w.run(t, drawJobs(t, len(specs), true)) {
			switch {
			case f.Outcome == contracts.Fulfilled:
			case f.SLA.Soft:
				late++
			default:
				t.Errorf("hard job %d ended at %v, due %v", id, f.Ended, f.Due())
			}
		}
	})
	if late == 0 && !testing.Short() { // 20 draws may have none
		t.Error("no soft job was ever delayed: nothing was tested")
	}
}

// TestIdleHostTakesAll checks that LibraRisk accepts any job on an idle host,
// even one whose estimate exceeds its deadline (Lemma 1), and Libra does not.
func TestIdleHostTakesAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := options{"spare": drawSpare(t), "plain": rapid.Bool().Draw(t, "plain")}
		v := &still{specs: uniform(3), on: make([][]contracts.Allocation, 3)}
		j := job{
			Estimate: rapid.Float64Range(1, 1e7).Draw(t, "estimate"), Deadline: rapid.Float64Range(1, 1e5).Draw(t, "deadline"),
			Procs: rapid.IntRange(1, 3).Draw(t, "procs"),
		}
		r := j.request()
		if d := newDecider(t, "librarisk", o).Decide(0, &r, v); d.Verdict != contracts.Accept {
			t.Errorf("librarisk: %v", d.Reason)
		}
		if d := newDecider(t, "libra", nil).Decide(0, &r, v); (d.Verdict == contracts.Accept) != (j.Estimate <= j.Deadline*(1+1e-9)) {
			t.Errorf("libra: %v, estimate %v and deadline %v", d.Verdict, j.Estimate, j.Deadline)
		}
	})
}

// drawNode draws the tasks on a host, often with needs that just fit or with
// equal deadlines, and fills in a projection that is made anew at each call.
func drawNode(t *rapid.T, spare, shares string) func() *projection {
	n := rapid.IntRange(1, 8).Draw(t, "tasks")
	equal := rapid.IntRange(0, 3).Draw(t, "equal") == 0
	full := rapid.IntRange(0, 3).Draw(t, "full") == 0
	var left, span, keep []float64
	total := 0.0
	for i := range n {
		span = append(span, rapid.Float64Range(10, 1000).Draw(t, "span"))
		if equal {
			span[i] = span[0]
		}
		need := rapid.Float64Range(0.01, 2/float64(n)).Draw(t, "need")
		total += need
		left, keep = append(left, need*span[i]), append(keep, 0)
		if rapid.IntRange(0, 9).Draw(t, "used up") == 0 {
			left[i], keep[i] = 0, need
		}
	}
	for i := range left {
		if full {
			left[i] /= total
			keep[i] /= total
		}
	}
	return func() *projection {
		p := &projection{Spare: sharing.Spare(spare), Shares: shares}
		for i := range left {
			p.Add(left[i], span[i], keep[i])
		}
		return p
	}
}

// TestLemmas checks what LibraRisk decides by, by the full projection (spec 5.2):
//
//  1. a single task has no risk;
//  2. if needs fit, nobody is delayed;
//  3. if they do not, there is no risk just when all deadlines are equal.
func TestLemmas(t *testing.T) {
	t.Parallel()
	seen := [4]int{}
	rapid.Check(t, func(t *rapid.T) {
		node := drawNode(t, drawSpare(t), "dynamic")
		p := node()
		n, total := len(p.Left), p.total()
		first, last := slices.Min(p.Span), slices.Max(p.Span)
		p.delays(one)
		risk := RiskOf(p.Delay, p.Span)
		lemma := 3
		switch {
		case n == 1:
			lemma = 1
		case total <= 1:
			lemma = 2
		}
		seen[lemma]++
		if lemma == 2 {
			for i, d := range p.Delay {
				if d > 1e-6 {
					t.Errorf("needs sum to %v, and task %d is %v s late", total, i, d)
				}
			}
		}
		if want := lemma != 3 || first == last || total <= 1+sliver; risk.Zero() != want {
			t.Errorf("%d tasks that need %v, deadlines from %v to %v: sigma %v", n, total, first, last, risk.Sigma)
		}
	})
	if !testing.Short() && slices.Contains(seen[1:], 0) { // a short run draws a few
		t.Errorf("cases of the lemmas: %v, want some of each", seen[1:])
	}
}

// TestLemmasAsProjected checks that on 1,000 random hosts the lemmas decide as the full
// projection does, under each rule for spare capacity.
func TestLemmasAsProjected(t *testing.T) {
	t.Parallel()
	decided := map[bool]int{}
	for seed := range 1000 {
		node := rapid.Custom(func(t *rapid.T) func() *projection { return drawNode(t, drawSpare(t), "dynamic") }).Example(seed)
		got, want := node().lemmas(one), node().project(one)
		if got != want {
			p := node()
			t.Errorf("host %d: %v, want %v: left %v, span %v, keep %v", seed, got, want, p.Left, p.Span, p.Keep)
		}
		decided[want]++
	}
	if decided[true] < 100 || decided[false] < 100 {
		t.Errorf("without risk, with: %v: too few of one to tell", decided)
	}
}

// TestRiskAsRead checks that in whole runs with wrong estimates all jobs meet the fate
// that the plain reading of LibraRisk has for them.
func TestRiskAsRead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		specs, spare := drawSpecs(t), drawSpare(t)
		jobs := drawJobs(t, len(specs), false)
		order := rapid.SampledFrom([]string{"index", "bestfit"}).Draw(t, "order")
		got := newWorld(t, specs, "librarisk", options{"spare": spare, "order": order}).run(t, jobs)
		want := newWorld(t, specs, "librarisk", options{"spare": spare, "order": order, "plain": true}).run(t, jobs)
		if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
			t.Errorf("%v, by its plain reading %v", g, w)
		}
	})
}

// TestLibraAsRead checks that Libra places every job where its plain reading does,
// which asks every host.
func TestLibraAsRead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		specs := drawSpecs(t)
		o := options{"spare": drawSpare(t), "overrun": rapid.SampledFrom([]string{"keep", "zero", "kill"}).Draw(t, "overrun")}
		jobs := drawJobs(t, min(len(specs), 4), rapid.Bool().Draw(t, "accurate"))
		got := brief(jobs, newWorld(t, specs, "libra", o).run(t, jobs))
		o["plain"] = true
		want := brief(jobs, newWorld(t, specs, "libra", o).run(t, jobs))
		if got != want {
			t.Errorf("got:\n%s\nby asking all:\n%s", got, want)
		}
	})
}

// TestLibraInWindows checks the same on busier and larger fleets.
func TestLibraInWindows(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		jobs := narrow(seed, 1500, 60)
		got := brief(jobs, newWorld(t, uniform(60), "libra", nil).run(t, jobs))
		want := brief(jobs, newWorld(t, uniform(60), "libra", options{"plain": true}).run(t, jobs))
		if got != want {
			t.Errorf("window %d is not placed as by asking all", seed)
		}
	}
}

// TestOtherProjections checks that the static projection sees no risk anywhere,
// which is why it cannot be meant, and that with incumbent shares risk is as with
// dynamic ones but for equal deadlines (spec 5.2).
func TestOtherProjections(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spare := drawSpare(t)
		node := drawNode(t, spare, "dynamic")
		as := func(shares string) *projection {
			p := node()
			p.Shares = shares
			return p
		}
		if p := as("static"); !p.project(one) {
			t.Errorf("static: delays %v of spans %v", p.Delay, p.Span)
		}
		p := node()
		if len(p.Span) > 1 && slices.Min(p.Span) == slices.Max(p.Span) && p.total() > 1 {
			return
		}
		if got, want := as("incumbent").project(one), as("dynamic").project(one); got != want {
			t.Errorf("incumbent: %v, dynamic: %v, left %v, spans %v", got, want, p.Left, p.Span)
		}
	})
}

// TestUtilityIsEarned checks that what the owners of the hosts and the provider
// have gained in the end is the sum of budgets less penalties over the jobs that
// completed (SLA, eq. 1), to the last micro-dollar each way.
func TestUtilityIsEarned(t *testing.T) {
	t.Parallel()
	beyond := 0
	rapid.Check(t, func(t *rapid.T) {
		specs := uniform(rapid.IntRange(1, 6).Draw(t, "hosts"))
		w := newWorld(t, specs, "librasla", nil)
		before := w.ledger.Balance(w.user).Float64()
		utility, n := 0.0, 0
		for _, f := range w.run(t, drawJobs(t, len(specs), true)) {
			own := f.SLA.Budget.Float64() - f.SLA.Penalty.Of(f.Delay)
			utility += own
			n++
			if own < 0 {
				beyond++
			}
			if got := f.Paid.Float64() - f.Penalty.Float64(); math.Abs(got-own) > 2e-6 {
				t.Errorf("job %d: earned %v, want %v", f.ID, got, own)
			}
		}
		if got := before - w.ledger.Balance(w.user).Float64(); math.Abs(got-utility) > 2e-6*float64(n+1) {
			t.Errorf("users paid %v, want %v", got, utility)
		}
	})
	if beyond == 0 && !testing.Short() { // 20 draws may have none
		t.Error("no penalty ever exceeded its budget: nothing was tested")
	}
}
