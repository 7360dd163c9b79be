package optimum_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"bourse/experiments/optimum"
)

// someWindows returns random windows whose times are integers and often equal.
func someWindows(rng *rand.Rand, most int) (windows []optimum.Window, capacity float64) {
	capacity = float64(1 + rng.IntN(4))
	for range 1 + rng.IntN(most) {
		w := optimum.Window{Opens: float64(rng.IntN(8)), Value: float64(rng.IntN(20)) / 2, Rate: float64(1 + rng.IntN(4))}
		length := float64(1 + rng.IntN(8))
		w.Closes = w.Opens + length
		w.Work = w.Rate * length * []float64{1, 1, 0.5, 0.3, 0.1, 1.2}[rng.IntN(6)]
		windows = append(windows, w)
		for rng.IntN(5) == 0 {
			windows = append(windows, w)
		}
	}
	return windows, capacity
}

// cellsOf returns the times between which the set of open windows does not change.
func cellsOf(windows []optimum.Window) (instants []float64) {
	for _, w := range windows {
		instants = append(instants, w.Opens, w.Closes)
	}
	slices.Sort(instants)
	return slices.Compact(instants)
}

// most returns the largest amount of work of w that can be done between two times.
func most(w *optimum.Window, from, to float64) float64 {
	return w.Rate * max(0, min(w.Closes, to)-max(w.Opens, from))
}

// program returns the optimum of the linear program that maximizes the sum of value × done /
// work over jobs and cells, computed by gonum's simplex method.
func program(t *testing.T, windows []optimum.Window, capacity float64) float64 {
	t.Helper()
	at := cellsOf(windows)
	cells, n := len(at)-1, len(windows)
	rows, free := cells+n+n*cells, n*cells
	a, b, c := mat.NewDense(rows, free+rows, nil), make([]float64, rows), make([]float64, free+rows)
	for i := range windows {
		w := &windows[i]
		for k := range cells {
			e := i*cells + k
			c[e] = -w.Value / w.Work
			a.Set(k, e, 1)
			a.Set(cells+i, e, 1)
			a.Set(cells+n+e, e, 1)
			b[cells+n+e] = most(w, at[k], at[k+1])
		}
		b[cells+i] = w.Work
	}
	for k := range cells {
		b[k] = capacity * (at[k+1] - at[k])
	}
	for r := range rows {
		a.Set(r, free+r, 1)
	}
	basis := make([]int, rows)
	for r := range basis {
		basis[r] = free + r
	}
	value, _, err := lp.Simplex(c, a, b, 1e-12, basis)
	if err != nil {
		t.Fatal(err)
	}
	return -value
}

// wholeOf returns the value of the best set of windows that can all be completed. It tests
// each set at every cut, which is a set of cells.
func wholeOf(windows []optimum.Window, capacity float64) (best float64) {
	at := cellsOf(windows)
	cells := len(at) - 1
	for set := range 1 << len(windows) {
		value, work := 0.0, 0.0
		for i, w := range windows {
			if set>>i&1 == 1 {
				value += w.Value
				work += w.Work
			}
		}
		if value <= best {
			continue
		}
		fits := true
		for cut := range 1 << cells {
			through := 0.0
			for k := range cells {
				if cut>>k&1 == 1 {
					through += capacity * (at[k+1] - at[k])
				}
			}
			for i := range windows {
				if set>>i&1 == 0 {
					continue
				}
				others := 0.0
				for k := range cells {
					if cut>>k&1 == 0 {
						others += most(&windows[i], at[k], at[k+1])
					}
				}
				through += min(windows[i].Work, others)
			}
			if through < work-1e-9 {
				fits = false
				break
			}
		}
		if fits {
			best = value
		}
	}
	return best
}

