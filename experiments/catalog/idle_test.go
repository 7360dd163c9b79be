package catalog

import (
	"strings"
	"testing"

	"bourse/experiments"
	"bourse/experiments/papers"
	"bourse/experiments/scenario"
)

// TestIdle checks that a setting that has no effect because of another setting is reported
// with that setting. A setting with an effect in some configuration must not be reported,
// and presets must have no such settings.
func TestIdle(t *testing.T) {
	t.Parallel()
	for sets, want := range map[string]string{
		"":                   "",
		"base.fleet.speed=2": "",
		"base.fleet.speed=2;base.fleet.speeds=[1,3]":                              "fleet.speed has no effect: fleet.speeds overrides it",
		"base.market.renew=30":                                                    "",
		"base.market.renew=30;base.admission=[sac]":                               "market.renew has no effect: no admission policy runs the spot market (be)",
		"base.market.window=200;base.admission=[be,sac]":                          "",
		"base.market.window=200;base.admission=[be]":                              "market.window has no effect: no admission policy forecasts prices",
		"base.market.forecaster=normal;base.admission=[{name: rac, reject: 0.5}]": "market.forecaster has no effect: no admission policy forecasts prices",
		"base.sla.runs_on=true;base.sla.deadline=hard":                            "",
		"base.sla.runs_on=true;base.sla.deadline=soft":                            "sla.runs_on has no effect: work continues after a soft deadline, and a job without a deadline is never late",
		"base.sla.penalty={rate: 0.1, max: 5}":                                    "",
		"base.sla.penalty={rate: 0, max: 5}":                                      "sla.penalty.max has no effect: sla.penalty.rate is 0",
		"base.sla.penalty={rate: 0.1};base.sla.deadline=none":                     "sla.penalty.rate has no effect: jobs without a deadline are never late",
	} {
		e, err := scenario.Parse("idle", []byte("name: idle\nbase: {admission: [be, {name: rac, reject: 0.5}], workload: {model: {name: paper}}}\nconfigurations: [one, {name: two}]\n"), experiments.Known(), strings.FieldsFunc(sets, func(r rune) bool { return r == ';' })...)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(Idle(&e), "; "); got != want {
			t.Errorf("%s: %q, want %q", sets, got, want)
		}
	}
	for name, data := range papers.Presets() {
		e, err := scenario.Parse("preset "+name, data, experiments.Known())
		if err != nil {
			t.Fatal(err)
		}
		if got := Idle(&e); len(got) > 0 {
			t.Errorf("preset %s: %q, want nothing without effect", name, got)
		}
	}
}
