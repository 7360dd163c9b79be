package advise_test

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bourse/experiments/advise"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/stats"
)

// TestPaper checks the four worked examples of §5, eq. 14 to 17, and the printed
// thresholds, to two digits.
func TestPaper(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		eq            int
		pa, pw, q     float64
		threshold     float64
		reserving     bool
		spot, reserve float64 // expected values, computed by hand
	}{
		{14, 0.80, 0.90, 0.10, 0.89, false, 0.80, 0.72},
		{15, 0.63, 0.39, 0.14, 0.29, true, 0.25, 0.5418},
		{16, 0.71, 0.56, 0.12, 0.50, true, 0.44, 0.6248},
		{17, 0.60, 0.33, 0.10, 0.26, true, 0.23, 0.54},
	} {
		got, err := advise.Inelastic(c.pa, c.pw, c.q)
		if err != nil {
			t.Fatal(err)
		}
		if got.Reserving != c.reserving {
			t.Errorf("eq. %d: reserving = %v, want %v", c.eq, got.Reserving, c.reserving)
		}
		near(t, got.Threshold, c.threshold, 0.005)
		near(t, got.Spot, c.spot, 1e-12)
		near(t, got.Reserve, c.reserve, 1e-12)
	}
}

// TestElasticAndProvider checks eq. 18 and the provider's criterion on example (a) with 95 % of
// the work done. The thresholds are (0.95-0.1)/0.9 and (0.9+0.95-0.2)/1.8.
func TestElasticAndProvider(t *testing.T) {
	t.Parallel()
	e, err := advise.Elastic(0.80, 0.95, 0.10)
	if err != nil {
		t.Fatal(err)
	}
	near(t, e.Threshold, 0.85/0.9, 1e-12)
	p, err := advise.Provider(0.92, 0.90, 0.95, 0.10)
	if err != nil {
		t.Fatal(err)
	}
	near(t, p.Threshold, 1.65/1.8, 1e-12)
	if !p.Reserving {
		t.Error("0.92 is above 1.65/1.8, yet the provider is sent to the spot market")
	}
}

// TestEdges checks the limits of the ranges. A reservation is never better if the spot market
// is certain to fulfil the job, and always better if the spot market costs more than the
// expected value. If both are equal, the spot market is chosen.
func TestEdges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pa, pw, q, threshold float64
		reserving            bool
	}{
		{1, 1, 0, 1, false},
		{1, 1, 0.5, 1, false},
		{0, 0, 0, 0, false},
		{0.5, 0.5, 0, 0.5, false},
		{0, 0.25, 0.5, -0.5, true},
	} {
		got, err := advise.Inelastic(c.pa, c.pw, c.q)
		if err != nil || got.Threshold != c.threshold || got.Reserving != c.reserving {
			t.Errorf("Inelastic(%v, %v, %v) = %+v, %v, want %v and %v", c.pa, c.pw, c.q, got, err, c.threshold, c.reserving)
		}
	}
}

// TestVerdict checks eq. 12: except for ties, reservations are better exactly if U_g > U_b. The
// provider's threshold must lie between those of the two kinds of users.
func TestVerdict(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, most int) float64 { return float64(rapid.IntRange(0, most).Draw(t, name)) / 100 }
		pa, pw, pd, q := draw("pa", 100), draw("pw", 100), draw("pd", 100), draw("q", 99)
		i, err1 := advise.Inelastic(pa, pw, q)
		e, err2 := advise.Elastic(pa, pd, q)
		p, err3 := advise.Provider(pa, pw, pd, q)
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatal(err1, err2, err3)
		}
		for _, v := range []advise.Verdict{i, e, p} {
			if math.Abs(v.Reserve-v.Spot) > 1e-12 && v.Reserving != (v.Reserve > v.Spot) {
				t.Errorf("%+v contradicts itself", v)
			}
		}
		near(t, p.Threshold, (i.Threshold+e.Threshold)/2, 1e-9)
		near(t, p.Threshold, (pw+pd-2*q)/(2*(1-q)), 1e-9)
	})
}

