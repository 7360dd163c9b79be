package experiments

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"bourse/experiments/metrics"
	"bourse/experiments/misuse"
	"bourse/experiments/report"
	"bourse/experiments/scenario"
	"bourse/experiments/tune"
)

// A TuneAsk describes a search for the best setting of a scenario.
type TuneAsk struct {
	Metric        string
	Least         bool     // the smallest value is best, not the largest
	Configuration string   // may be empty if there is only one
	Policies      []string // labels of the policies to compare; none: those with an option as an axis, or else all
	Budget        int      // total replications of all settings; 0 means 200 per setting
	Within        float64  // regret that does not matter
	Smooth        bool     // the metric has a single peak along the only axis, which must be numeric

	// Known, unless nil, holds the replications of an earlier search over the same settings,
	// as in [Tuned.Known]. They are not run again.
	Known []byte
}

// perSetting is the default number of replications per setting. A confidence sequence of
// unbounded values needs about 40 to begin.
const perSetting = 200

// fewest is the smallest allowed budget per setting.
const fewest = 10

// Tuned is the result of a search for the best setting.
type Tuned struct {
	*tune.Report
	Known []byte // its replications, to resume from
}

// Tune finds the best setting of a configuration of e among the points of its sweep, under
// each of its policies. Within a replication, all settings use common random numbers; see
// [tune.Race]. The result does not depend on the number of workers. If ctx ends, Tune returns
// what is known by then.
func Tune(ctx context.Context, e *scenario.Experiment, ask TuneAsk, opts Options) (*Tuned, error) {
	metric, err := metrics.Table().New(ask.Metric, nil)
	if err != nil {
		return nil, misuse.Of(fmt.Errorf("metric: %w", err))
	}
	arms, settings, err := contenders(e, &ask)
	if err != nil {
		return nil, err
	}
	if ask.Smooth && !smooth(e, settings) {
		return nil, misuse.Errorf("smooth: found %s, want one axis of numbers that go up, and one policy", said(e, settings))
	}
	if ask.Budget == 0 {
		ask.Budget = perSetting * len(settings)
	}
	if least := fewest * len(settings); ask.Budget < least {
		return nil, misuse.Errorf("budget: found %d, want %d at least: %d for each of %d settings", ask.Budget, least, fewest, len(settings))
	}
	if !(ask.Within >= 0) || math.IsInf(ask.Within, 0) {
		return nil, misuse.Errorf("within: found %v, want 0 or more", ask.Within)
	}
	p, err := Prepare(arms)
	if err != nil {
		return nil, err
	}
	if len(p.alike) > 0 {
		return nil, misuse.Errorf("configuration %s: every replication has the same jobs on the same hosts, and one tells all: want bourse run with a sweep, or the workload model resample, which draws jobs from a log", p.alike[0])
	}
	p.measures(ask.Metric)
	of, err := p.fingerprint(ask.Metric)
	if err != nil {
		return nil, err
	}
	known := &sampled{Of: of, Values: make([][]report.Maybe, len(settings))}
	if err := known.read(ask.Known); err != nil {
		return nil, err
	}
	lo, hi := metric.Bound.Ends()
	race := tune.Ask{Arms: len(settings), Least: ask.Least, Lo: lo, Hi: hi, Budget: ask.Budget, Within: ask.Within, Smooth: ask.Smooth, Seed: e.Seed}
	progress := func(spent, _ int) {
		if opts.Progress != nil {
			opts.Progress(spent, ask.Budget)
		}
	}
	found, err := tune.Race(ctx, race, known.before(p.sampler(metric, opts)), progress)
	if none := new(tune.NoValueError); errors.As(err, &none) {
		s := settings[none.Arm]
		return nil, misuse.Errorf("metric: %s is undefined under %s in each of %d replications", ask.Metric, strings.Join(append([]string{s.Policy}, s.At...), " "), none.N)
	}
	if err != nil {
		return nil, err
	}
	goal := tune.Goal{
		Scenario: e.Name, Configuration: ask.Configuration, Metric: ask.Metric, Least: ask.Least,
		Smooth: ask.Smooth, Budget: ask.Budget, Within: ask.Within,
	}
	for _, a := range e.Sweep {
		goal.Over = append(goal.Over, a.Name())
	}
	known.keep(found.Values)
	text, err := json.Marshal(known)
	return &Tuned{tune.NewReport(goal, settings, lo, hi, found), append(text, '\n')}, err
}

// Document returns the report with the replications attached as a file.
func (t *Tuned) Document() report.Document {
	d := t.Report.Document()
	d.Data = append(d.Data, report.File{Name: TuneKnown, Data: t.Known})
	return d
}

// TuneKnown is the name of the file with the replications of a search.
const TuneKnown = "replications.json"
