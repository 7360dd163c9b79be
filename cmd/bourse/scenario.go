package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"bourse/experiments"
	"bourse/experiments/catalog"
	"bourse/experiments/misuse"
	"bourse/experiments/papers"
	"bourse/experiments/report"
	"bourse/experiments/scenario"
	"bourse/workloadgen/plugin"

	"github.com/urfave/cli/v2"
)

var scenarioShowCommand = command(`show PRESET|FILE
print a scenario with the defaults of all fields

If FILE is -, the command reads standard input.

   bourse scenario show paper > mine.yaml
   bourse run mine.yaml`, showScenario)

type scenarioShowOptions struct {
	Set                                  []string `doc:"override a field: {PATH=VALUE}"`
	jsonOption[experiments.ScenarioFile] `yaml:",inline"`
}

var scenarioCheckCommand = command(`check FILE
check a scenario file without running it

The command checks every field, and creates every plug-in with its options. It reads the logs and
plans that FILE names, and checks that jobs have budgets. If FILE is -, the command reads standard
input.

   bourse scenario check mine.yaml`, checkScenario)

type scenarioCheckOptions struct {
	Set                 []string `doc:"override a field: {PATH=VALUE}"`
	jsonOption[checked] `yaml:",inline"`
	quietOption         `yaml:",inline"`
}

// loadScenario reads and checks the named scenario file. The name - means standard input.
func loadScenario(c *cli.Context, file string, known scenario.Known, sets ...string) (scenario.Experiment, error) {
	name := file
	if file == "-" {
		name = "standard input"
	}
	in, err := open(c, file)
	if errors.Is(err, fs.ErrNotExist) && slices.Contains(papers.Names(), file) {
		if _, missing := os.Stat(file); missing != nil {
			return scenario.Experiment{}, usagef("scenario: %w; to run the preset, use --preset %s", err, file)
		}
	}
	if err != nil {
		return scenario.Experiment{}, fmt.Errorf("scenario: %w", err)
	}
	defer in.Close()
	e, err := scenario.Read(name, in, known, sets...)
	tellOverrides(c, &e)
	return e, err
}

// tellOverrides lists the settings of an experiment that have no effect, and the reason for
// each.
func tellOverrides(c *cli.Context, e *scenario.Experiment) {
	for _, o := range e.Overrides() {
		note(c, "%s", o)
	}
	for _, w := range catalog.Idle(e) {
		note(c, "warning: %s", w)
	}
}

// prepare prepares e and reads the logs and plans that it uses.
func prepare(c *cli.Context, e *scenario.Experiment) (*experiments.Prepared, error) {
	return await(c.Context, func() (*experiments.Prepared, error) { return experiments.Prepare(e) })
}

// warnings returns all warnings about a prepared experiment, as JSON. The loader has
// already printed the settings without effect.
func warnings(ready *experiments.Prepared) []string {
	return report.List(append(catalog.Idle(ready.Experiment), ready.Warnings()...))
}

// A checked is the JSON output for a valid scenario.
type checked struct {
	Name           string   `json:"name"`
	Replications   int      `json:"replications"`
	Configurations []string `json:"configurations"`

	Warnings  []string            `json:"warnings" doc:"valid settings that are probably mistakes, such as jobs with more nodes than the fleet"`
	Overrides []scenario.Override `json:"overrides" doc:"settings without effect in some configurations"`
}

func checkScenario(c *cli.Context, o *scenarioCheckOptions) error {
	e, err := loadScenario(c, c.Args().First(), experiments.Known(), o.Set...)
	if err != nil {
		return err
	}
	ready, err := prepare(c, &e)
	if err != nil {
		return misuse.Of(err)
	}
	var names []string
	for _, conf := range ready.Experiment.Configurations {
		names = append(names, conf.Name)
	}
	if o.JSON {
		return printJSON(c, checked{e.Name, e.Replications, names, warnings(ready), report.List(e.Overrides())})
	}
	for _, w := range ready.Warnings() {
		note(c, "warning: %s", w)
	}
	note(c, "%s is valid: %s of %s", c.Args().First(), count(e.Replications, "replication"), count(len(names), "configuration"))
	return nil
}

func showScenario(c *cli.Context, o *scenarioShowOptions) error {
	name, sets := c.Args().First(), o.Set
	var e scenario.Experiment
	var err error
	if data, ok := papers.Presets()[name]; ok {
		e, err = scenario.Parse("preset "+name, data, experiments.Known(), sets...)
		tellOverrides(c, &e)
	} else {
		e, err = loadScenario(c, name, experiments.Known(), sets...)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = usagef("%w, and found no preset of that name: %s", err, plugin.OneOf(name, slices.Sorted(maps.Keys(papers.Presets()))))
	}
	if err != nil {
		return err
	}
	if !o.JSON {
		return scenario.Write(c.App.Writer, e)
	}
	return printJSON(c, experiments.ScenarioFile{RawMessage: scenario.File(e).JSON()})
}

// stands returns a note for each log or trace that a model replaces.
func stands(e *scenario.Experiment) []string {
	var said []string
	if names := e.Generated(); names != nil {
		said = append(said, fmt.Sprintf("%s: no recorded log was given, so jobs are generated with a similar mean gap, runtime and size. To use a log, give --trace FILE.",
			strings.Join(names, ", ")))
	}
	if e.DrawsHosts() {
		said = append(said, "No recorded trace was given, so a model generates the availability of hosts. To use a trace, give --availability FILE.")
	}
	return said
}
