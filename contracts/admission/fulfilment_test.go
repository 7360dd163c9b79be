package admission

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"bourse/contracts"
)

// TestFulfilment checks that no run of verdicts has more violations than the rule says, that
// α is at most 1, that the level moves against the verdicts, and that it can be asked for.
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

// TestJudged checks which outcomes are verdicts: neither who was taken back, nor who was
// still at work when the market closed, nor whose command cannot be started broke a promise
// or kept one; and that a class hears of its own contracts alone.
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
	d, err := newByClass(func(any) error { return nil }, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := d.(*byClass)
	sac, cac := p.policies["sac"].(*Statistical), p.policies["cac"].(*Capacity)
	for _, class := range []string{"", "be", "SAC", "none"} {
		p.Judged(&contracts.Request{Class: class}, contracts.Late)
	}
	if one := newFulfilment(sac.Guarantee); math.Abs(sac.kept.alpha-(one.alpha-sac.Gamma*sac.Guarantee)) > 1e-15 || cac.kept != one {
		t.Errorf("sac has heard of it as α %v, cac as %v", sac.kept.alpha, cac.kept.alpha)
	}
}

// TestJudgedApart checks that of two policies the one hears of a contract's end that let it
// in, and of each end once.
func TestJudgedApart(t *testing.T) {
	t.Parallel()
	low, high := statistical(defaultStatistical(), nil), statistical(defaultStatistical(), nil)
	first := low.kept.alpha
	a := &adaptive{low: low, high: high, admitted: map[contracts.ID]bool{1: true, 2: false}}
	p := &partition{reservation: low, admitted: map[contracts.ID]bool{1: true}}
	for _, c := range []struct {
		by           judge
		id           contracts.ID
		lower, upper bool
	}{
		{a, 1, false, true}, {a, 1, false, false}, {a, 2, true, false}, {a, 3, false, false},
		{p, 1, true, false}, {p, 1, false, false}, {p, 2, false, false},
	} {
		low.kept.alpha, high.kept.alpha = first, first
		c.by.Judged(&contracts.Request{ID: c.id}, contracts.Late)
		if low.kept.alpha != first != c.lower || high.kept.alpha != first != c.upper {
			t.Errorf("%T, contract %d: heard %v and %v", c.by, c.id, low.kept.alpha != first, high.kept.alpha != first)
		}
	}
}
