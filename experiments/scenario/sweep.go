package scenario

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An Axis is a field of configurations that takes several values in turn. Two axes span a
// plane: every value of the first with every value of the second.
type Axis struct {
	Path   string   `yaml:"path" validate:"required" doc:"field of every configuration, such as workload.annotate.delay, or of one, which then is the only one that is run, such as pareto-high:fleet.hosts"`
	Also   []string `yaml:"also" doc:"other fields set to the same values, such as fields of other policies"`
	Values []Value  `yaml:"values" validate:"min=1" doc:"values of the field: numbers, words, and ranges such as 0.5..0.95/0.05"`
	Label  string   `yaml:"label" doc:"name of the axis in tables and figures; default, the path"`
}

// Name returns the label, or the path if there is none.
func (a Axis) Name() string {
	if a.Label != "" {
		return a.Label
	}
	return a.Path
}

// Fields returns the paths of all fields that it sets.
func (a Axis) Fields() []string { return append([]string{a.Path}, a.Also...) }

// A Value is a number or a word as written.
type Value string

// A Figure describes what is drawn of a scenario: against the first axis of its sweep, a line
// for each policy and value of the other axes; without a sweep, bars.
type Figure struct {
	Metrics []string  `yaml:"metrics" validate:"min=1" doc:"metrics to draw, one panel per metric and configuration"`
	Range   []float64 `yaml:"range" doc:"lower and upper end of percentage axes, extended if a mean lies beyond; default 0 and 100"`
	Less    string    `yaml:"less" doc:"label of a baseline policy: an extra figure shows the other policies minus it, per replication"`
}

// Expanded returns the experiment to run. It is e with each configuration replaced by one for
// each point of the sweep, the first axis varying slowest. Their names are NAME@VALUE or, with
// two axes, NAME@VALUE,VALUE. Without a sweep it is e.
//
// Random draws depend on seed and replication, not on configurations, so all points have the
// same draws.
func (e Experiment) Expanded() Experiment {
	if len(e.Sweep) > 0 {
		e.Configurations = e.points
	}
	return e
}

// chosen returns the tree with the configuration to which its sweep applies, if the path of an
// axis names one, such as pareto-high:fleet.hosts.
func chosen(root *node) (*node, error) {
	sweep, all := root.get("sweep"), root.get("configurations")
	if sweep == nil || sweep.kind != list || all == nil || all.kind != list {
		return root, nil
	}
	only, axes := "", *sweep
	axes.items = slices.Clone(sweep.items)
	for i, axis := range axes.items {
		path := axis.get("path")
		if path == nil {
			continue
		}
		name, rest, one := strings.Cut(path.text, ":")
		if !one {
			continue
		}
		at := join(join("sweep", strconv.Itoa(i)), "path")
		if only != "" && name != only {
			return nil, fail(path.at, at, "found configuration %s after %s, want one", clip(name), clip(only))
		}
		k, err := all.choose(name, at, path.at)
		if err != nil {
			return nil, err
		}
		bare := *path
		bare.text, only = rest, name
		axes.items[i] = axis.put("path", &bare)
		root = root.put("configurations", &node{kind: list, at: all.at, items: all.items[k : k+1]})
	}
	return root.put("sweep", &axes), nil
}

// maxPoints limits the number of points of a sweep.
const maxPoints = 10_000

var value = regexp.MustCompile(`^[-+]?[A-Za-z0-9.][A-Za-z0-9.+-]{0,31}$`)

// checkSweep checks constraints across the fields of the axes.
func checkSweep(axes []Axis, configurations int, n *node) error {
	points := configurations
	seen := map[string]bool{}
	for i, a := range axes {
		at, path := n.items[i], join("sweep", strconv.Itoa(i))
		for k, p := range append([]string{a.Path}, a.Also...) {
			here, found := join(path, "path"), at.get("path")
			if k > 0 {
				here, found = join(join(path, "also"), strconv.Itoa(k-1)), at.get("also").items[k-1]
			}
			switch {
			case p == "name":
				return fail(found.at, here, "found name, want another field of a configuration")
			case seen[p]:
				return fail(found.at, here, "found %s twice, want different axes", clip(p))
			}
			seen[p] = true
		}
		for k, v := range a.Values {
			here := join(join(path, "values"), strconv.Itoa(k))
			if !value.MatchString(string(v)) {
				item := at.get("values").items[k]
				return fail(item.at, here, "found %s, want a number or a word, 32 characters at most", item.found())
			}
			if slices.Contains(a.Values[:k], v) {
				return fail(at.get("values").items[k].at, here, "found %s twice, want different values", v)
			}
		}
		if points *= len(a.Values); points > maxPoints {
			return fail(at.at, path, "%d configurations and more, want at most %d", points, maxPoints)
		}
	}
	return nil
}

// expandSweep creates the configurations at every point, and checks them as if they were
// written in the file. It returns the points of each configuration.
func (e *Experiment) expandSweep(root *node, known Known) ([][]*node, error) {
	var each [][]*node
	points := &node{kind: list, at: root.get("configurations").at}
	for _, c := range root.get("configurations").items {
		var axes []*node
		if len(e.Sweep) > 0 {
			axes = root.get("sweep").items
		}
		all, err := sweep(c, axes, "@")
		if err != nil {
			return nil, err
		}
		each = append(each, all)
		points.items = append(points.items, all...)
	}
	if len(e.Sweep) == 0 {
		return each, nil
	}
	root = root.put("configurations", points)
	all := *e
	if err := decode(points, reflect.ValueOf(&all.Configurations).Elem(), field{path: "configurations"}); err != nil {
		return nil, err
	}
	if err := validate(&all, root, ""); err != nil {
		return nil, err
	}
	for i := range all.Configurations {
		c, n := &all.Configurations[i], points.items[i]
		if err := c.check(n, join("configurations", c.Name), known); err != nil {
			return nil, err
		}
	}
	resolve(all.Configurations, root)
	e.points = all.Configurations
	return each, nil
}

// sweep returns a configuration at every point of the axes. Its name contains the values so
// far, after mark.
func sweep(c *node, axes []*node, mark string) ([]*node, error) {
	if len(axes) == 0 {
		return []*node{c}, nil
	}
	var all []*node
	for _, v := range axes[0].get("values").items {
		name := *c.get("name")
		name.text += mark + v.text
		at, paths := c, []*node{axes[0].get("path")}
		if also := axes[0].get("also"); also != nil {
			paths = append(paths, also.items...)
		}
		for _, p := range paths {
			var err error
			if at, err = at.with(strings.Split(p.text, "."), join("configurations", name.text), v); err != nil {
				return nil, err
			}
		}
		rest, err := sweep(at.put("name", &name), axes[1:], ",")
		if err != nil {
			return nil, err
		}
		all = append(all, rest...)
	}
	return all, nil
}