// TestRelax checks both bounds on small instances. The bound for divisible jobs is compared
// with the linear program, and the bound for whole jobs with every set of jobs and every
// cut.
func TestRelax(t *testing.T) {
	t.Parallel()
	apart := 0
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 44))
		windows, capacity := someWindows(rng, 6)
		if len(windows) > 7 {
			windows = windows[:7]
		}
		got := optimum.Relax(windows, capacity)
		parts, whole := program(t, windows, capacity), wholeOf(windows, capacity)
		if math.Abs(got.Parts-parts) > 1e-7*(1+parts) || !got.Exact || math.Abs(got.Whole-whole) > 1e-7*(1+whole) {
			t.Fatalf("seed %d: bounds %v and %v (exact: %v), want %v and %v, of %+v on %v", seed, got.Parts, got.Whole, got.Exact, parts, whole, windows, capacity)
		}
		value := 0.0
		for i, yes := range got.Chosen {
			if yes {
				value += windows[i].Value
			}
		}
		if math.Abs(value-whole) > 1e-9*(1+whole) {
			t.Fatalf("seed %d: the jobs chosen are worth %v, want %v", seed, value, whole)
		}
		if parts > whole+1e-6 {
			apart++
		}
	}
	if apart < 15 {
		t.Errorf("the bounds differ in %d instances only", apart)
	}
}

// TestRelaxByHand checks windows whose optimal value is known.
func TestRelaxByHand(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		windows      []optimum.Window
		capacity     float64
		parts, whole float64
	}{
		"nothing":                         {nil, 2, 0, 0},
		"one deadline is 100, four 1,000": {[]optimum.Window{{0, 100, 200, 2, 1}, {0, 1000, 200, 2, 1}, {0, 1000, 200, 2, 1}, {0, 1000, 200, 2, 1}, {0, 1000, 200, 2, 1}}, 2, 5, 5},
		"half of the second":              {[]optimum.Window{{0, 100, 200, 2, 3}, {0, 150, 200, 2, 2}}, 2, 4, 3},
		"interrupted":                     {[]optimum.Window{{0, 30, 20, 1, 1}, {10, 20, 10, 1, 5}}, 1, 6, 6},
		"a rate of its own":               {[]optimum.Window{{0, 10, 20, 1, 1}}, 9, 0.5, 0},
		"no deadline":                     {[]optimum.Window{{0, inf, 1e9, 1, 1}, {0, inf, 1e9, 1, 2}}, 1, 3, 3},
		"no time":                         {[]optimum.Window{{5, 5, 1, 1, 1}, {5, 4, 1, 1, 1}}, 1, 0, 0},
		"no work":                         {[]optimum.Window{{5, 5, 0, 1, 1}}, 1, 1, 1},
		"no processors":                   {[]optimum.Window{{0, 9, 1, 1, 1}}, 0, 0, 0},
		"no value":                        {[]optimum.Window{{0, 9, 1, 1, 0}, {0, 9, 1, 1, -1}}, 1, 0, 0},
		"gangs of three on five":          {[]optimum.Window{{0, 10, 30, 3, 3}, {0, 10, 30, 3, 3}}, 5, 5, 3},
	} {
		got := optimum.Relax(c.windows, c.capacity)
		if math.Abs(got.Parts-c.parts) > 1e-9 || math.Abs(got.Whole-c.whole) > 1e-9 || !got.Exact {
			t.Errorf("%s: bounds %v and %v (exact: %v), want %v and %v", name, got.Parts, got.Whole, got.Exact, c.parts, c.whole)
		}
	}
}

