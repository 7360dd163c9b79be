package scenario

import (
	"bourse/workloadgen/config"
	"bourse/workloadgen/plugin"

	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// Known contains the names that a scenario may use. If a family is nil, its names are not
// checked.
type Known struct {
	Admission   []string
	Sharing     []string
	Bidding     []string
	Forecasters []string
	Models      []string
	Payments    []string

	Availability []string // availability models
	Predictors   []string

	Metrics []string

	Presets map[string][]byte // scenario files from which others may start, keyed by name

	// Over contains axes that are added to the sweep. They replace axes with the same paths.
	Over []Axis

	// Policies are labels of admission policies. If it is not empty, every configuration is
	// run under these policies instead of its own. Policies that the configuration already
	// contains keep their options.
	Policies []string

	// Log is a recorded log. Unless it is empty, it replaces the workload of every
	// configuration that has a filter.
	Log string

	// Trace is a recorded availability trace. It replaces the trace of every configuration
	// that has one. TraceFormat is the trace's format. It may be empty.
	Trace, TraceFormat string
}

// A file lists the fields of a scenario file.
type file struct {
	Preset     string        `yaml:"preset" doc:"scenario to start from; the file overrides its settings"`
	Base       Configuration `yaml:"base" doc:"settings shared by all configurations; they override the defaults, and each configuration overrides them"`
	Experiment `yaml:",inline"`
}

// Read parses and checks a scenario file (see [Parse]). Errors use name for the file.
func Read(name string, in io.Reader, known Known, sets ...string) (Experiment, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxBytes+1))
	if err != nil {
		return Experiment{}, fmt.Errorf("scenario: %w", err)
	}
	return Parse(name, data, known, sets...)
}

// Stored parses the scenario in the manifest of the results in dir. The file names in the
// scenario are relative to the folder in which the experiment was run.
func Stored(dir, text string) (Experiment, error) {
	e, err := Parse("manifest.json", []byte(text), Known{})
	if err != nil {
		err = fmt.Errorf("%s: %w", dir, err)
	}
	return e, err
}

// Headline returns the metrics shown on a screen of the results. They are the first two
// metrics of the figure or, by default, efficiency for inelastic users and violations.
func (e *Experiment) Headline() []string {
	if f := e.Figure; f != nil && len(f.Metrics) > 0 {
		return f.Metrics[:min(2, len(f.Metrics))]
	}
	return []string{"efficiency_1", "violations"}
}

// Generated returns the names of configurations in which a model replaces a log.
func (e *Experiment) Generated() (names []string) {
	for _, conf := range e.Configurations {
		if conf.Workload.Filter != "" && conf.Workload.Model != nil {
			names = append(names, conf.Name)
		}
	}
	return names
}

// DrawsHosts reports whether a model determines the availability of hosts in some
// configuration.
func (e *Experiment) DrawsHosts() bool {
	return slices.ContainsFunc(e.Configurations, func(c Configuration) bool {
		return c.Fleet.Availability != nil && c.Fleet.Availability.Model != nil
	})
}

