package study

import (
	"context"
	"math"
	"strings"

	"bourse/experiments"
	"bourse/experiments/metrics"
	"bourse/experiments/misuse"
	"bourse/experiments/report"
	"bourse/experiments/scenario"
)

// A Goal states the target of a search.
type Goal struct {
	Scenario      string   `json:"scenario"`
	Configuration string   `json:"configuration"`
	Metric        string   `json:"metric"`
	Least         bool     `json:"least" doc:"true if the smallest value is the best, false if the largest value is the best"`
	Over          []string `json:"over" doc:"the axes"`
	Smooth        bool     `json:"smooth" doc:"true if the search began with a golden section, which assumes that the metric has one peak along the axis"`
	Budget        int      `json:"budget" doc:"maximum number of replications of all settings together"`
	Within        float64  `json:"within" doc:"largest acceptable regret"`
}

// A TuneAsk describes a search for the best setting of a scenario. Tune sets the scenario and
// the axes of the goal. If there is only one configuration, it also sets that. If the budget
// is 0, it becomes 200 for each setting.
type TuneAsk struct {
	Goal
	Policies []string // labels of the policies to compare; if empty, those with an option as an axis or else all

	// Known, if not nil, contains the replications of an earlier search over the same
	// settings, as in [Tuned.Known]. These replications are not run again.
	Known []byte
}

const (
	perSetting = 200 // default number of replications per setting; confidence sequences of unbounded values exist only from about 40 replications on
	fewest     = 10  // smallest allowed budget per setting, in replications
)

// A Stop is the reason why a search ended.
type Stop string

// The possible reasons why a search ended.
const (
	Decided     Stop = "decided"     // one setting is left
	Near        Stop = "near"        // the bound on the regret is so small that it does not matter
	Spent       Stop = "spent"       // the remaining budget is not sufficient for another round
	Interrupted Stop = "interrupted" // the context ended
)

// Tuned is the result of a search for the best setting.
type Tuned struct {
	Goal
	Stop     Stop         `json:"stop" doc:"reason why the search ended: decided (one setting is left), near (the regret is at most the value of within), spent (the budget is used up) or interrupted"`
	Best     int          `json:"best" doc:"remaining setting with the best mean"`
	Kept     []int        `json:"kept" doc:"settings that are not significantly worse than the best setting, sorted by their means; the best setting is the first"`
	Settings []settingRow `json:"settings"`
	Regret   regret       `json:"regret"`
	Spent    int          `json:"spent" doc:"number of replications of all settings together"`
	Even     int          `json:"even" doc:"number of replications of all settings together that an even split would need for the same result"`
	Tells    int          `json:"tells" doc:"estimated number of replications per setting needed to separate the best setting from all others; 0 if unknown"`
	Method   string       `json:"method"`

	Known  []byte  `json:"-"` // replications from which a later search can resume
	lo, hi float64 // bounds of the metric
}

// A Setting is a policy and its value on each axis.
type Setting struct {
	Policy string   `json:"policy"`
	At     []string `json:"at" doc:"value on each axis; empty if the axis does not affect the policy"`
}

// A settingRow is a setting and its results.
type settingRow struct {
	Setting
	N          int          `json:"n" doc:"replications"`
	Mean       report.Maybe `json:"mean"`
	Lo         report.Maybe `json:"lo" doc:"95 % interval of the mean, by a confidence sequence; null if there is none yet"`
	Hi         report.Maybe `json:"hi"`
	Kept       bool         `json:"kept"`
	Dropped    int          `json:"dropped" doc:"number of replications after which the setting was dropped; 0 if the setting remains"`
	By         int          `json:"by" doc:"better setting, if this setting was dropped"`
	Difference report.Maybe `json:"difference" doc:"mean of this setting minus the mean of the best setting, over the replications of both settings"`
	LessLo     report.Maybe `json:"difference_lo" doc:"interval of the difference, by a confidence sequence; the intervals of all settings are simultaneous at 95 %"`
	LessHi     report.Maybe `json:"difference_hi"`
	Needed     int          `json:"needed" doc:"estimated number of replications per setting needed to separate this setting from the best one; 0 if unknown"`
	Same       bool         `json:"same" doc:"whether this setting and the best setting have exactly the same value in every replication"`
}

