package papers

import (
	"os"
	"strings"
	"testing"

	"bourse/experiments/papers/claims"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// TestOver checks the conclusions on a claim from its verdicts under several readings, and
// the decisions on which it depends: the smallest sets of choices that separate supporting
// readings from the others.
func TestOver(t *testing.T) {
	t.Parallel()
	readings := []reading{
		{Choices: map[string]string{"hosts": "x", "payment": "a"}}, {Choices: map[string]string{"hosts": "x", "payment": "b"}},
		{Choices: map[string]string{"hosts": "y", "payment": "a"}}, {Choices: map[string]string{"hosts": "y", "payment": "b"}},
	}
	verdicts := map[byte]claims.Verdict{'s': claims.Supported, 'c': claims.Contradicted, 'u': claims.Undecided, 'n': claims.NotTestable}
	for text, want := range map[string]string{
		"ssss": "supported in all readings", "nnnn": "not testable", "uuuu": "undecided", "ccuc": "supported in no reading",
		"scsc": "open to reading: payment", "ccss": "open to reading: hosts", "sccs": "open to reading: hosts and payment",
	} {
		var all []claims.Verdict
		for i := range text {
			all = append(all, verdicts[text[i]])
		}
		status, decisions := over(all, readings)
		if decisions != "" {
			status += ": " + decisions
		}
		if status != want {
			t.Errorf("%s: %q, want %q", text, status, want)
		}
	}
}

// TestRegisteredReadings checks that each registered reading is a valid scenario, that
// claims are tested with the metrics of a reading, and that the preset paper-reading is the
// first reading that fits.
func TestRegisteredReadings(t *testing.T) {
	t.Parallel()
	x := 0.7
	all, err := JudgeReadings(func(preset string, sets, names []string) (rows []results.Metric, err error) {
		e, err := scenario.Parse(preset, Presets()[preset], scenario.Known{}, sets...)
		for _, c := range e.Configurations {
			for _, a := range c.Admission {
				for _, m := range names {
					value := x
					if m == "demand_correlation" {
						value = 0
					}
					for rep := range 3 {
						rows = append(rows, results.Metric{Configuration: c.Name, Admission: a.Label, Metric: m, Replication: rep, Value: &value})
					}
				}
			}
		}
		return rows, err
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, j := range all {
		for _, c := range j.Claims {
			if c.ID == "11" && c.Outcomes[0].Value != map[bool]float64{true: 0, false: x}[i == 0] {
				t.Errorf("%s: correlation %v", j.Reading, c.Outcomes[0].Value)
			}
		}
	}
	d := OverReadings(all)
	if n := len(d.Tables[0].Rows); n != len(all[0].Claims) || !strings.Contains(d.Tables[0].Note, "paper's numbers are compatible with readings A and B") {
		t.Errorf("%d rows, note %s", n, d.Tables[0].Note)
	}
	for _, r := range registered() {
		if r.Fits {
			want, err := scenario.Parse("paper", Presets()["paper"], scenario.Known{}, r.Set...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := scenario.Parse("paper-reading", Presets()["paper-reading"], scenario.Known{})
			if err != nil {
				t.Fatal(err)
			}
			if d := scenario.Differ(&got, &want, "name", "title"); d != nil {
				t.Errorf("paper-reading, %s: found %s, want %s", d.Field, d.One, d.Other)
			}
			break
		}
	}
}

// TestFound checks that the README and the page on the reproduction state the result of the
// published runs in the words of the claims file.
func TestFound(t *testing.T) {
	t.Parallel()
	for _, p := range Claims() {
		for _, name := range []string{"../../README.md", "../../cmd/bourse/docs/reproduction.md"} {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), p.Found) {
				t.Errorf("%s does not contain %q", name, p.Found)
			}
		}
	}
}
