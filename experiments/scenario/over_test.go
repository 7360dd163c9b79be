package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestOver checks the axes given by --over and the errors for invalid ones.
func TestOver(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a.b=0.5..0.95/0.05": "[0.5 0.55 0.6 0.65 0.7 0.75 0.8 0.85 0.9 0.95]",
		"a.b=0.1..0.8/0.1":   "[0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8]", // 0.1 added seven times is a float above 0.7
		"a=-1..1/1":          "[-1 0 1]",
		"a=3..3/1":           "[3]",
		"a=0.5..0.99/0.1":    "[0.5 0.6 0.7 0.8 0.9]",
		"a=1e3, b,0.5":       "[1e3 b 0.5]",
		"a=0.5..0.6/0.1,0.9": "[0.5 0.6 0.9]",
		"a=8..16/4":          "[8 12 16]",
		"a.b,c,d.e=1":        "[1]",

		"a":                                      "found a, want PATH=VALUES, such as admission.cac.guarantee=0.5..0.95/0.05",
		"=1":                                     "found =1, want PATH=VALUES, such as admission.cac.guarantee=0.5..0.95/0.05",
		"a=":                                     `a: found "", want a number, a word of at most 32 characters, or a range from..to/step`,
		"a=1,,2":                                 `a: found "", want a number, a word of at most 32 characters, or a range from..to/step`,
		"a=1,1":                                  "a: found 1 twice, want different values",
		"a=0.5..0.7/0.1,0.6":                     "a: found 0.6 twice, want different values",
		"a=0.5..0.9":                             "a: found 0.5..0.9 without a step, want from..to/step, such as 0.5..0.95/0.05",
		"a=0.5..x/0.1":                           `a: found "x" in 0.5..x/0.1, want a number such as 0.05`,
		"a=0..1/1e-3":                            `a: found "1e-3" in 0..1/1e-3, want a number such as 0.05`,
		"a=1..0/0.1":                             "a: found 1..0/0.1, want an increasing range with a step above 0",
		"a=0..1/0":                               "a: found 0..1/0, want an increasing range with a step above 0",
		"a=0..10000/1":                           "a: found 0..10000/1, want a range of at most 10000 values",
		"a=0..999999999999999/0.000000000000001": "a: found 0..999999999999999/0.000000000000001, want a range of at most 10000 values",
	} {
		axis, err := Over(text)
		got := fmt.Sprint(axis.Values)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s gives\n%s, want\n%s", text, got, want)
		}
		if paths, _, _ := strings.Cut(text, "="); err == nil && strings.Join(append([]string{axis.Path}, axis.Also...), ",") != paths {
			t.Errorf("%s is of %q and %q", text, axis.Path, axis.Also)
		}
	}
}

// TestValuesExact checks that the values of a range are exact decimals: the lower end plus
// multiples of the step.
func TestValuesExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.IntRange(0, 6).Draw(t, "places")
		from, step := rapid.IntRange(-500, 500).Draw(t, "from"), rapid.IntRange(1, 400).Draw(t, "step")
		n := rapid.IntRange(1, 50).Draw(t, "n")
		write := func(units int) string { // writes a number given in units of 10^-places
			sign := ""
			if units < 0 {
				sign, units = "-", -units
			}
			s := fmt.Sprintf("%0*d", places+1, units)
			s = s[:len(s)-places] + "." + s[len(s)-places:]
			return sign + strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
		if places == 0 {
			write = func(units int) string { return fmt.Sprint(units) }
		}
		var want []Value
		for i := range n {
			want = append(want, Value(write(from+i*step)))
		}
		text := write(from) + ".." + write(from+(n-1)*step) + "/" + write(step)
		got, err := Values(text)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%s gives %v (%v), want %v", text, got, err, want)
		}
	})
}

// TestRanges checks that a sweep accepts ranges in a file, in an override and in an axis
// passed by the caller. Such an axis replaces an axis with the same path and follows the
// others.
func TestRanges(t *testing.T) {
	t.Parallel()
	names := func(sets []string, over ...string) (all []string) {
		known := names()
		for _, o := range over {
			axis, err := Over(o)
			if err != nil {
				t.Fatal(err)
			}
			known.Over = append(known.Over, axis)
		}
		file := strings.Replace(swept, "values: [4, 16]", "values: [4, 8..16/4]", 1)
		e, err := Parse("swept.yaml", []byte(file), known, sets...)
		if err != nil {
			return []string{err.Error()}
		}
		for _, c := range e.Expanded().Configurations {
			if at, ok := strings.CutPrefix(c.Name, "low@"); ok {
				all = append(all, at)
			}
		}
		return all
	}
	for _, c := range []struct {
		sets, over []string
		want       string
	}{
		{nil, nil, "4,0.5 4,0.9 8,0.5 8,0.9 12,0.5 12,0.9 16,0.5 16,0.9"},
		{[]string{"sweep.hosts.values=2", "sweep.1.values=0.5..0.7/0.1"}, nil, "2,0.5 2,0.6 2,0.7"},
		{[]string{"sweep.hosts.values=[2]"}, []string{"admission.cac.guarantee=0.1..0.3/0.2", "sla.slack=1,2"}, "2,0.1,1 2,0.1,2 2,0.3,1 2,0.3,2"},
		{[]string{"sweep=null"}, []string{"sla.slack=1,2"}, "1 2"},
		{[]string{"sweep=null"}, []string{"sla.slack,fleet.cpus=1,2"}, "1 2"},
		{[]string{"sweep=null"}, []string{"sla.slack,sla.slack=1"}, "--over sla.slack: sweep.0.also.0: found sla.slack twice, want different axes"},
		{[]string{"sweep.1.values=0.5..0.9"}, nil, "--set sweep.1.values=0.5..0.9: sweep.1.values: found 0.5..0.9 without a step, want from..to/step, such as 0.5..0.95/0.05"},
		{[]string{"sweep=null"}, []string{"sla.slac=1,2"}, "--over sla.slac: configurations.low@1.sla.slac: unknown field, did you mean slack? want one of enforcement, slack, of, deadline, runs_on, penalty"},
	} {
		if got := strings.Join(names(c.sets, c.over...), " "); got != c.want {
			t.Errorf("%v %v gives\n%s, want\n%s", c.sets, c.over, got, c.want)
		}
	}
}