// TestRefusals checks that values out of range are refused with a message that names them.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, bad := range []float64{-0.01, 1.01, math.NaN(), math.Inf(1), math.Inf(-1)} {
		refused(t, "p_a", verdict(advise.Provider(bad, 0.5, 0.5, 0.1)))
		refused(t, "p_w", verdict(advise.Provider(0.5, bad, 0.5, 0.1)))
		refused(t, "p_d", verdict(advise.Provider(0.5, 0.5, bad, 0.1)))
		refused(t, "p_d", verdict(advise.Elastic(0.5, bad, 0.1)))
		refused(t, "q", verdict(advise.Inelastic(0.5, 0.5, bad)))
	}
	refused(t, "q", verdict(advise.Inelastic(0.5, 0.5, 1)))
}

type answer struct {
	advise.Verdict
	err error
}

func verdict(v advise.Verdict, err error) answer { return answer{v, err} }

func refused(t *testing.T, name string, a answer) {
	t.Helper()
	if a.err == nil || !strings.HasPrefix(a.err.Error(), name+" = ") || a.Verdict != (advise.Verdict{}) {
		t.Errorf("got %+v, %v, want an error about %s", a.Verdict, a.err, name)
	}
}

func near(t interface {
	Helper()
	Errorf(string, ...any)
}, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%v, want %v within %v", got, want, tolerance)
	}
}

// This example shows eq. 15: for a user at high load, a reservation is better although two of
// five jobs are rejected.
func ExampleInelastic() {
	v, err := advise.Inelastic(0.63, 0.39, 0.14)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("threshold %.2f, reserve %v\n", v.Threshold, v.Reserving)
	// Output: threshold 0.29, reserve true
}

// TestUndecided checks that the advice is undecided exactly if p_a does not differ
// significantly from the threshold. The numbers must be means over the replications in which
// all of them are defined, and the q of the reservation market must be included.
func TestUndecided(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "r")
	w, err := results.Create(path, results.None, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := results.NewEncoder(results.None, nil)
	add := func(policy, metric string, values ...float64) {
		var rows []results.Metric
		for rep, v := range values {
			rows = append(rows, results.Metric{Configuration: "one", Admission: policy, Replication: rep, Metric: metric, Value: &v})
		}
		err = errors.Join(err, out.Metrics(rows))
	}
	add("be", "p_w", 0.5, 0.7, 0.4, 0.6)
	add("be", "p_d", 0.9, 0.95, 0.92, 0.93)
	add("be", "q", 0.1, 0.1, 0.1, 0.1)
	add("be", "p_a", 1, 1, 1, 1, 1)
	add("cac", "p_a", 0.5, 0.52, 0.51, 0.49, 0.1)
	add("cac", "q", 0.05, 0.05, 0.05, 0.05)
	b, wrong := out.Block()
	if err := errors.Join(err, wrong, w.Append(b), w.Close(results.Manifest{})); err != nil {
		t.Fatal(err)
	}
	dir, err := results.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	all, err := advise.Measured(dir, "be", "cac")
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	d, err := advise.Weigh(all)
	if err != nil {
		t.Fatal(err)
	}
	a := all[0]
	if a.N != 4 || math.Abs(a.Numbers["p_a"]-0.505) > 1e-12 || math.Abs(a.Numbers["q_reservation"]-0.05) > 1e-12 {
		t.Errorf("%+v, want four replications and p_a 0.505", a)
	}
	for i, want := range []string{"undecided", "spot", "spot"} {
		c := a.User[i]
		if c.Verdict != want || !(*c.Lo95 < c.Threshold && c.Threshold < *c.Hi95 && *c.AboveLo < *c.AboveHi) {
			t.Errorf("%s: %+v, want %s", c.For, c, want)
		}
	}
	// The jackknife interval of a mean divided by a constant is Student's interval of the
	// threshold.
	s := stats.Summarize([]float64{(0.5 - 0.1) / 0.9, (0.7 - 0.1) / 0.9, (0.4 - 0.1) / 0.9, (0.6 - 0.1) / 0.9}, stats.Quantity{})
	near(t, *a.User[0].Lo95, s.Lo95, 1e-9)
	near(t, *a.User[0].Hi95, s.Hi95, 1e-9)
	if text := d.Text(report.Terminal{}); !strings.Contains(text, "q of the reservation market = 0.05  (n 4)") || !strings.Contains(text, ": undecided (eq. 13; p_a minus it in [") {
		t.Errorf("%s", text)
	}
}
