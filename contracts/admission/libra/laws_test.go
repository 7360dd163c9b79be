package libra

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse/contracts"
	"bourse/contracts/admission/policytest"
	"bourse/contracts/sharing"
)

func drawSpare(t *rapid.T) string {
	return rapid.SampledFrom([]string{"none", "proportional", "equal"}).Draw(t, "spare")
}

// TestIdleHostTakesAll checks that LibraRisk accepts any job on an idle host,
// even one whose estimate exceeds its deadline (Lemma 1), and Libra does not.
func TestIdleHostTakesAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := options{"spare": drawSpare(t)}
		v := &still{policytest.Still{Specs: policytest.Uniform(3), Allocations: make([][]contracts.Allocation, 3)}}
		j := job{
			Estimate: rapid.Float64Range(1, 1e7).Draw(t, "estimate"), Deadline: rapid.Float64Range(1, 1e5).Draw(t, "deadline"),
			Procs: rapid.IntRange(1, 3).Draw(t, "procs"),
		}
		r := j.Request()
		if d := newDecider(t, "librarisk", o).Decide(0, &r, v); d.Verdict != contracts.Accept {
			t.Errorf("librarisk: %v", d.Reason)
		}
		if d := newDecider(t, "libra", nil).Decide(0, &r, v); (d.Verdict == contracts.Accept) != (j.Estimate <= j.Deadline*(1+1e-9)) {
			t.Errorf("libra: %v, estimate %v and deadline %v", d.Verdict, j.Estimate, j.Deadline)
		}
	})
}

// drawNode draws the tasks on a host, often with needs that just fit or with equal deadlines.
// It returns a function that fills a new projection at each call.
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

// TestLemmas checks the lemmas of LibraRisk against the full projection (spec 5.2):
//
//  1. a single task has no risk;
//  2. if needs fit, no task is delayed;
//  3. if they do not fit, there is no risk exactly if all deadlines are equal.
func TestLemmas(t *testing.T) {
	t.Parallel()
	seen := [4]int{}
	rapid.Check(t, func(t *rapid.T) {
		node := drawNode(t, drawSpare(t), "dynamic")
		p := node()
		n := len(p.Left)
		total, _ := p.needs()
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
	if !testing.Short() && slices.Contains(seen[1:], 0) { // a short run draws only a few hosts
		t.Errorf("cases of the lemmas: %v, want some of each", seen[1:])
	}
}

// TestLemmasAsProjected checks that on 3,000 random hosts the lemmas decide as the full
// projection does, under each rule for spare capacity and each limit on the processors of one
// task.
func TestLemmasAsProjected(t *testing.T) {
	t.Parallel()
	decided := map[bool]int{}
	for seed := range 3000 {
		most := []float64{1, 0.5, 0.2}[seed%3]
		n := sharing.Node{Size: 1, Most: most}
		node := rapid.Custom(func(t *rapid.T) func() *projection { return drawNode(t, drawSpare(t), "dynamic") }).Example(seed)
		got, p := node().lemmas(n), node()
		p.delays(n)
		want := RiskOf(p.Delay, p.Span).Zero()
		if got != want {
			p := node()
			t.Errorf("host %d: %v, want %v: left %v, span %v, keep %v, most %v", seed, got, want, p.Left, p.Span, p.Keep, most)
		}
		decided[want]++
	}
	if decided[true] < 100 || decided[false] < 100 {
		t.Errorf("without risk, with: %v: too few of one to tell", decided)
	}
}

// TestOtherProjections checks that the static projection never finds a risk, so it cannot be
// the projection of the paper. It also checks that incumbent and dynamic shares give the same
// risk unless deadlines are equal (spec 5.2).
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
		if total, _ := p.needs(); len(p.Span) > 1 && slices.Min(p.Span) == slices.Max(p.Span) && total > 1 {
			return
		}
		if got, want := as("incumbent").project(one), as("dynamic").project(one); got != want {
			t.Errorf("incumbent: %v, dynamic: %v, left %v, spans %v", got, want, p.Left, p.Span)
		}
	})
}
