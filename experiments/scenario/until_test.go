package scenario

import (
	"bytes"
	"strings"
	"testing"
)

// TestUntil checks both forms of a stopping rule, their defaults, that they are printed as
// they were read, and the errors.
func TestUntil(t *testing.T) {
	t.Parallel()
	const rest = "\nname: u\nconfigurations: [one]\nbase: {admission: [be], workload: {plan: p.csv}}\n"
	known := Known{Metrics: []string{"violations", "q"}}
	for _, c := range []struct {
		text string
		most int
		want Until
	}{
		{"replications: {min: 3, max: 50, until: {metric: q, half_width: 0.01}}", 50, Until{"q", 0.01, 3}},
		{"replications: {until: {metric: q, half_width: 1}}", 2000, Until{"q", 1, 5}},
		{"until: {metric: q, half_width: 2}", 2000, Until{"q", 2, 5}},
		{"until: {metric: violations, half_width: 2, min: 2}\nreplications: 9", 9, Until{"violations", 2, 2}},
	} {
		e, err := Parse("u.yaml", []byte(c.text+rest), known)
		if err != nil || e.Replications != c.most || e.Until == nil || *e.Until != c.want {
			t.Errorf("%s: %d, %+v, %v, want %d, %+v", c.text, e.Replications, e.Until, err, c.most, c.want)
			continue
		}
		var b bytes.Buffer
		if err := Write(&b, e); err != nil {
			t.Fatal(err)
		}
		again, err := Parse("again.yaml", b.Bytes(), known)
		if d := Differ(&e, &again); err != nil || d != nil {
			t.Errorf("%s: written and read: %v, %+v", c.text, err, d)
		}
	}
	for text, want := range map[string]string{
		"replications: {min: 3}":                                                    `u.yaml:1:15: replications.until: found nothing, want a mapping of metric and half_width, or a number of replications`,
		"replications: {most: 3, until: {metric: q, half_width: 1}}":                `replications.most: unknown field, want one of min, max, until`,
		"replications: {max: 3, until: {metric: q, half_width: 1}}":                 `until.min: found 5, want at most 3 replications`,
		"replications: {max: 30, until: {metric: r, half_width: 1}}":                `until.metric: found "r"`,
		"replications: {max: 30, until: {metric: q, half_width: 0}}":                `until.half_width: found 0`,
		"replications: {max: 30, min: 1, until: {metric: q, half_width: 1}}":        `until.min: found 1`,
		"replications: {max: 30, until: {metric: q}}":                               `until.half_width`,
		"replications: {max: many, until: {metric: q, half_width: 1}}":              `replications: found many, want a whole number`,
		"replications: {max: 30, until: {metric: q, half_width: 1, half_widht: 2}}": `until.half_widht: unknown field`,
	} {
		_, err := Parse("u.yaml", []byte(text+rest), known)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{"", "q", "q=", "=1"} {
		if set, err := UntilSet(text); err == nil {
			t.Errorf("%q sets %s", text, set)
		}
	}
}
