package study

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"bourse/experiments/report"
)

// A toy has two factors with two and three values, a definition, and three numbers.
func toy(t *testing.T) *Readings {
	t.Helper()
	r, err := parseReadings("toy.yaml", []byte(`
name: toy
scenario: paper
replications: 2
strength: 2
confirm: {best: 2, seed: 2}
factors:
  - {name: a, path: base.a, values: [{value: 0}, {value: 1}]}
  - {name: b, path: [base.b, base.c], values: [{value: x}, {value: y}, {label: zed, value: {name: z}}]}
  - {name: m, metric: m, values: [{value: m}, {value: other}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	known := 0.5
	r.numbers = []printed{
		{Case: Case{"c", "p", "m"}, lo: 1, hi: 1, err: &known},
		{Case: Case{"c", "p", "n"}, lo: 3, hi: 4},
		{Case: Case{"c", "p", "none"}, lo: 1, hi: 1},
	}
	return r
}

// sampleOf returns the measurements of a reading, given the values of the metrics.
func sampleOf(r *Readings, of reading, values map[string][]float64) (s sample) {
	for _, n := range r.numbers {
		s = append(s, values[r.metric(of, n.Metric)])
	}
	return s
}

// TestSets checks that readings follow the factors, and that the scenario's own values are
// not overridden.
func TestSets(t *testing.T) {
	t.Parallel()
	f := toy(t)
	all := f.readings
	if len(all) != 12 {
		t.Fatalf("%d readings, want 12", len(all))
	}
	for _, c := range []struct {
		levels []int
		want   string
	}{
		{[]int{0, 0, 0}, ""},
		{[]int{0, 0, 1}, ""},
		{[]int{1, 2, 0}, "base.a=1 base.b={name: z} base.c={name: z}"},
	} {
		sets := f.sets(reading{levels: c.levels})
		if got := strings.Join(sets, " "); got != c.want {
			t.Errorf("%v: %q, want %q", c.levels, got, c.want)
		}
	}
	if got := strings.Join(f.measures("m"), " "); got != "m other" {
		t.Errorf("m is measured as %s", got)
	}
	for i, want := range []int{-1, 0, 1, 1, 2, -2} {
		if got := all[i].changed(); got != want {
			t.Errorf("reading %v changes %d, want %d", all[i].levels, got, want)
		}
	}
}

// TestDistance checks z against values computed by hand: with a known error, with an error
// estimated from our replications, for a range, and for a number without measurements. It also
// checks the root mean square of these z.
func TestDistance(t *testing.T) {
	t.Parallel()
	f := toy(t)
	all, numbers := f.readings, f.numbers
	f.Digits = 12 // the rounding error is negligible
	samples := make([]sample, len(all))
	for i := range samples {
		samples[i] = sampleOf(f, all[i], map[string][]float64{
			"m": {1.9, 2.1}, "other": {1, 1, math.NaN()},
			"n": {4.5, 5.5}, // the standard deviation is √.5
		})
	}
	found := f.compare(samples)
	ours := 0.1 // standard error of m: .2/2
	z := []float64{1 / math.Hypot(0.5, ours), 1 / math.Sqrt(0.5/5+0.5/2)}
	a := &found.first[0]
	if math.Abs(a.z[0]-z[0]) > 1e-9 || math.Abs(a.z[1]-z[1]) > 1e-9 || !math.IsNaN(a.z[2]) || a.of != 2 || a.met != 1 {
		t.Errorf("z = %v (%d of %d met), want %v", a.z, a.met, a.of, z)
	}
	if want := math.Sqrt((z[0]*z[0] + z[1]*z[1]) / 2); math.Abs(a.distance.Value-want) > 1e-9 {
		t.Errorf("distance %v, want %v", a.distance.Value, want)
	}
	for i, r := range all {
		if want := z[0] * float64(1-r.levels[2]); math.Abs(found.first[i].z[0]-want) > 1e-9 {
			t.Errorf("%v: z %v of m by its definition, want %v", r.levels, found.first[i].z[0], want)
		}
	}
	numbers[1].lo, numbers[1].hi = 4, 6
	if x := numbers[1].off(5); x != 0 {
		t.Errorf("5 is %v off 4 to 6", x)
	}
	if x := numbers[1].off(6.5); x != 0.5 {
		t.Errorf("6.5 is %v off 4 to 6", x)
	}
	found.confirm(samples[:3])
	d := found.document(report.Labels{})
	if text := d.Lead + d.Text(report.Terminal{}); !strings.Contains(text, "12 variants of paper") || !strings.Contains(text, "as in the scenario") {
		t.Errorf("what was asked, and the scenario, are not in\n%s", text)
	}
	page, err := d.HTML()
	if err != nil {
		t.Fatal(err)
	}
	led := map[string]bool{}
	for _, to := range regexp.MustCompile(`href="#(reading/[0-9]+)"`).FindAllStringSubmatch(string(page), -1) {
		led[to[1]] = true
		if n := strings.Count(string(page), `id="`+to[1]+`"`); n != 1 {
			t.Errorf("a point of the curve leads to %s, which is on the page %d times", to[1], n)
		}
	}
	if places := strings.Count(string(page), ` id="reading/`); len(led) < len(found.rerun) || len(led) != places {
		t.Errorf("points of the curve lead to %d rows, of %d that are readings", len(led), places)
	}
	if strings.Contains(string(d.Data[0].Data), "NaN") {
		t.Error("there is NaN in JSON")
	}
}

// TestEffects checks the parts of the variance for distances that are sums of known effects: 3
// for a, 0, 2 or 4 for b, and an interaction of both with m. Their fractions are 2.25, 8/3 and
// .25 of their sum.
func TestEffects(t *testing.T) {
	t.Parallel()
	f := toy(t)
	all := f.readings
	found := &distances{Readings: f}
	for _, r := range all {
		a := against{}
		a.distance.Value = 10 + 3*float64(r.levels[0]) + 2*float64(r.levels[1])
		if r.levels[0] == r.levels[2] {
			a.distance.Value++
		}
		found.first = append(found.first, a)
	}
	found.rank()
	effects, rest := found.effects, found.rest
	total := 2.25 + 8.0/3 + 0.25
	for i, want := range []struct {
		factor int
		share  float64
		means  []float64
	}{{1, 8 / 3.0 / total, []float64{12, 14, 16}}, {0, 2.25 / total, []float64{12.5, 15.5}}, {2, 0, []float64{14, 14}}} {
		e := effects[i]
		if e.factor != want.factor || math.Abs(e.share-want.share) > 1e-12 || math.Abs(e.means[1]-want.means[1]) > 1e-12 || math.Abs(e.means[0]-want.means[0]) > 1e-12 {
			t.Errorf("effect %d: %+v, want %+v", i, e, want)
		}
	}
	if math.Abs(rest-0.25/total) > 1e-12 || effects[0].chance != 2.0/11 {
		t.Errorf("rest %v, by chance %v, want %v and 2/11", rest, effects[0].chance, 0.25/total)
	}
	if got := found.order; got[0] != 4 { // the reading with levels 0, 0, 1
		t.Errorf("nearest is %v", all[got[0]].levels)
	}
	found.first[4].distance.Value = math.NaN()
	found.rank()
	if got := found.order; got[len(got)-1] != 4 {
		t.Errorf("what nothing is known of is at %v", got)
	}
	for i, r := range all {
		if r.levels[0] == 1 {
			found.first[i].distance.Value = math.NaN()
		}
	}
	found.rank()
	for _, e := range found.effects {
		if mean := e.means[len(e.means)-1]; e.factor == 0 && (!math.IsNaN(mean) || e.share != 0) {
			t.Errorf("of a value without distances the mean is %v, and the factor explains %v", mean, e.share)
		}
	}
}

// TestMistakes checks that errors in a file or table name the line and the field.
func TestMistakes(t *testing.T) {
	t.Parallel()
	const good = "name: a\nscenario: paper\nfactors:\n  - name: x\n    path: base.x\n    values:\n      - {value: 1}\n      - {value: 2}\n"
	if _, err := parseReadings("f.yaml", []byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{"name: a", "name: a b", `f.yaml:1:7: name: found "a b", want letters, digits and dashes`},
		{"scenario: paper", "strength: 4", "f.yaml:2:11: strength: found 4, want 2 to 3"},
		{"    path: base.x\n", "", "f.yaml:4:5: factors.x: want exactly one of path (a field of the scenario) and metric"},
		{"base.x", "base.x=3", `f.yaml:5:11: factors.x.path: found "base.x=3", want a path such as base.market.payment`},
		{"path: base.x", "metric: x", "f.yaml:7:17: factors.x.values.0.value: found 1, want 1 metrics"},
		{"      - {value: 2}\n", "", "f.yaml:7:7: factors.x.values: found 1 values, want at least two"},
		{"value: 2", "value: 1", `f.yaml:8:9: factors.x.values.1.label: found "1" twice`},
		{"value: 2", "valeu: 2", "f.yaml:8:10: factors.x.values.1.valeu: unknown field, did you mean value? want one of label, value"},
	} {
		_, err := parseReadings("f.yaml", []byte(strings.Replace(good, c[0], c[1], 1)))
		if err == nil || err.Error() != c[2] {
			t.Errorf("%q for %q: %v, want %s", c[1], c[0], err, c[2])
		}
	}
	for text, want := range map[string]string{
		"":                                 "t.csv: found no header, want configuration,admission,metric,value,to,error,source",
		"configuration,admission,metric\n": "t.csv:1: found no column value",
		"configuration,admission,metric,value,vaule\n":               "t.csv:1: found column \"vaule\", want each of configuration,admission,metric,value,to,error,source at most once",
		"configuration,admission,metric,value\n":                     "t.csv: found no number",
		"configuration,admission,metric,value\na,b,c,x\n":            `t.csv:2: value: found "x", want a number`,
		"configuration,admission,metric,value\na,,c,1\n":             "t.csv:2: admission: missing",
		"configuration,admission,metric,value,to\na,b,c,2,1\n":       "t.csv:2: to: found 1, want at least 2, the value",
		"configuration,admission,metric,value,error\na,b,c,2,-1\n":   `t.csv:2: error: found "-1", want a number, at least 0`,
		"configuration,admission,metric,value\na,b,c,1\n\na,b,c,2\n": "t.csv:4: metric: found a b c twice",
	} {
		if _, err := readNumbers("t.csv", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestValuesAlike checks that a note names exactly the values of a factor that resulted in
// the same numbers in every replication.
func TestValuesAlike(t *testing.T) {
	t.Parallel()
	f := toy(t)
	all := f.readings
	var samples []sample
	for _, r := range all {
		x := float64(r.levels[0]) // b has no effect, and m measures another metric
		samples = append(samples, sampleOf(f, r, map[string][]float64{"m": {x, 2}, "other": {x, 3}, "n": {3, math.NaN()}}))
	}
	const want = "When only this factor was changed, these values gave the same numbers in every replication: b x and y; b x and zed; b y and zed."
	found := f.compare(samples)
	if notes := strings.Join(found.notes(nil), "\n"); !strings.Contains(notes, want) {
		t.Errorf("notes = %s, want %q among them", notes, want)
	}
	for i := range samples {
		samples[i][1] = []float64{3, float64(all[i].levels[1])}
	}
	found = f.compare(samples)
	if notes := strings.Join(found.notes(nil), "\n"); strings.Contains(notes, "Alone") {
		t.Errorf("notes = %s, want no values alike", notes)
	}
}
