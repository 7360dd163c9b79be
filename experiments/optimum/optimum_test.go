package optimum_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bourse/experiments/optimum"
	"bourse/workloadgen"
)

const (
	capacity = 30 // number of processors in the paper: 15 hosts with two each
	hosts    = 15
)

// check tests the properties of every solution: the plan is feasible and has the stated value,
// which is at most the bound and equals the bound exactly if the plan is proven.
func check(t *testing.T, what string, jobs []workloadgen.Job, capacity, hosts int, s optimum.Solution) {
	t.Helper()
	if len(s.Chosen) != len(jobs) || !feasible(jobs, func(j int) bool { return s.Chosen[j] }, capacity, hosts) {
		t.Fatalf("%s: %v is not a feasible plan", what, s.Chosen)
	}
	var value float64
	for j, yes := range s.Chosen {
		if yes {
			value += jobs[j].Value
		}
	}
	if value != s.Value || s.Bound < s.Value || s.Proven != (s.Bound == s.Value) {
		t.Fatalf("%s: value %v (of the plan: %v), bound %v, proven %v", what, s.Value, value, s.Bound, s.Proven)
	}
}

// checkBest is like check. It also tests that the plan is proven and has the same value as the
// oracle's plan.
func checkBest(t *testing.T, what string, jobs []workloadgen.Job, capacity, hosts int, s optimum.Solution, want float64) {
	t.Helper()
	check(t, what, jobs, capacity, hosts, s)
	// Sums in another order differ by a few units in the last place.
	if !s.Proven || math.Abs(s.Value-want) > 1e-11*want {
		t.Fatalf("%s: value %v, proven %v, want %v", what, s.Value, s.Proven, want)
	}
}

// TestByHand checks the documented rules about intervals, hosts and values on examples computed
// by hand.
func TestByHand(t *testing.T) {
	t.Parallel()
	type jobs []struct {
		arrival, runtime float64
		nodes            int
		value            float64
	}
	for name, c := range map[string]struct {
		jobs            jobs
		capacity, hosts int
		want            float64
	}{
		"nothing":                         {nil, 4, 4, 0},
		"one ends as another arrives":     {jobs{{0, 10, 4, 1}, {10, 5, 4, 2}}, 4, 4, 3},
		"one ends after another arrives":  {jobs{{0, 10.5, 4, 1}, {10, 5, 4, 2}}, 4, 4, 2},
		"both arrive at once":             {jobs{{0, 10, 3, 1}, {0, 5, 3, 2}}, 4, 4, 2},
		"both fit at once":                {jobs{{0, 10, 2, 1}, {0, 5, 2, 2}}, 4, 4, 3},
		"more nodes than hosts":           {jobs{{0, 10, 3, 5}, {0, 10, 2, 1}}, 8, 2, 1},
		"more nodes than processors":      {jobs{{0, 10, 5, 5}, {0, 10, 2, 1}}, 4, 9, 1},
		"no processors":                   {jobs{{0, 10, 1, 5}}, 0, 9, 0},
		"no runtime holds nothing":        {jobs{{5, 0, 9, 5}, {0, 10, 4, 1}}, 4, 9, 6},
		"processors without end":          {jobs{{0, 10, 1 << 20, 5}, {0, 10, 1 << 29, 1}}, math.MaxInt, math.MaxInt, 6},
		"no runtime but too wide":         {jobs{{5, 0, 9, 5}}, 9, 8, 0},
		"no value":                        {jobs{{0, 10, 1, 0}, {0, 10, 1, -3}}, 4, 4, 0},
		"two small beat one large":        {jobs{{0, 10, 4, 5}, {1, 2, 2, 3}, {1, 2, 2, 3}}, 4, 4, 6},
		"one long beats a chain":          {jobs{{0, 10, 4, 5}, {1, 2, 2, 2}, {4, 2, 2, 2}}, 4, 4, 5},
		"a chain beats one long":          {jobs{{0, 10, 4, 5}, {1, 2, 2, 3}, {4, 2, 2, 3}}, 4, 4, 6},
		"the fraction is worth more":      {jobs{{0, 10, 3, 3}, {0, 10, 3, 3}, {0, 10, 3, 3}}, 5, 5, 3},
		"two problems with time between":  {jobs{{0, 10, 3, 3}, {1, 10, 3, 4}, {20, 10, 3, 5}, {21, 10, 3, 6}}, 5, 5, 10},
		"one problem out of order":        {jobs{{21, 10, 3, 6}, {0, 10, 3, 3}, {20, 10, 3, 5}, {1, 21, 3, 4}}, 5, 5, 9},
		"arrivals before the run's start": {jobs{{-20, 10, 3, 3}, {-12, 10, 3, 4}}, 5, 5, 4},
	} {
		var plan workloadgen.Plan
		for _, j := range c.jobs {
			plan = append(plan, workloadgen.Job{Arrival: j.arrival, Runtime: j.runtime, Nodes: j.nodes, Value: j.value})
		}
		checkBest(t, name, plan, c.capacity, c.hosts, new(optimum.Solver).Solve(plan, c.capacity, c.hosts, optimum.Limits{}), c.want)
	}
}

