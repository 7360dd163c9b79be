package study

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bourse/experiments/report"
)

// normals are shuffled quantiles of the standard normal distribution.
var normals = func() (all [1 << 13]float64) {
	for i := range all {
		all[i] = math.Sqrt2 * math.Erfinv(2*(float64(i)+0.5)/float64(len(all))-1)
	}
	rand.New(rand.NewPCG(23, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}()

// normal returns a normal draw that depends only on its arguments.
func normal(seed, arm, rep int) float64 {
	x := uint64(seed)*0x9e3779b97f4a7c15 ^ uint64(arm)*0xbf58476d1ce4e5b9 ^ uint64(rep)*0x94d049bb133111eb
	x = (x ^ x>>31) * 0xd6e8feb86659fd93
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return normals[(x^x>>32)%uint64(len(normals))]
}

// each returns a sampler for a function of arm and replication.
func each(value func(arm, rep int) float64) sampler {
	return func(ctx context.Context, arms []int, from, to int) ([][]float64, error) {
		all := make([][]float64, len(arms))
		for i, arm := range arms {
			for rep := from; rep < to; rep++ {
				all[i] = append(all[i], value(arm, rep))
			}
		}
		return all, ctx.Err()
	}
}

// A field is a set of arms whose values lie between lo and hi.
type field struct {
	Goal
	arms   int
	lo, hi float64
}

// unbounded is a field whose values have no bounds.
func unbounded(arms, budget int) field {
	return field{Goal{Budget: budget}, arms, math.Inf(-1), math.Inf(1)}
}

// race returns the result of a race over f.
func (f field) race(ctx context.Context, s sampler, progress func()) (*Tuned, error) {
	r := race{Tuned: &Tuned{Goal: f.Goal, Settings: make([]settingRow, f.arms), lo: f.lo, hi: f.hi}, sample: s, known: make([][]report.Maybe, f.arms), progress: func(int) { progress() }}
	return r.Tuned, r.run(ctx)
}

func nothing() {}

// TestRace checks races on functions with a known best arm. This arm must be among those
// kept for at least 95 % of 1,000 seeds, and a race may use at most half of the
// replications of an even split. The arms share most of their noise, are proportions, are
// nearly equal, must be minimized, or lie along one dimension. The regret of the chosen arm
// must be within its bound as often.
func TestRace(t *testing.T) {
	t.Parallel()
	const seeds = 1000
	hill := func(arm int) float64 { x := float64(arm)/10 - 0.7; return -2 * x * x }
	valley := func(arm int) float64 { x := float64(arm)/30 - 0.7; return 4 * x * x }
	shared := func(mean func(arm int) float64) func(seed, arm, rep int) float64 {
		return func(seed, arm, rep int) float64 {
			return mean(arm) + normal(seed, -1, rep) + 0.05*normal(seed, arm, rep)
		}
	}
	for _, c := range []struct {
		name  string
		ask   field
		mean  func(arm int) float64
		value func(seed, arm, rep int) float64
		half  bool // whether the race may use at most half of the replications of an even split
	}{
		{"a hill", unbounded(11, 11*100), hill, shared(hill), true},
		{"the bottom of a valley, by golden section", field{Goal{Budget: 31 * 100, Least: true, Smooth: true}, 31, math.Inf(-1), math.Inf(1)},
			valley, shared(valley), true},
		{"nearly alike", unbounded(5, 5*60), func(arm int) float64 { return 0.001 * float64(arm) },
			shared(func(arm int) float64 { return 0.001 * float64(arm) }), false},
		{"proportions", field{Goal{Budget: 12 * 150}, 12, 0, 1}, func(arm int) float64 { return 0.2 + 0.06*float64(arm) },
			func(seed, arm, rep int) float64 { // means of 10 jobs; with fewer arms, less is saved: 0.56 was needed for 6 arms twice as far apart
				rng := rand.New(rand.NewPCG(uint64(seed), uint64(rep)))
				kept := 0.0
				for range 10 {
					if rng.Float64() < 0.2+0.06*float64(arm) {
						kept += 0.1
					}
				}
				return min(1, kept)
			}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			kept, bounded, spent, even, skipped := 0, 0, 0, 0, 0
			best := 0
			for arm := range c.ask.arms {
				if better := c.mean(arm) > c.mean(best); better != c.ask.Least && c.mean(arm) != c.mean(best) {
					best = arm
				}
			}
			for seed := range seeds {
				f, err := c.ask.race(context.Background(), each(func(arm, rep int) float64 { return c.value(seed, arm, rep) }), nothing)
				if err != nil {
					t.Fatal(err)
				}
				if slices.Contains(f.Kept, best) {
					kept++
				}
				if math.Abs(c.mean(best)-c.mean(f.Best)) <= float64(f.Regret.Most) {
					bounded++
				}
				if f.Spent > c.ask.Budget {
					t.Fatalf("seed %d: spent %d of %d replications", seed, f.Spent, c.ask.Budget)
				}
				spent, even = spent+f.Spent, even+f.Even
				for _, a := range f.Settings {
					if a.N == 0 {
						skipped++
					}
				}
			}
			t.Logf("the best is kept in %d of %d seeds, regret bounded in %d, %.3f of an even split", kept, seeds, bounded, float64(spent)/float64(even))
			if kept < seeds*95/100 || bounded < seeds*95/100 {
				t.Errorf("seeds 0 to %d: the best is kept in %d and regret bounded in %d, want 95 %% at least", seeds-1, kept, bounded)
			}
			if c.ask.Smooth && skipped < seeds || !c.ask.Smooth && skipped > 0 {
				t.Errorf("seeds 0 to %d: %d arms were never run, want one in each race by golden section at least, and none elsewhere", seeds-1, skipped)
			}
			if c.half && 2*spent > even {
				t.Errorf("seeds 0 to %d: %d replications, want half of the %d of an even split at most", seeds-1, spent, even)
			}
		})
	}
}

// TestRegret checks the estimate of the regret. Over many races with random means, its average
// must equal the average difference between the chosen arm and the best arm, within 20 %.
func TestRegret(t *testing.T) {
	t.Parallel()
	const seeds = 1500
	expected, lost := 0.0, 0.0
	for seed := range seeds {
		mean := func(arm int) float64 { return normal(seed, 100+arm, -1) }
		f, err := unbounded(4, 4*30).race(context.Background(), each(func(arm, rep int) float64 {
			return mean(arm) + 3*normal(seed, arm, rep)
		}), nothing)
		if err != nil {
			t.Fatal(err)
		}
		most := math.Inf(-1)
		for arm := range 4 {
			most = max(most, mean(arm))
		}
		expected, lost = expected+f.Regret.Expected/seeds, lost+(most-mean(f.Best))/seeds
	}
	t.Logf("expected %.4f, lost %.4f", expected, lost)
	if math.Abs(expected-lost) > lost/5 {
		t.Errorf("seeds 0 to %d: regret is expected to be %.4f and is %.4f, want them a fifth apart at most", seeds-1, expected, lost)
	}
}

// TestStops checks the reasons why races end, and the reports on arms.
func TestStops(t *testing.T) {
	t.Parallel()
	apart := each(func(arm, rep int) float64 { return 10*float64(arm) + normal(1, arm, rep) })
	alike := each(func(_, rep int) float64 { return normal(1, 0, rep) })
	race := func(ask field, s sampler) *Tuned {
		f, err := ask.race(context.Background(), s, nothing)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if f := race(unbounded(3, 3000), apart); f.Stop != Decided || f.Best != 2 || !slices.Equal(f.Kept, []int{2}) || f.Settings[0].By != 2 || f.Regret != (regret{Draws: f.Regret.Draws}) {
		t.Errorf("arms that differ much: %+v", f)
	}
	if f := race(unbounded(3, 60), alike); f.Stop != Spent || len(f.Kept) != 3 || f.Spent != 60 || f.Settings[1].Needed != 0 || f.Regret.Expected != 0 {
		t.Errorf("arms that are one and the same: %+v", f)
	}
	near := unbounded(2, 5000)
	near.Within = 0.5
	f := race(near, each(func(arm, rep int) float64 { return 0.01*float64(arm) + normal(1, arm, rep) }))
	if f.Stop != Near || !(f.Regret.Most <= 0.5) || f.Regret.Most == 0 {
		t.Errorf("arms nearer than what matters: %+v", f)
	}
	if other := f.Settings[1-f.Best]; other.Needed <= f.Settings[f.Best].N {
		t.Errorf("%d replications would tell the other arm apart, and %d did not", other.Needed, f.Settings[f.Best].N)
	}
	if f := race(unbounded(1, 10), apart); f.Stop != Decided || f.Spent != 5 {
		t.Errorf("one arm: %+v", f)
	}
}

// TestNeeded checks the predicted number of replications needed to distinguish two arms.
// The median of many races must be within a factor of two.
func TestNeeded(t *testing.T) {
	t.Parallel()
	var ratios []float64
	for seed := range 200 {
		value := each(func(arm, rep int) float64 { return 0.3*float64(arm) + normal(seed, arm, rep) })
		some, err := unbounded(2, 2*60).race(context.Background(), value, nothing)
		if err != nil {
			t.Fatal(err)
		}
		all, err := unbounded(2, 1e6).race(context.Background(), value, nothing)
		if err != nil {
			t.Fatal(err)
		}
		if some.Stop == Spent && some.Best == 1 && some.Settings[0].Needed > 0 {
			ratios = append(ratios, float64(all.Settings[1].N)/float64(some.Settings[0].Needed))
		}
	}
	slices.Sort(ratios)
	median := ratios[len(ratios)/2]
	t.Logf("%d races, median %.2f", len(ratios), median)
	if len(ratios) < 50 || median < 0.5 || median > 2 {
		t.Errorf("in %d races arms are told apart after %.2f times the replications said, in the median; want 50 and half to twice", len(ratios), median)
	}
}

// TestBrokenOff checks that a race whose context ends reports the results so far, and returns
// an error if there are none.
func TestBrokenOff(t *testing.T) {
	t.Parallel()
	value := func(arm, rep int) float64 { return normal(1, arm, rep) }
	race := func(rounds int) (*Tuned, error) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		return unbounded(3, 1000).race(ctx, each(value), func() {
			if rounds--; rounds == 0 {
				cancel()
			}
		})
	}
	if f, err := race(4); err != nil || f.Stop != Interrupted || len(f.Kept) != 3 || f.Spent != 3*8 {
		t.Errorf("broken off after four rounds: %+v, %v", f, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if f, err := unbounded(3, 1000).race(ctx, each(value), nothing); !errors.Is(err, context.Canceled) {
		t.Errorf("broken off at once: %+v, %v", f, err)
	}
	_, err := unbounded(3, 1000).race(context.Background(), each(func(arm, rep int) float64 {
		if arm == 1 {
			return math.NaN()
		}
		return value(arm, rep)
	}), nothing)
	if err == nil || !strings.Contains(err.Error(), "in each of 5 replications") {
		t.Errorf("an arm without values: %v", err)
	}
}

// This example runs 400 replications, after which two of five settings do not differ
// significantly.
func Example_race() {
	gain := []float64{0.2, 0.5, 0.9, 0.88, 0.3}
	value := func(arm, rep int) float64 { return gain[arm] + normal(1, -1, rep) + 0.1*normal(1, arm, rep) }
	f, err := unbounded(5, 400).race(context.Background(), each(value), nothing)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("best", f.Best, "kept", f.Kept, "after", f.Spent, "replications:", f.Stop)
	// Output:
	// best 2 kept [2 3] after 400 replications: spent
}