// A regret is the possible loss if the user chooses the best setting found.
type regret struct {
	Expected float64      `json:"expected" doc:"expected advantage of the true best setting over the chosen one, by a Bayesian bootstrap over replications"`
	Most     report.Maybe `json:"most" doc:"upper bound on the regret, at 95 %; null if there is no bound yet"`
	Draws    int          `json:"draws" doc:"number of draws of the bootstrap"`
}

// Tune finds the best setting of a configuration of e. The candidates are the points of e's
// sweep under each policy. In each replication, all settings use common random numbers. The
// result does not depend on the number of workers. If ctx is done, Tune returns the results so
// far.
func Tune(ctx context.Context, e *scenario.Experiment, ask TuneAsk, opts experiments.Options) (*Tuned, error) {
	metric, err := metrics.Table().New(ask.Metric, nil)
	if err != nil {
		return nil, misuse.Errorf("metric: %w", err)
	}
	x, settings, err := contenders(e, &ask)
	if err != nil {
		return nil, err
	}
	if ask.Smooth && !smooth(e, settings) {
		return nil, misuse.Errorf("smooth: found %s, want one axis of increasing numbers, and one policy", size(e, settings))
	}
	if ask.Budget == 0 {
		ask.Budget = perSetting * len(settings)
	}
	if least := fewest * len(settings); ask.Budget < least {
		return nil, misuse.Errorf("budget: found %d, want at least %d, which is %d for each of %d settings", ask.Budget, least, fewest, len(settings))
	}
	if !(ask.Within >= 0) || math.IsInf(ask.Within, 0) {
		return nil, misuse.Errorf("within: found %v, want 0 or more", ask.Within)
	}
	p, err := experiments.Prepare(x)
	if err != nil {
		return nil, err
	}
	if alike := p.Alike(); len(alike) > 0 {
		return nil, misuse.Errorf("configuration %s: found the same jobs on the same hosts in every replication. Use bourse run with a sweep, which needs only one replication, or the workload model resample, which draws jobs from a log", alike[0])
	}
	of, err := fingerprint(p, ask.Metric)
	if err != nil {
		return nil, err
	}
	k, err := readKnown(ask.Known, of, len(settings))
	if err != nil {
		return nil, err
	}
	t := &Tuned{Goal: ask.Goal, Settings: settings}
	t.lo, t.hi = metric.Bound.Ends()
	t.Scenario, t.Over = e.Name, []string{}
	for _, a := range e.Sweep {
		t.Over = append(t.Over, a.Name())
	}
	r := race{Tuned: t, seed: e.Seed, sample: p.Sampler(metric, opts), known: k.Values, progress: func(spent int) {
		if opts.Progress != nil {
			opts.Progress(spent, ask.Budget)
		}
	}}
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	t.Known, err = k.text(r.values)
	return t, err
}

// name returns the name of a setting among those of t.
func (r *Tuned) name(arm int) string {
	s := &r.Settings[arm]
	var at []string
	for i, v := range s.At {
		switch {
		case v == "":
		case len(r.Over) == 1:
			at = append(at, v)
		default:
			at = append(at, short(r.Over[i])+" "+v)
		}
	}
	if r.policies() > 1 || len(at) == 0 {
		return strings.TrimSpace(s.Policy + " " + strings.Join(at, ", "))
	}
	return strings.Join(at, ", ")
}

// short returns the last element of a path.
func short(path string) string { return path[strings.LastIndex(path, ".")+1:] }

// policies returns the number of different policies in the settings.
func (r *Tuned) policies() int { return len(policies(r.Settings)) }