// TestBruteForce compares the optimum with a search of every subset, on small problems with
// many ties and adjacent intervals.
func TestBruteForce(t *testing.T) {
	t.Parallel()
	var s optimum.Solver
	for seed := range uint64(800) {
		rng := rand.New(rand.NewPCG(seed, 1))
		jobs, capacity := smallJobs(rng, 12), 1+rng.IntN(20)
		what := fmt.Sprintf("seed %d", seed)
		want := bruteForce(jobs, capacity, 7)
		checkBest(t, what, jobs, capacity, 7, s.Solve(jobs, capacity, 7, optimum.Limits{}), want)
		if got := plain(jobs, capacity, 7); math.Abs(got-want) > 1e-11*want {
			t.Fatalf("%s: the plain program says %v, brute force %v", what, got, want)
		}
	}
}

// TestNarrow checks on the same problems that the value and the bound enclose the optimum even
// if only one, two or three states are stored.
func TestNarrow(t *testing.T) {
	t.Parallel()
	var s optimum.Solver
	unproven := 0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		jobs, capacity := smallJobs(rng, 30), 1+rng.IntN(20)
		want := plain(jobs, capacity, 8)
		got := s.Solve(jobs, capacity, 8, optimum.Limits{Width: 1 + int(seed%3)})
		what := fmt.Sprintf("seed %d", seed)
		check(t, what, jobs, capacity, 8, got)
		if got.Value > want*(1+1e-11) || got.Bound < want*(1-1e-11) {
			t.Fatalf("%s: value %v and bound %v, want them around %v", what, got.Value, got.Bound, want)
		}
		if !got.Proven {
			unproven++
		}
	}
	if unproven < 200 {
		t.Errorf("only %d problems are too hard for a few states", unproven)
	}
}

// TestBruteForceLarger does the same as TestBruteForce with 18 jobs of the paper's kind at high
// load.
func TestBruteForceLarger(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		jobs := paperJobs(rand.New(rand.NewPCG(seed, 2)), 18, 5, 40)
		want := bruteForce(jobs, capacity, hosts)
		checkBest(t, fmt.Sprintf("seed %d", seed), jobs, capacity, hosts, new(optimum.Solver).Solve(jobs, capacity, hosts, optimum.Limits{}), want)
	}
}

// TestPaper compares traces of the paper's size with the plain dynamic program, at low and
// high load and denser, with Pareto and with equal values.
func TestPaper(t *testing.T) {
	t.Parallel()
	var s optimum.Solver
	for _, load := range [][2]float64{{90, 153.66}, {30, 92.36}, {5, 60}} {
		for seed := range uint64(25) {
			jobs := paperJobs(rand.New(rand.NewPCG(seed, 3)), 50, load[0], load[1])
			what := fmt.Sprintf("load %v, seed %d", load, seed)
			checkBest(t, what, jobs, capacity, hosts, s.Solve(jobs, capacity, hosts, optimum.Limits{}), plain(jobs, capacity, hosts))
			jobs = equal(jobs)
			checkBest(t, what+", equal", jobs, capacity, hosts, s.Solve(jobs, capacity, hosts, optimum.Limits{}), plain(jobs, capacity, hosts))
		}
	}
}

// TestLimits checks that the value and the bound enclose the optimum for any limit on
// effort, and that nothing is wrongly reported as proven.
func TestLimits(t *testing.T) {
	t.Parallel()
	var s optimum.Solver
	unproven := map[int]int{}
	for seed := range uint64(4) {
		jobs := equal(paperJobs(rand.New(rand.NewPCG(seed, 4)), 120, 5, 42))
		want := plain(jobs, capacity, hosts)
		for _, width := range []int{1, 2, 7, 33, 600, 1024, 0} {
			what := fmt.Sprintf("seed %d, width %d", seed, width)
			got := s.Solve(jobs, capacity, hosts, optimum.Limits{Width: width})
			check(t, what, jobs, capacity, hosts, got)
			if got.Value > want*(1+1e-11) || got.Bound < want*(1-1e-11) || got.Bound > 1.2*want {
				t.Fatalf("%s: value %v and bound %v, want them around %v", what, got.Value, got.Bound, want)
			}
			if !got.Proven {
				unproven[width]++
			}
		}
	}
	if unproven[1] == 0 || unproven[600] == 0 || unproven[0] > unproven[600] {
		t.Errorf("unproven by width: %v: the narrow ones should be, the wide ones less", unproven)
	}
}

