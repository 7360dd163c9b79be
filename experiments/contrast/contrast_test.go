package contrast

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"bourse/experiments/misuse"
	"bourse/experiments/results"
	"bourse/experiments/stats"
)

// dir writes results of one metric. In the configurations x and y, the values of policies
// a, b and c are base + noise, base + noise + 1, and base + twice the noise.
func dir(t *testing.T, seed uint64) *results.Dir {
	t.Helper()
	path := filepath.Join(t.TempDir(), "r")
	w, err := results.Create(path, results.None, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := results.NewEncoder(results.None, nil)
	noise := []float64{0.3, -0.2, 0.1, -0.4, 0.2, float64(seed) / 10}
	for _, configuration := range []string{"x", "y"} {
		for k, policy := range []string{"a", "b", "c"} {
			var rows []results.Metric
			for rep, e := range noise {
				v := 5 + e
				if k == 1 {
					v += 1 + 0.01*float64(rep)
				}
				if k == 2 {
					v = 5 + 2*e
				}
				row := results.Metric{Configuration: configuration, Admission: policy, Replication: rep, Metric: "m", Value: &v, Trials: new(10)}
				if configuration == "y" && rep == 2 && k == 0 {
					row.Value = nil
				}
				rows = append(rows, row)
			}
			err = errors.Join(err, out.Metrics(rows))
		}
	}
	b, wrong := out.Block()
	if err := errors.Join(err, wrong, w.Append(b), w.Close(results.Manifest{Seed: seed})); err != nil {
		t.Fatal(err)
	}
	d, err := results.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestCompare checks the pairs that are compared, the pairing of replications, the correction
// for the number of comparisons, and the verdicts.
func TestCompare(t *testing.T) {
	t.Parallel()
	one := dir(t, 1)
	rows, err := Compare([]*results.Dir{one}, Ask{Metrics: []string{"m"}, Across: Policies, Margin: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, r := range rows {
		said = append(said, fmt.Sprintf("%s: %s-%s n %d %s", r.Within, r.First, r.Second, r.N, r.Verdict))
	}
	want := "x: a-b n 6 lower|x: a-c n 6 alike|x: b-c n 6 higher|y: a-b n 5 lower|y: a-c n 5 undecided|y: b-c n 6 higher"
	if got := strings.Join(said, "|"); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	r := rows[0]
	if math.Abs(*r.Difference+1.025) > 1e-12 || !(*r.Lo95 < -1.025 && *r.Hi95 > -1.025 && *r.Hi95 < -0.9) || *r.Needed != 3 || *r.Alike < 0.99 {
		t.Errorf("%+v: difference %v [%v, %v], p %v, corrected %v, needed %v", r, *r.Difference, *r.Lo95, *r.Hi95, *r.P, *r.Corrected, *r.Needed)
	}
	for i, r := range rows {
		if want := min(1, 6**r.P); math.Abs(*r.Corrected-want) > 1e-12 {
			t.Errorf("row %d: corrected %v, want %v, six times p", i, *r.Corrected, want)
		}
	}

	rows, err = Compare([]*results.Dir{one}, Ask{Metrics: []string{"m"}, Across: Configurations, Baseline: "x"})
	if err != nil || len(rows) != 3 || rows[0].First != "y" || rows[0].Second != "x" || rows[0].Within != "a" || rows[1].Verdict != "equal" || rows[1].P != nil {
		t.Errorf("configurations: %+v, %v", rows, err)
	}
	rows, err = Compare([]*results.Dir{one, dir(t, 2)}, Ask{Metrics: []string{"m"}, Across: Results})
	if err != nil || len(rows) != 6 || rows[0].Paired || rows[0].Within != "x, a" || rows[0].Verdict != "undecided" {
		t.Errorf("results of two seeds: %+v, %v", rows, err)
	}
	rows, err = Compare([]*results.Dir{one, dir(t, 1)}, Ask{Metrics: []string{"m"}, Across: Results})
	if err != nil || !rows[0].Paired || rows[0].Verdict != "equal" {
		t.Errorf("results of one seed: %+v, %v", rows, err)
	}
	for _, c := range []struct {
		ask  Ask
		n    int
		want string
	}{
		{Ask{Metrics: []string{"m"}, Across: Policies, Baseline: "d"}, 1, `baseline: found "d", want one of a, b, c`},
		{Ask{Metrics: []string{"q"}, Across: Policies}, 1, `found no metric "q"`},
		{Ask{Metrics: []string{"m"}, Across: Results}, 1, "want two for --across results"},
		{Ask{Metrics: []string{"m"}, Across: Policies}, 2, "want two for --across results"},
	} {
		_, err := Compare([]*results.Dir{one, one}[:c.n], c.ask)
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, new(misuse.Error)) {
			t.Errorf("%+v: %v, want %s", c.ask, err, c.want)
		}
	}
}

// TestWithin checks that intervals of a bounded metric lie within the bounds and that its
// means have the same intervals as all tables, based on the trials in the rows.
func TestWithin(t *testing.T) {
	t.Parallel()
	rows, err := Compare([]*results.Dir{dir(t, 1)}, Ask{Metrics: []string{"m"}, Across: Policies, Ends: map[string][2]float64{"m": {4.2, 6.6}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if !(*r.FirstLo95 >= 4.2 && *r.FirstHi95 <= 6.6 && *r.SecondLo95 >= 4.2 && *r.SecondHi95 <= 6.6 && *r.Hi95 <= 2.4 && *r.Lo95 >= -2.4) {
			t.Errorf("%s-%s: [%v, %v], [%v, %v], [%v, %v]", r.First, r.Second, *r.FirstLo95, *r.FirstHi95, *r.SecondLo95, *r.SecondHi95, *r.Lo95, *r.Hi95)
		}
	}
	lo, hi, _ := stats.Interval([]float64{5.3, 4.8, 5.1, 4.6, 5.2, 5.1}, stats.Quantity{Lo: 4.2, Hi: 6.6, Trials: 60}, Level)
	if r := rows[0]; math.Abs(*r.FirstLo95-lo) > 1e-12 || math.Abs(*r.FirstHi95-hi) > 1e-12 {
		t.Errorf("first: [%v, %v], want [%v, %v]", *r.FirstLo95, *r.FirstHi95, lo, hi)
	}
}

// TestSimultaneous checks with random samples that the verdict always agrees with the
// printed interval. In 95 % of samples, all intervals must contain their differences at the
// same time, within random error.
func TestSimultaneous(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	const draws, policies = 1500, 5
	missed, kinds := 0, map[string]int{}
	for range draws {
		n := 3 + rng.IntN(20)
		var rows []results.Metric
		for p := range policies {
			for rep := range n {
				x := 0.4*float64(p) + rng.NormFloat64()
				rows = append(rows, results.Metric{Configuration: "c", Admission: fmt.Sprint(p), Replication: rep, Metric: "m", Value: &x})
			}
		}
		found, err := Of(rows, Ask{Metrics: []string{"m"}, Across: Policies, Unsized: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		miss := 0
		for _, r := range found {
			kinds[r.Verdict]++
			want := "undecided"
			if *r.Lo95 > 0 {
				want = "higher"
			} else if *r.Hi95 < 0 {
				want = "lower"
			}
			if r.Verdict != want || r.Decided() != (want != "undecided") || (*r.Corrected <= Level) != r.Decided() {
				t.Fatalf("seed %d: %s of [%v, %v], p corrected %v", seed, r.Verdict, *r.Lo95, *r.Hi95, *r.Corrected)
			}
			one, _ := strconv.Atoi(r.First)
			other, _ := strconv.Atoi(r.Second)
			if truth := 0.4 * float64(one-other); truth < *r.Lo95 || truth > *r.Hi95 {
				miss = 1
			}
		}
		missed += miss
	}
	if share := float64(missed) / draws; share > Level+4*math.Sqrt(Level*(1-Level)/draws) {
		t.Errorf("seed %d: some interval misses in %.3f of the samples, want at most %v", seed, share, Level)
	}
	if kinds["lower"] == 0 || kinds["undecided"] == 0 {
		t.Errorf("seed %d: verdicts %v, want both kinds", seed, kinds)
	}
}
