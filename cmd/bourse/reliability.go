package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"bourse/experiments"
	"bourse/experiments/misuse"
	"bourse/experiments/scenario"
	"bourse/experiments/volunteers"
	"bourse/hosts/availability"
	"bourse/hosts/availability/models"

	"github.com/urfave/cli/v2"
)

var reliabilityCommand = command(`availability
compare predicted and realized availability of hosts

Each predictor must predict whether an available host will stay for the duration of a job. All
predictors are tested on the same hosts, and on the same job lengths and times of the last day. The
job lengths and times are drawn as in "Job-Scheduling with Resource Availability Prediction for
Volunteer-Based Grid Computing". Predictions of 80 % are calibrated if they come true in 80 % of the
cases. The diagrams compare predicted with realized availability, and show the band in which the
points of calibrated predictions lie. The Brier score is the mean of (predicted - realized)²; 0 is
best. The predictors are TDE, the fraction of time during which a host was available, and a renewal
process. TDE rounds completions up (as in the paper) or down. Each predictor uses the 1 to 6
preceding days.

   bourse study availability
   bourse study availability --model diurnal --model markov --probes 20000
   bourse study availability --availability event_trace.tab.gz --out results/seti`, reliabilityAction)

type reliabilityOptions struct {
	Availability            string   `doc:"use the recorded trace {FILE} (plain or gzip) instead of models"`
	AvailabilityFormat      string   `yaml:"availability-format" default:"auto" of:"trace" doc:"read the trace as {FORMAT}"`
	Model                   []string `shown:"all" of:"availability" doc:"use traces of availability model {NAME}"`
	Hosts                   int      `default:"85" doc:"simulate {N} hosts per model"`
	Days                    int      `default:"7" doc:"generate traces of {N} days"`
	Probes                  int      `default:"5000" doc:"make {N} predictions per replication"`
	Replications            int      `alias:"n" default:"5" doc:"generate {N} traces per model"`
	seedOption              `yaml:",inline"`
	Out                     string `alias:"o" doc:"write figures, numbers and the page to {DIR} (default: results/reliability)"`
	output[volunteers.Held] `yaml:",inline"`
}

func reliabilityAction(c *cli.Context, o *reliabilityOptions) error {
	for _, name := range []string{"hosts", "days", "probes", "replications"} {
		if n := c.Int(name); n < 1 || n > 1e6 {
			return usagef("--%s: found %d, want 1 to 1000000", name, n)
		}
	}
	sources, notes, err := traceSources(c)
	if err != nil {
		return err
	}
	d, err := volunteers.Hold(volunteers.Trial{
		Replications: o.Replications, Probes: o.Probes,
		Chance: func(rep int) rand.Source { return scenario.Stream(o.Seed, rep, "probes") },
	}, sources, period(c), notes)
	if err != nil {
		return err
	}
	d.Command = again(c, "availability", "availability-format", "hosts", "days", "probes", "replications", "seed", "model")
	wrote, err := writeDocument(orElse(o.Out, "results", "reliability"), "reliability.html", d)
	if err != nil {
		return err
	}
	return show(c, d, wrote)
}

func period(c *cli.Context) string {
	if c.String("availability") != "" {
		return "the trace"
	}
	return fmt.Sprintf("%d", c.Int("days"))
}

// traceSources returns the models named on the command line, or a recorded trace, with
// notes about them.
func traceSources(c *cli.Context) ([]volunteers.Source, []string, error) {
	names := c.StringSlice("model")
	if path := c.String("availability"); path != "" {
		if len(names) > 0 {
			return nil, nil, usagef("found --availability and --model, want only one of them")
		}
		format := c.String("availability-format")
		if !slices.Contains(scenario.Formats(), format) {
			return nil, nil, usagef("--availability-format: %s", scenario.Unknown(format, scenario.Formats()))
		}
		type read struct {
			trace *availability.Trace
			said  string
		}
		r, err := await(c.Context, func() (r read, err error) {
			r.trace, r.said, err = experiments.ReadAvailability(path, format)
			return r, err
		})
		if err != nil {
			return nil, nil, misuse.Of(err)
		}
		name, _, _ := strings.Cut(filepath.Base(path), ".")
		return []volunteers.Source{{Name: name, Trace: func(int) (*availability.Trace, error) { return r.trace, nil }}}, []string{r.said}, nil
	}
	if len(names) == 0 {
		names = models.Table().Names()
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, nil, usagef("--model: found %s twice", name)
		}
	}
	all, err := volunteers.Models(names, c.Int("hosts"), c.Int("days"), func(rep int) rand.Source {
		return scenario.Stream(c.Uint64("seed"), rep, "availability")
	})
	if err != nil {
		return nil, nil, misuse.Of(err)
	}
	return all, []string{"No recorded trace was given, so a model generates the availability of hosts. To use a trace, give --availability FILE."}, nil
}