// TestCrowd checks problems with far more active jobs than a state has slots. They are
// either all active at one time, which is a knapsack problem, or spread out.
func TestCrowd(t *testing.T) {
	t.Parallel()
	var s optimum.Solver
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 5))
		capacity := 60 + 20*int(seed)
		jobs := make([]workloadgen.Job, 300)
		knapsack := make([]float64, capacity+1)
		for i := range jobs {
			jobs[i] = workloadgen.Job{Arrival: float64(i), Runtime: 1000, Nodes: 1 + rng.IntN(8), Value: rng.Float64()}
			for c := capacity; c >= jobs[i].Nodes; c-- {
				knapsack[c] = max(knapsack[c], knapsack[c-jobs[i].Nodes]+jobs[i].Value)
			}
		}
		want := knapsack[capacity]
		got := s.Solve(jobs, capacity, hosts, optimum.Limits{})
		what := fmt.Sprintf("seed %d", seed)
		check(t, what, jobs, capacity, hosts, got)
		if got.Value > want*(1+1e-11) || got.Bound < want*(1-1e-11) || got.Bound > 1.01*got.Value {
			t.Fatalf("%s: value %v and bound %v, want them around %v", what, got.Value, got.Bound, want)
		}

		for i := range jobs {
			jobs[i].Runtime = 50 + 300*rng.Float64()
		}
		got = s.Solve(jobs, capacity, hosts, optimum.Limits{Width: 600})
		check(t, what+", spread", jobs, capacity, hosts, got)
		if got.Bound > 1.02*got.Value {
			t.Errorf("%s, spread: value %v and bound %v, want them within 2 %%", what, got.Value, got.Bound)
		}
	}
}

// TestSame checks that the value and the bound depend neither on the order of the jobs nor
// on earlier problems, and that the solver allocates no memory once it is warm.
func TestSame(t *testing.T) {
	var s optimum.Solver
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 6))
		jobs := paperJobs(rng, 50, 30, 92.36)
		first := s.Solve(jobs, capacity, hosts, optimum.Limits{})
		chosen := slices.Clone(first.Chosen)
		fresh := new(optimum.Solver).Solve(jobs, capacity, hosts, optimum.Limits{})
		if first.Value != fresh.Value || first.Bound != fresh.Bound || first.States != fresh.States || !slices.Equal(chosen, fresh.Chosen) {
			t.Fatalf("seed %d: %+v with a used solver, %+v with a new one", seed, first, fresh)
		}
		allocs := testing.AllocsPerRun(1, func() { s.Solve(jobs, capacity, hosts, optimum.Limits{}) })
		if allocs != 0 {
			t.Errorf("seed %d: %v allocations", seed, allocs)
		}
		rng.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
		if mixed := s.Solve(jobs, capacity, hosts, optimum.Limits{}); math.Abs(mixed.Value-fresh.Value) > 1e-11*fresh.Value {
			t.Fatalf("seed %d: %v in another order, %v before", seed, mixed.Value, fresh.Value)
		}
	}
}

// TestRefusals checks that numbers out of range cause a panic.
func TestRefusals(t *testing.T) {
	t.Parallel()
	good := workloadgen.Job{Arrival: 1, Runtime: 2, Nodes: 3, Value: 4}
	for name, spoil := range map[string]func(j *workloadgen.Job, capacity *int){
		"arrival NaN":      func(j *workloadgen.Job, _ *int) { j.Arrival = math.NaN() },
		"arrival infinite": func(j *workloadgen.Job, _ *int) { j.Arrival = math.Inf(-1) },
		"runtime NaN":      func(j *workloadgen.Job, _ *int) { j.Runtime = math.NaN() },
		"runtime endless":  func(j *workloadgen.Job, _ *int) { j.Runtime = math.Inf(1) },
		"runtime negative": func(j *workloadgen.Job, _ *int) { j.Runtime = -1 },
		"no nodes":         func(j *workloadgen.Job, _ *int) { j.Nodes = 0 },
		"value NaN":        func(j *workloadgen.Job, _ *int) { j.Value = math.NaN() },
		"capacity below 0": func(_ *workloadgen.Job, c *int) { *c = -1 },
	} {
		job, capacity := good, 5
		spoil(&job, &capacity)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			new(optimum.Solver).Solve([]workloadgen.Job{good, job}, capacity, hosts, optimum.Limits{})
		}()
	}
}

// This example plans three jobs on four processors. The two small jobs have a higher total
// value than the large one.
func ExampleSolver() {
	jobs := []workloadgen.Job{
		{Arrival: 0, Runtime: 600, Nodes: 4, Value: 50},
		{Arrival: 60, Runtime: 120, Nodes: 2, Value: 30},
		{Arrival: 300, Runtime: 120, Nodes: 3, Value: 30},
	}
	best := new(optimum.Solver).Solve(jobs, 4, 4, optimum.Limits{})
	fmt.Println(best.Value, best.Chosen, best.Proven)
	// Output: 60 [false true true] true
}
