package contrast

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"bourse/experiments/misuse"
	"bourse/experiments/results"
	"bourse/experiments/stats"
)

// dir writes results of one metric: in configuration x and y, policies a, b and c, whose
// values are base + noise, + 1, and twice as wide.
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

// TestCompare checks who is compared with whom, replication by replication, what is
// corrected for how many, and what is said of it.
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
	want := "x: a-b n 6 lower|x: a-c n 6 alike|x: b-c n 6 higher|y: a-b n 5 lower|y: a-c n 5 alike|y: b-c n 6 higher"
	if got := strings.Join(said, "|"); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	r := rows[0]
	if math.Abs(*r.Difference+1.025) > 1e-12 || !(*r.Lo95 < -1.025 && *r.Hi95 > -1.025 && *r.Hi95 < -1) || *r.Holm < *r.P || *r.Needed != 2 || *r.Alike < 0.99 {
		t.Errorf("%+v: difference %v [%v, %v], p %v, Holm %v, needed %v", r, *r.Difference, *r.Lo95, *r.Hi95, *r.P, *r.Holm, *r.Needed)
	}
	var ps []float64
	for _, r := range rows {
		ps = append(ps, *r.P)
	}
	for i, p := range stats.Holm(ps) {
		if *rows[i].Holm != p {
			t.Errorf("row %d: Holm %v, want %v", i, *rows[i].Holm, p)
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
		{Ask{Metrics: []string{"m"}, Across: Results}, 1, "want two across results"},
		{Ask{Metrics: []string{"m"}, Across: Policies}, 2, "want two across results"},
	} {
		_, err := Compare([]*results.Dir{one, one}[:c.n], c.ask)
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, new(misuse.Error)) {
			t.Errorf("%+v: %v, want %s", c.ask, err, c.want)
		}
	}
}

// TestWithin checks that what is said of a metric with bounds lies within them, and that
// its means have the interval of all tables, with the trials that their rows have.
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
