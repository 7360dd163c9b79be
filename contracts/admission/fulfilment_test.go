package admission

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"bourse/contracts"
)

// TestFulfilment checks that no sequence of outcomes has more violations than the bound, that α
// is at most 1, that the level rises after violations and falls after fulfilled contracts, and
// that it is a valid probability.
func TestFulfilment(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom([]float64{0.05, 0.6, 0.95}).Draw(t, "g")
		gamma := rapid.SampledFrom([]float64{0.01, 0.1, 1}).Draw(t, "gamma")
		f := newFulfilment(g)
		if f.level() != 1-(1-g) {
			t.Fatalf("level %v at first, want %v", f.level(), g)
		}
		violations := 0.0
		for n, violated := range rapid.SliceOfN(rapid.Bool(), 1, 200).Draw(t, "verdicts") {
			was := f.level()
			if f.judged(g, gamma, violated); violated {
				violations++
			}
			now := f.level()
			if violated && now < was || !violated && now > was || !(now > 0 && now < 1) || f.alpha > 1 {
				t.Fatalf("level %v after %v, violated is %v, α %v", now, was, violated, f.alpha)
			}
			if most := (1-g)*float64(n+1) + (1-g-f.alpha)/gamma; violations > most+1e-9*(1+math.Abs(most)) {
				t.Fatalf("%v violations of %d, want at most %v", violations, n+1, most)
			}
		}
	})
}

// TestJudged checks which outcomes count. Contracts do not count if they were cancelled, were
// still running when the market closed, or had a command that could not be started.
func TestJudged(t *testing.T) {
	t.Parallel()
	for o := contracts.Open; o <= contracts.Unstarted; o++ {
		p := statistical(defaultStatistical(), nil)
		was := p.kept.alpha
		p.Judged(nil, o)
		moves := map[contracts.Outcome]float64{contracts.Fulfilled: 1, contracts.Late: -1, contracts.Broken: -1, contracts.Killed: -1}[o]
		if got := p.kept.alpha - was; got != 0 != (moves != 0) || got*moves < 0 {
			t.Errorf("%v moves α by %v", o, got)
		}
	}
}
