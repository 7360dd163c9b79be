package scenario

import (
	"slices"
	"strings"
	"testing"
)

// TestOverrides checks which settings of a file with a preset and of the command line are
// reported as having no effect, with the setting that replaces them, and which are errors.
func TestOverrides(t *testing.T) {
	t.Parallel()
	known := Known{Presets: map[string][]byte{"two": []byte(`name: two
base: {admission: [be], fleet: {hosts: 2}, workload: {plan: p.csv}}
sweep: [{path: sla.slack, values: [1, 2]}]
configurations:
  - {name: a}
  - {name: b, admission: [cac], fleet: {hosts: 3}, market: {forecaster: {name: normal}}}
  - {name: c, fleet: {hosts: 4}}
`)}}
	for _, c := range []struct {
		name, file string
		sets       []string
		want       []string
		fails      string
	}{
		{name: "nothing said", file: "preset: two\n"},
		{name: "felt in all", file: "preset: two\nbase: {market: {window: 5}}\n"},
		{
			name: "a base under a configuration of the preset", file: "preset: two\nbase:\n  admission: [sac]\n",
			want: []string{"mine.yaml:3:14: base.admission has no effect in b: configurations.b.admission (preset two:6:26) overrides it"},
		},
		{
			name: "two configurations", file: "preset: two\n", sets: []string{"base.fleet.hosts=9"},
			want: []string{"--set base.fleet.hosts=9: base.fleet.hosts has no effect in b, c: configurations.b.fleet.hosts (preset two:6:48) overrides it"},
		},
		{name: "the same value", file: "preset: two\n", sets: []string{"base.fleet.hosts=2", "configurations.b.fleet.hosts=2", "configurations.c.fleet.hosts=2"}},
		{
			name: "options of another plug-in", file: "preset: two\nbase: {market: {forecaster: {name: history, bins: 3}}}\n",
			want: []string{
				"mine.yaml:2:36: base.market.forecaster.name has no effect in b: configurations.b.market.forecaster.name (preset two:6:80) overrides it",
				"mine.yaml:2:51: base.market.forecaster.bins has no effect in b: configurations.b.market.forecaster (preset two:6:73) overrides it",
			},
		},
		{name: "under a sweep", file: "preset: two\n", sets: []string{"base.sla.slack=4"}, fails: "--set base.sla.slack=4: base.sla.slack: has no effect, because sweep (preset two:3:36) overrides it; set that field instead"},
		{
			name: "twice on the command line", file: "preset: two\n", sets: []string{"base.cpus=1", "base.fleet.cpus=3", "base.fleet.cpus=4"}, fails: "base.cpus: unknown field",
		},
		{
			name: "said twice", file: "preset: two\n", sets: []string{"base.fleet.cpus=3", "base.fleet.cpus=4"},
			want: []string{"--set base.fleet.cpus=3: base.fleet.cpus has no effect in a, b, c: configurations.a.fleet.cpus (--set base.fleet.cpus=4) overrides it"},
		},
		{name: "asked for by a flag", file: "preset: two\nreplications: 7\nbase: {fleet: {cpus: 3}}\n", sets: []string{"replications=3", "base.fleet.cpus=4"}},
		{
			name: "lost with what was replaced", file: "preset: two\nreplications: {max: 90, until: {metric: wait, half_width: 1}}\n", sets: []string{"replications=3"},
			want: []string{
				"mine.yaml:2:21: replications.max has no effect: replications (--set replications=3) overrides it",
				"mine.yaml:2:41: replications.until.metric has no effect: replications (--set replications=3) overrides it",
				"mine.yaml:2:59: replications.until.half_width has no effect: replications (--set replications=3) overrides it",
			},
		},
		{name: "a rule and its exceptions", file: "name: own\nbase: {admission: [be], workload: {plan: p.csv}}\nconfigurations: [{name: a}, {name: b, admission: [cac]}]\n"},
		{name: "an option of a policy under a sweep", file: "name: own\nbase: {admission: [be, cac], workload: {plan: p.csv}}\nsweep: [{path: admission.cac.guarantee, values: [0.5, 0.9]}]\nconfigurations: [{name: a}]\n"},
		{
			name: "a rule without a case", file: "name: own\nbase: {admission: [be], workload: {plan: p.csv}}\nconfigurations: [{name: b, admission: [cac]}]\n",
			want: []string{"mine.yaml:2:19: base.admission has no effect in b: configurations.b.admission (mine.yaml:3:39) overrides it"},
		},
	} {
		e, err := Parse("mine.yaml", []byte(c.file), known, c.sets...)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: %v, want %s", c.name, err, c.fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, o := range e.Overrides() {
			got = append(got, o.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestOverridesOfPreset checks that a setting that replaces a preset's own value is not
// reported, because the user did not write that value.
func TestOverridesOfPreset(t *testing.T) {
	t.Parallel()
	const preset = "name: own\nbase: {admission: [be], fleet: {hosts: 2}, workload: {plan: p.csv}}\nconfigurations: [{name: a}, {name: b}]\n"
	e, err := Parse("preset own", []byte(preset), Known{}, "configurations.a.fleet.hosts=7", "base.admission=[cac]")
	if err != nil || len(e.Overrides()) > 0 {
		t.Errorf("%v, %v, want none", e.Overrides(), err)
	}
}
