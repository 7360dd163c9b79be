package market_test

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bourse/contracts/bidding"
	"bourse/contracts/policies"
	"bourse/contracts/sharing"
	"bourse/experiments/papers"
	"bourse/experiments/papers/market"
	"bourse/experiments/scenario"
	"bourse/workloadgen/models"
)

func preset(t *testing.T) scenario.Experiment {
	t.Helper()
	e, err := scenario.Parse("paper.yaml", papers.Presets()["paper"], scenario.Known{
		Admission: policies.Table(nil, nil).Names(),
		Bidding:   bidding.Table(nil).Names(),
		Sharing:   sharing.Table().Names(),
		Models:    models.Table().Names(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestPreset checks §4.1: fifty jobs of ten users on fifteen hosts with two processors, the
// two loads, and the three distributions of values. Every plug-in must accept its options.
func TestPreset(t *testing.T) {
	t.Parallel()
	e := preset(t)
	if e.Replications != 40 || len(e.Configurations) != 4 {
		t.Fatalf("%d replications of %d configurations, want 40 of 4", e.Replications, len(e.Configurations))
	}
	for i, want := range []struct {
		name, admission, value string
		min, mean              float64
	}{
		{"pareto-low", "be sac cac", "pareto", 90, 153.66},
		{"pareto-high", "be sac cac rac", "pareto", 30, 92.36},
		{"equal-high", "be sac cac", "equal", 30, 92.36},
		{"normal-high", "be sac cac", "normal", 30, 92.36},
	} {
		c := e.Configurations[i]
		var names []string
		for _, a := range c.Admission {
			names = append(names, a.Name)
			if _, err := policies.Table(nil, nil).New(a.Name, a.Decode); err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
		}
		if got := strings.Join(names, " "); c.Name != want.name || got != want.admission {
			t.Errorf("configuration %s under %s, want %s under %s", c.Name, got, want.name, want.admission)
		}
		if !reflect.DeepEqual(c.Fleet, scenario.Fleet{Hosts: 15, CPUs: 2, Speed: 1, Cap: 1}) || c.Market.Window != 300 {
			t.Errorf("%s: fleet %+v, window %v", c.Name, c.Fleet, c.Market.Window)
		}
		m := c.Workload.Model
		if _, err := models.Table().New(m.Name, m.Decode); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		got := models.PaperOptions{}
		if err := m.Decode(&got); err != nil {
			t.Fatal(err)
		}
		wanted := models.DefaultPaper()
		wanted.IAT.Min, wanted.IAT.Mean, wanted.Value.Name = want.min, want.mean, want.value
		if got.Value.Name != wanted.Value.Name || got.IAT != wanted.IAT || got.Runtime != wanted.Runtime ||
			got.Nodes != wanted.Nodes || got.Jobs != 50 || got.Users != 10 || got.Budget != 100 {
			t.Errorf("%s: workload %+v, want %+v", c.Name, got, wanted)
		}
	}
}

// TestShow checks that the preset stays the same experiment if it is printed with all fields
// and read again.
func TestShow(t *testing.T) {
	t.Parallel()
	var first, again bytes.Buffer
	if err := scenario.Write(&first, preset(t)); err != nil {
		t.Fatal(err)
	}
	e, err := scenario.Parse("shown.yaml", first.Bytes(), scenario.Known{})
	if err != nil {
		t.Fatal(err)
	}
	if err := scenario.Write(&again, e); err != nil {
		t.Fatal(err)
	}
	if first.String() != again.String() {
		t.Errorf("printed again:\n%s\nwant\n%s", &again, &first)
	}
}

// TestReference checks that the numbers are probabilities of measured metrics, one per
// case, and that equivalent numbers agree.
func TestReference(t *testing.T) {
	t.Parallel()
	r := papers.Of("paper")
	value := map[[3]string]float64{}
	for _, p := range r.Printed {
		for _, key := range cases(p) {
			if _, twice := value[key]; twice || !slices.Contains(r.Metrics, key[2]) {
				t.Errorf("%v is printed twice, or is not measured", key)
			}
			value[key] = p.Value[0].Float64()
		}
		if lo, hi := p.Value[0].Float64(), p.Value[len(p.Value)-1].Float64(); !(lo >= 0 && lo <= hi && hi <= 1) {
			t.Errorf("%v = %v to %v, want an interval in [0,1]", cases(p), lo, hi)
		}
		if !strings.HasPrefix(p.Source, "§") && !strings.HasPrefix(p.Source, "eq. ") {
			t.Errorf("%v: source %q", cases(p), p.Source)
		}
	}
	for key, x := range value {
		other, ok := map[string]string{"p_a": "rejections", "p_w": "violations"}[key[2]]
		if !ok {
			continue
		}
		if y, ok := value[[3]string{key[0], key[1], other}]; !ok || math.Abs(x+y-1) > 1e-12 {
			t.Errorf("%v = %v beside %s = %v, want a sum of 1", key, x, other, y)
		}
	}
}

// cases returns the configuration, admission and metric of each case of a number.
func cases(p papers.Printed) (all [][3]string) {
	for _, c := range p.Configuration {
		for _, a := range p.Admission {
			for _, m := range p.Metric {
				all = append(all, [3]string{c, a, m})
			}
		}
	}
	return all
}

// TestThresholds checks the arithmetic of eq. 14 to 17 with the paper's rounding.
func TestThresholds(t *testing.T) {
	t.Parallel()
	r := papers.Of("paper")
	if n := len(r.Thresholds); n != 4 {
		t.Errorf("%d thresholds, want 4", n)
	}
	for _, x := range r.Thresholds {
		pa, ok1 := r.Number(x.Configuration, r.Reservation, "p_a")
		pw, ok2 := r.Number(x.Configuration, r.Spot, "p_w")
		q, ok3 := r.Number(x.Configuration, r.Spot, "q")
		if got := (pw - q) / (1 - q); !ok1 || !ok2 || !ok3 || math.Abs(got-x.Value) > 0.005 {
			t.Errorf("%s: (p_w-q)/(1-q) = %v, want %v", x.Configuration, got, x.Value)
		}
		if got := pa > x.Value; got != x.Reserve {
			t.Errorf("%s: reserve = %v, want %v", x.Configuration, got, x.Reserve)
		}
	}
}

// TestT2 checks that exactly the bold values in Table 2 exceed the critical value (5 %,
// one-sided, four degrees of freedom). It also checks two cells copied by hand.
func TestT2(t *testing.T) {
	t.Parallel()
	tests := papers.Of("paper").Tests
	if len(tests.Rows) != 6 || len(tests.Configurations) != 4 {
		t.Fatalf("%d rows of %d, want 6 of 4", len(tests.Rows), len(tests.Configurations))
	}
	for i, row := range tests.Rows {
		for _, c := range tests.Configurations {
			if got, bold := tests.T(i, c); *got > tests.Critical != bold {
				t.Errorf("%s, %+v: t above %v is %v", c, row, tests.Critical, !bold)
			}
		}
	}
	if got, bold := tests.T(0, "pareto-high"); *got != 2.08 || bold {
		t.Errorf("second cell = %v, %v, want 2.08, not bold", *got, bold)
	}
	if got, bold := tests.T(5, "normal-high"); *got != 2.60 || !bold {
		t.Errorf("last cell = %v, %v, want 2.60, bold", *got, bold)
	}
}

// TestT1 checks the statement of §2 about Table 1: at least 87 % of samples for the three
// models, which are closer to the trace than their rivals.
func TestT1(t *testing.T) {
	t.Parallel()
	ours := map[string]bool{"HypWeib": true, "PolyLin": true, "BinBin": true}
	best := map[string]float64{}
	for _, f := range papers.Of("paper").Fits.Rows {
		if ours[f.Law] {
			best[f.Column] = f.Complete
			if math.Round(100*f.Success) < 87 {
				t.Errorf("%s fits %v of samples, want 0.87", f.Law, f.Success)
			}
		}
	}
	for _, f := range papers.Of("paper").Fits.Rows {
		if f.Law != "Trace" && f.Complete < best[f.Column] {
			t.Errorf("%s fits %s better than ours", f.Law, f.Column)
		}
	}
	if len(best) != 3 || len(papers.Of("paper").Fits.Rows) != 9 {
		t.Errorf("%d quantities in %d lines, want 3 in 9", len(best), len(papers.Of("paper").Fits.Rows))
	}
}

// A numbers contains the paper's numbers, with some of them replaced.
type numbers struct {
	papers.Reference
	but map[string]float64 // replaced numbers by metric, for be in pareto-high
}

func (n *numbers) Number(configuration, admission, metric string) (float64, bool) {
	if x, ok := n.but[metric]; ok && configuration == "pareto-high" && admission == "be" {
		return x, true
	}
	return n.Reference.Number(configuration, admission, metric)
}

// TestAgainst checks the contradictions in the paper with results computed by hand: (.35 +
// .90)/2; the marks of Table 2; and t = (.61 - .44)/√(.12² + .10²) and (.67 - .44)/√(.09² +
// .10²), with the errors (.61 - .01)/4.90, .67/7.09 and .44/4.39. Other numbers must not be
// contradictions.
func TestAgainst(t *testing.T) {
	t.Parallel()
	r := numbers{Reference: papers.Of("paper")}
	got := market.Against(&r)
	if !slices.Equal(got, r.Against) || len(got) != 3 {
		t.Fatalf("%q, want three sentences, as the reference says", got)
	}
	for i, want := range []string{
		".35 for inelastic users and .90 for elastic users (§1) therefore imply .625 for an equal mix, not .55 (§1)",
		"significant in 6 of 12 tests",
		"For BE, the numbers are .61 and .67, compared with .44 (§4.3, eq. 16, 17). The standard errors that Table 2 implies, .12, .09 and .10, give t = 1.1 and 1.7, which is below the critical value of 2.1318.",
	} {
		if !strings.Contains(got[i], want) {
			t.Errorf("%q, want %q in it", got[i], want)
		}
	}
	r.but = map[string]float64{"efficiency_0.5": 0.62, "violations": 0.95}
	if got := market.Against(&r); len(got) != 1 || !strings.Contains(got[0], "Table 2 marks") {
		t.Errorf("with other numbers %q, want Table 2 alone", got)
	}
	if got := papers.Of("kth").Against; got != nil {
		t.Errorf("of another experiment %q", got)
	}
}
