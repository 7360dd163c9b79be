package scenario

import (
	"bourse/workloadgen/config"
	"bourse/workloadgen/plugin"

	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An Axis is a field of configurations that takes several values in turn. With two axes,
// every value of the first is combined with every value of the second.
type Axis struct {
	Path   string   `yaml:"path" validate:"required" doc:"field to vary in every configuration, such as workload.annotate.delay, or in only one configuration, such as pareto-high:fleet.hosts; in the second case, only that configuration is run"`
	Also   []string `yaml:"also" doc:"other fields that get the same values, such as fields of other policies"`
	Values []Value  `yaml:"values" validate:"min=1" doc:"values of the field: numbers, words and ranges, such as 0.5..0.95/0.05"`
	Label  string   `yaml:"label" doc:"name of the axis in tables and figures; if omitted, the path"`
}

// Name returns the label of the axis or, if it has no label, the path.
func (a Axis) Name() string {
	if a.Label != "" {
		return a.Label
	}
	return a.Path
}

// Fields returns the paths of all fields that the axis sets.
func (a Axis) Fields() []string { return append([]string{a.Path}, a.Also...) }

// A Value is a number or a word, as written in the file.
type Value string

// Node returns v in the form used in files. A word is quoted only if YAML readers require
// quotes.
func (v Value) Node() *config.Node {
	n := &config.Node{Kind: config.Scalar, Text: string(v)}
	n.Quoted = n.Unclear("") != nil
	return n
}

// A Figure describes the figure of a scenario. The horizontal axis is the first axis of the
// sweep, and there is a line for each policy and each point of the other axes. Without a
// sweep, the figure shows bars.
type Figure struct {
	Metrics []string  `yaml:"metrics" validate:"min=1" doc:"metrics to draw, one panel per metric and configuration"`
	Range   []float64 `yaml:"range" doc:"lower and upper end of percentage axes, extended if a mean lies outside; if omitted, 0 and 100"`
	Less    string    `yaml:"less" doc:"label of a baseline policy; an additional figure shows the other policies minus the baseline, paired by replication"`
}

// Expanded returns the experiment to run. It replaces each configuration of e by one
// configuration for each point of the sweep. The first axis varies slowest. The names are
// NAME@VALUE or, with two axes, NAME@VALUE,VALUE. If there is no sweep, Expanded returns e
// itself.
//
// Random draws depend only on the seed and the replication, so all points use the same
// draws.
func (e Experiment) Expanded() Experiment {
	if len(e.Sweep) > 0 {
		e.Configurations = e.points
	}
	return e
}

// chosen returns the tree with only the configuration to which the sweep applies, if the path
// of an axis names a configuration (pareto-high:fleet.hosts).
func chosen(root *config.Node) (*config.Node, error) {
	sweep, all := root.Get("sweep"), root.Get("configurations")
	if sweep == nil || sweep.Kind != config.List || all == nil || all.Kind != config.List {
		return root, nil
	}
	only, axes := "", *sweep
	axes.Items = slices.Clone(sweep.Items)
	for i, axis := range axes.Items {
		path := axis.Get("path")
		if path == nil {
			continue
		}
		name, rest, one := strings.Cut(path.Text, ":")
		if !one {
			continue
		}
		at := config.Join(config.Join("sweep", strconv.Itoa(i)), "path")
		if only != "" && name != only {
			return nil, path.At.Fail(at, "found configuration %s after %s, want only one configuration", plugin.Clip(name), plugin.Clip(only))
		}
		k, err := choose(all, name, at, path.At)
		if err != nil {
			return nil, err
		}
		bare := *path
		bare.Text, only = rest, name
		axes.Items[i] = axis.Put("path", &bare)
		root = root.Put("configurations", &config.Node{Kind: config.List, At: all.At, Items: all.Items[k : k+1]})
	}
	return root.Put("sweep", &axes), nil
}

// maxPoints is the maximum number of points in a sweep.
const maxPoints = 10_000

var value = regexp.MustCompile(`^[-+]?[A-Za-z0-9.][A-Za-z0-9.+-]{0,31}$`)

// checkSweep checks constraints that involve several fields of the axes.
func checkSweep(axes []Axis, configurations int, n *config.Node) error {
	points := configurations
	seen := map[string]bool{}
	for i, a := range axes {
		at, path := n.Items[i], config.Join("sweep", strconv.Itoa(i))
		for k, p := range append([]string{a.Path}, a.Also...) {
			here, found := config.Join(path, "path"), at.Get("path")
			if k > 0 {
				here, found = config.Join(config.Join(path, "also"), strconv.Itoa(k-1)), at.Get("also").Items[k-1]
			}
			switch {
			case p == "name":
				return found.At.Fail(here, "found name, want a field of a configuration other than name")
			case seen[p]:
				return found.At.Fail(here, "found %s twice, want different axes", plugin.Clip(p))
			}
			seen[p] = true
		}
		for k, v := range a.Values {
			here := config.Join(config.Join(path, "values"), strconv.Itoa(k))
			if !value.MatchString(string(v)) {
				item := at.Get("values").Items[k]
				return item.At.Fail(here, "found %s, want a number or a word of at most 32 characters", item.Found())
			}
			if slices.Contains(a.Values[:k], v) {
				return at.Get("values").Items[k].At.Fail(here, "found %s twice, want different values", v)
			}
		}
		if points *= len(a.Values); points > maxPoints {
			return at.At.Fail(path, "found %d configurations or more, want at most %d", points, maxPoints)
		}
	}
	return nil
}

// expandSweep creates the configuration at every point of the sweep. It checks each
// configuration as if the file contained it. It returns the points of each configuration.
func (e *Experiment) expandSweep(root *config.Node, known Known) ([][]*config.Node, error) {
	var each [][]*config.Node
	points := &config.Node{Kind: config.List, At: root.Get("configurations").At}
	for _, c := range root.Get("configurations").Items {
		var axes []*config.Node
		if len(e.Sweep) > 0 {
			axes = root.Get("sweep").Items
		}
		all, err := sweep(c, axes, "@")
		if err != nil {
			return nil, err
		}
		each = append(each, all)
		points.Items = append(points.Items, all...)
	}
	if len(e.Sweep) == 0 {
		return each, nil
	}
	root = root.Put("configurations", points)
	all := *e
	if err := points.Decode("configurations", &all.Configurations); err != nil {
		return nil, err
	}
	if err := root.Check("", &all); err != nil {
		return nil, err
	}
	for i := range all.Configurations {
		c, n := &all.Configurations[i], points.Items[i]
		if err := c.check(n, config.Join("configurations", c.Name), known); err != nil {
			return nil, err
		}
	}
	resolve(all.Configurations, root)
	e.points = all.Configurations
	return each, nil
}

// sweep returns one configuration for every point of the axes. In the name of a configuration,
// mark precedes the next value.
func sweep(c *config.Node, axes []*config.Node, mark string) ([]*config.Node, error) {
	if len(axes) == 0 {
		return []*config.Node{c}, nil
	}
	var all []*config.Node
	for _, v := range axes[0].Get("values").Items {
		name := *c.Get("name")
		name.Text += mark + v.Text
		at, paths := c, []*config.Node{axes[0].Get("path")}
		if also := axes[0].Get("also"); also != nil {
			paths = append(paths, also.Items...)
		}
		for _, p := range paths {
			var err error
			if at, err = with(at, strings.Split(p.Text, "."), config.Join("configurations", name.Text), v); err != nil {
				return nil, err
			}
		}
		rest, err := sweep(at.Put("name", &name), axes[1:], ",")
		if err != nil {
			return nil, err
		}
		all = append(all, rest...)
	}
	return all, nil
}
