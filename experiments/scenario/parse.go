package scenario

import (
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// Known holds the names that a scenario may use. The names of a family that is
// nil are not checked.
type Known struct {
	Admission   []string
	Sharing     []string
	Bidding     []string
	Forecasters []string
	Models      []string
	Payments    []string

	Availability []string // models of it
	Predictors   []string

	Metrics []string

	Presets map[string][]byte // scenario files to start from, by name

	// Over are axes that take the place of those of the sweep that have their paths,
	// or come after them.
	Over []Axis

	// Policies are labels of the admission policies that every configuration is run under, in
	// place of its own list; those that it has keep their options.
	Policies []string

	// Log is a recorded log that takes the place of the workload of every
	// configuration with a filter; empty, they are run as they say.
	Log string

	// Trace is a recorded trace of availability that takes the place of that of
	// every configuration with one, of TraceFormat, which may be left empty.
	Trace, TraceFormat string
}

// A file is what a scenario file may say.
type file struct {
	Preset     string        `yaml:"preset" doc:"scenario to start from; what the file says goes over it"`
	Base       Configuration `yaml:"base" doc:"what configurations share; each goes over it, and it over the defaults"`
	Experiment `yaml:",inline"`
}

// Read reads and checks a scenario file that errors call name: see [Parse].
func Read(name string, in io.Reader, known Known, sets ...string) (Experiment, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxBytes+1))
	if err != nil {
		return Experiment{}, fmt.Errorf("scenario: %w", err)
	}
	return Parse(name, data, known, sets...)
}

// Stored reads what the manifest of the results in dir keeps: the experiment as it was
// run, whose files are named from where that was.
func Stored(dir, text string) (Experiment, error) {
	e, err := Parse("manifest.json", []byte(text), Known{})
	if err != nil {
		err = fmt.Errorf("%s: %w", dir, err)
	}
	return e, err
}

// Generated returns the configurations in which a model stands in for a log.
func (e *Experiment) Generated() (names []string) {
	for _, conf := range e.Configurations {
		if conf.Workload.Filter != "" && conf.Workload.Model != nil {
			names = append(names, conf.Name)
		}
	}
	return names
}

// DrawsHosts reports whether hosts of a configuration come and go as a model says.
func (e *Experiment) DrawsHosts() bool {
	return slices.ContainsFunc(e.Configurations, func(c Configuration) bool {
		return c.Fleet.Availability != nil && c.Fleet.Availability.Model != nil
	})
}

// Parse reads and checks a scenario that stands in the named file. Each
// override, path=value, is applied before anything is checked:
//
//	fleet.hosts=30
//	pareto-high:fleet.hosts=30
//	configurations.pareto-high.fleet.hosts=30
//	base.market.forecaster={name: normal}
//	sweep.0.values=0.5..0.95/0.05
//
// The first is of every configuration, the second of one: both stand in for whatever base and
// the configuration say. A configuration goes over base, and base over [Default]: mappings merge, and
// anything else replaces what is under it. A file that names a preset goes
// over it in the same way; if it lists configurations then those are run, and
// one that bears the name of one of the preset's starts from it.
//
// Relative paths of plans, logs and the files of models come back joined to the folder of
// the file that says them, those of overrides as they are. Mistakes are of type
// [*Error].
func Parse(name string, data []byte, known Known, sets ...string) (Experiment, error) {
	root, err := read(name, data)
	if err != nil {
		return Experiment{}, err
	}
	switch root.kind {
	case mapping:
	case null:
		return Experiment{}, fail(root.at, "", "empty, want a scenario")
	default:
		return Experiment{}, fail(root.at, "", "found %s, want a scenario: a mapping with the fields name, configurations, …", root.found())
	}
	var said []setting
	if !strings.HasPrefix(name, "preset ") { // of which nobody has written anything
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
		var value *node
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
	root = expand(root)
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
	if err := decode(root, reflect.ValueOf(&f).Elem(), field{}); err != nil {
		return Experiment{}, err
	}
	if err := validate(&f.Experiment, root, ""); err != nil {
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
	if err := unclear(root, ""); err != nil {
		return Experiment{}, err
	}
	resolve(f.Experiment.Configurations, root)
	return f.Experiment, nil
}

// start lays the file over the preset that it names, if it names one.
func start(root *node, presets map[string][]byte) (*node, error) {
	name := root.get("preset")
	if name == nil {
		return root, nil
	}
	data, ok := presets[name.text]
	if !ok || name.kind != scalar {
		return nil, fail(name.at, "preset", "found %s, %s", name.found(), OneOf(name.text, sortedKeys(presets)))
	}
	preset, err := read("preset "+name.text, data)
	if err != nil {
		return nil, err
	}
	return over(preset, root), nil
}

// defaultExperiment returns what a file stands for that lists configurations
// only.
func defaultExperiment() Experiment {
	return Experiment{
		Seed:         1,
		Replications: 5,
		Alphas:       []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1},
	}
}

// resolve joins the relative paths of plans, logs and the files of models to the folders
// of the files that say them.
func resolve(configurations []Configuration, root *node) {
	for i := range configurations {
		w, n := &configurations[i].Workload, root.get("configurations").items[i].get("workload")
		if w.Plan != "" {
			w.Plan = n.get("plan").relative(w.Plan)
		}
		if w.SWF != "" {
			w.SWF = n.get("swf").relative(w.SWF)
		}
		if w.Model != nil {
			w.Model = w.Model.resolved()
		}
		if a := configurations[i].Fleet.Availability; a != nil && a.File != "" {
			a.File = root.get("configurations").items[i].get("fleet").get("availability").get("file").relative(a.File)
		}
	}
}

func (n *node) relative(path string) string {
	if n.at.line == 0 || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(n.at.source), path)
}