// Parse parses and checks the scenario in data, which is the content of the named file. It
// applies each override, path=value, before it checks anything.
//
//	fleet.hosts=30
//	pareto-high:fleet.hosts=30
//	configurations.pareto-high.fleet.hosts=30
//	base.market.forecaster={name: normal}
//	sweep.0.values=0.5..0.95/0.05
//
// Paths of a sweep may also have the first two forms.
//
// The first form applies to every configuration, and the second to a single one. Both take
// precedence over base and configurations. A configuration is merged into base, and base is
// merged into [Default]. Mappings are merged; any other value replaces the value into which it
// is merged. A file that names a preset is merged into the preset in the same way. If the file
// lists configurations, only these are run. A configuration that has the same name as one in
// the preset starts from that one.
//
// Relative paths of plans, logs and model files are joined to the folder of the file that
// contains them. Paths in overrides do not change. Errors in the scenario are of type
// [*config.Error].
func Parse(name string, data []byte, known Known, sets ...string) (Experiment, error) {
	root, err := read(name, data)
	if err != nil {
		return Experiment{}, err
	}
	switch root.Kind {
	case config.Mapping:
	case config.Null:
		return Experiment{}, root.At.Fail("", "empty, want a scenario")
	default:
		return Experiment{}, root.At.Fail("", "found %s, want a scenario: a mapping with the fields name, configurations, …", root.Found())
	}
	var said []setting
	if !strings.HasPrefix(name, "preset ") { // the settings of a preset were not written by the user
		said = settingsOf(root)
	}
	if root, err = start(root, known.Presets); err != nil {
		return Experiment{}, err
	}
	var last []string
	for _, text := range sets {
		if _, _, ok := everywhere(text); ok {
			last = append(last, text)
			continue
		}
		var path []string
		var value *config.Node
		if root, path, value, err = set(root, text); err != nil {
			return Experiment{}, err
		}
		said = append(said, settingsOf(value, path...)...)
	}
	if root, err = spanned(useOver(root, known.Over)); err != nil {
		return Experiment{}, err
	}
	if root, err = untilOf(root); err != nil {
		return Experiment{}, err
	}
	if root, err = chosen(expand(root)); err != nil {
		return Experiment{}, err
	}
	if slices.ContainsFunc(known.Policies, func(name string) bool { return strings.HasSuffix(name, ".star") }) {
		root = addScripts(root, known.Policies)
	}
	for _, text := range last {
		var some []setting
		if root, some, err = setEach(root, text); err != nil {
			return Experiment{}, err
		}
		said = append(said, some...)
	}
	root = usePolicies(root, known.Policies)
	if known.Log != "" {
		if root, err = useLog(root, known.Log); err != nil {
			return Experiment{}, err
		}
	}
	if known.Trace != "" {
		if root, err = useTrace(root, known.Trace, known.TraceFormat); err != nil {
			return Experiment{}, err
		}
	}

	f := file{Base: Default(), Experiment: defaultExperiment()}
	if err := root.Decode("", &f); err != nil {
		return Experiment{}, err
	}
	if err := root.Check("", &f.Experiment); err != nil {
		return Experiment{}, err
	}
	if err := check(&f.Experiment, root, known); err != nil {
		return Experiment{}, err
	}
	points, err := f.Experiment.expandSweep(root, known)
	if err != nil {
		return Experiment{}, err
	}
	if f.Experiment.overrides, err = overridden(said, root, points); err != nil {
		return Experiment{}, err
	}
	if err := root.Unclear(""); err != nil {
		return Experiment{}, err
	}
	resolve(f.Experiment.Configurations, root)
	return f.Experiment, nil
}

// start merges the file into the preset that it names. If it names none, start returns the
// file unchanged.
func start(root *config.Node, presets map[string][]byte) (*config.Node, error) {
	name := root.Get("preset")
	if name == nil {
		return root, nil
	}
	data, ok := presets[name.Text]
	if !ok || name.Kind != config.Scalar {
		return nil, name.At.Fail("preset", "found %s, %s", name.Found(), plugin.OneOf(name.Text, sortedKeys(presets)))
	}
	preset, err := read("preset "+name.Text, data)
	if err != nil {
		return nil, err
	}
	return over(preset, root), nil
}

// defaultExperiment returns the default values for a file that contains only configurations.
func defaultExperiment() Experiment {
	return Experiment{
		Seed:         1,
		Replications: 5,
		Alphas:       []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1},
	}
}

// resolve joins the relative paths of plans, logs, model files, policies and traces to the
// folders of the files that contain them.
func resolve(configurations []Configuration, root *config.Node) {
	for i := range configurations {
		w, n := &configurations[i].Workload, root.Get("configurations").Items[i].Get("workload")
		if w.Plan != "" {
			w.Plan = relative(n.Get("plan"), w.Plan)
		}
		if w.SWF != "" {
			w.SWF = relative(n.Get("swf"), w.SWF)
		}
		if w.Model != nil {
			w.Model = w.Model.resolved()
		}
		for k := range configurations[i].Admission {
			a := &configurations[i].Admission[k]
			*a = *a.resolved()
		}
		if a := configurations[i].Fleet.Availability; a != nil && a.File != "" {
			a.File = relative(root.Get("configurations").Items[i].Get("fleet").Get("availability").Get("file"), a.File)
		}
	}
}

// relative joins a relative path to the folder of the file that contains n.
func relative(n *config.Node, path string) string {
	if n.At.Line == 0 || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(n.At.Source), path)
}

// Limits of a file.
const (
	maxBytes  = 1 << 20
	maxValues = 20_000 // maximum number of values; a configuration with every field has about 60
	maxPath   = 64     // segments
)

// read parses a file of limited size.
func read(source string, data []byte) (*config.Node, error) {
	at := config.Place{Source: source}
	if len(data) > maxBytes {
		return nil, at.Fail("", "found %d bytes, want at most %d", len(data), maxBytes)
	}
	root, err := config.Parse(source, data)
	if err == nil && count(root) > maxValues {
		err = at.Fail("", "found %d values, want at most %d", count(root), maxValues)
	}
	return root, err
}

// count returns the number of values in n, including n itself.
func count(n *config.Node) int {
	sum := 1
	for _, item := range n.Items {
		sum += count(item)
	}
	return sum
}