// TestRelaxMany checks that the bounds for many jobs are valid and cheap to compute. The value
// obtained by running jobs in the order of arrival, as far as capacity permits, must not exceed
// the bounds.
func TestRelaxMany(t *testing.T) {
	t.Parallel()
	for _, n := range []int{300, 3000, 40_000} {
		rng := rand.New(rand.NewPCG(uint64(n), 45))
		const capacity = 20
		windows := make([]optimum.Window, n)
		now := 0.0
		for i := range windows {
			now += rng.ExpFloat64()
			runtime := 1 + 20*rng.ExpFloat64()
			rate := float64(1 + rng.IntN(4))
			windows[i] = optimum.Window{Opens: now, Closes: now + runtime*(1+5*rng.Float64()), Work: runtime * rate, Rate: rate, Value: 1 + 9*rng.Float64()}
		}
		// The present jobs share the capacity equally.
		done, parts, whole := make([]float64, n), 0.0, 0.0
		at := cellsOf(windows)
		first := 0
		for k := range len(at) - 1 {
			wants := 0.0
			open := []int(nil)
			for i := first; i < n && windows[i].Opens <= at[k]; i++ {
				if windows[i].Closes >= at[k+1] && done[i] < windows[i].Work {
					open = append(open, i)
					wants += windows[i].Rate
				} else if i == first && windows[i].Closes <= at[k] {
					first++
				}
			}
			for _, i := range open {
				done[i] += min(windows[i].Work-done[i], windows[i].Rate*min(1, capacity/wants)*(at[k+1]-at[k]))
			}
		}
		total := 0.0
		for i, w := range windows {
			parts += w.Value * done[i] / w.Work
			if done[i] >= w.Work*(1-1e-9) {
				whole += w.Value
			}
			total += w.Value
		}
		got := optimum.Relax(windows, capacity)
		if got.Parts < parts || got.Whole < whole || got.Whole > got.Parts || got.Parts > total {
			t.Errorf("%d jobs: bounds %v and %v, want at least %v and %v, and at most %v", n, got.Parts, got.Whole, parts, whole, total)
		}
		if most := 100_000_000; got.Effort > most {
			t.Errorf("%d jobs take %d steps, want %d at most", n, got.Effort, most)
		}
		t.Logf("%d jobs: parts %v (%v reached), whole %v, of %v; %d steps", n, got.Parts, parts, got.Whole, total, got.Effort)
	}
}

// TestRelaxCoversSchedules compares the bounds with every schedule, in whole seconds, of jobs
// with several nodes. Each node runs on a single-processor host for any seconds. No schedule
// may have a higher value for users of any inelasticity. Most bounds must be reached.
func TestRelaxCoversSchedules(t *testing.T) {
	t.Parallel()
	reached := 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 46))
		hosts := 1 + rng.IntN(4)
		var windows []optimum.Window
		for range 1 + rng.IntN(4) {
			nodes, runtime, opens := 1+rng.IntN(hosts), 1+rng.IntN(3), rng.IntN(4)
			windows = append(windows, optimum.Window{
				Opens: float64(opens), Closes: float64(opens + runtime + rng.IntN(3) - rng.IntN(2)), Value: float64(1 + rng.IntN(9)),
				Work: float64(nodes * runtime), Rate: float64(nodes),
			})
		}
		states := map[[4]int]bool{{}: true} // amounts of work done, by job
		for at := range 10 {
			next := map[[4]int]bool{}
			var spend func(done [4]int, i, left int)
			spend = func(done [4]int, i, left int) {
				if i == len(windows) {
					next[done] = true
					return
				}
				w, most := &windows[i], 0
				if w.Opens <= float64(at) && float64(at+1) <= w.Closes {
					most = min(left, int(w.Rate), int(w.Work)-done[i])
				}
				for by := 0; by <= most; by++ {
					after := done
					after[i] += by
					spend(after, i+1, left-by)
				}
			}
			for done := range states {
				spend(done, 0, hosts)
			}
			states = next
		}
		got := optimum.Relax(windows, float64(hosts))
		for _, alpha := range []float64{0, 0.3, 0.5, 0.9, 1} {
			best := 0.0
			for done := range states {
				sum := 0.0
				for i, w := range windows {
					part := float64(done[i]) / w.Work
					if part < 1 {
						part *= 1 - alpha
					}
					sum += part * w.Value
				}
				best = max(best, sum)
			}
			bound := alpha*got.Whole + (1-alpha)*got.Parts
			if best > bound*(1+1e-12) {
				t.Fatalf("seed %d: a schedule is worth %v at alpha %v, the bound is %v, of %+v on %d hosts", seed, best, alpha, bound, windows, hosts)
			}
			if best > bound*(1-1e-9) {
				reached++
			}
		}
	}
	if reached < 900 {
		t.Errorf("%d of 1500 bounds are reached, want most", reached)
	}
}
