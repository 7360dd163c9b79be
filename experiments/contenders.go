package experiments

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/experiments/misuse"
	"bourse/experiments/scenario"
	"bourse/experiments/tune"
)

// contenders returns an experiment with one configuration per setting to compare, each with a
// single policy, and the settings themselves. Points that differ only in options of other
// policies count as one setting of a policy.
func contenders(e *scenario.Experiment, ask *TuneAsk) (*scenario.Experiment, []tune.Setting, error) {
	var names []string
	for i := range e.Configurations {
		names = append(names, e.Configurations[i].Name)
	}
	if ask.Configuration == "" && len(names) == 1 {
		ask.Configuration = names[0]
	}
	which := slices.Index(names, ask.Configuration)
	if which < 0 {
		return nil, nil, misuse.Errorf("configuration: %s", scenario.Unknown(ask.Configuration, names))
	}
	x := e.Expanded()
	points := x.Configurations[which*len(x.Configurations)/len(names) : (which+1)*len(x.Configurations)/len(names)]
	racing, err := racers(e, points[0].Admission, ask.Policies)
	if err != nil {
		return nil, nil, err
	}
	x.Sweep, x.Until, x.Replications, x.Configurations = nil, nil, 2, nil // two replications show whether all are alike
	x.Figure = &scenario.Figure{Metrics: []string{ask.Metric}}
	var settings []tune.Setting
	for _, k := range racing {
		seen := make(map[string]bool)
		for n := range points {
			at := along(e.Sweep, n)
			for i, a := range e.Sweep {
				if concerns := slices.ContainsFunc(a.Fields(), func(path string) bool { return touches(path, points[0].Admission, k) }); !concerns {
					at[i] = ""
				}
			}
			if key := strings.Join(at, ","); !seen[key] {
				seen[key] = true
				c := points[n]
				c.Admission = c.Admission[k : k+1]
				x.Configurations = append(x.Configurations, c)
				settings = append(settings, tune.Setting{Policy: c.Admission[0].Label, At: at})
			}
		}
	}
	return &x, settings, nil
}

// along returns the value of the n-th point on each axis. The first axis varies slowest.
func along(axes []scenario.Axis, n int) []string {
	at := make([]string, len(axes))
	for i := len(axes) - 1; i >= 0; i-- {
		all := axes[i].Values
		at[i] = string(all[n%len(all)])
		n /= len(all)
	}
	return at
}

// racers returns the positions of the policies to compare: those with the given labels;
// without labels, those with an option as an axis, or all if there are none.
func racers(e *scenario.Experiment, all []scenario.Choice, labels []string) (racing []int, err error) {
	var names []string
	for k := range all {
		names = append(names, all[k].Label)
		named := slices.ContainsFunc(e.Sweep, func(a scenario.Axis) bool {
			return slices.ContainsFunc(a.Fields(), func(path string) bool { return strings.HasPrefix(path, "admission.") && touches(path, all, k) })
		})
		if slices.Contains(labels, all[k].Label) || labels == nil && named {
			racing = append(racing, k)
		}
	}
	for _, l := range labels {
		if !slices.Contains(names, l) {
			return nil, misuse.Errorf("policies: %s", scenario.Unknown(l, names))
		}
	}
	if racing == nil {
		for k := range all {
			racing = append(racing, k)
		}
	}
	return racing, nil
}

// touches reports whether the field at path can change what policy k of all does.
func touches(path string, all []scenario.Choice, k int) bool {
	rest, own := strings.CutPrefix(path, "admission.")
	if !own {
		return true
	}
	name, _, _ := strings.Cut(rest, ".")
	if i, err := strconv.Atoi(name); err == nil {
		return i == k
	}
	return name == all[k].Label
}

// smooth reports whether the settings lie along one axis of increasing numbers.
func smooth(e *scenario.Experiment, settings []tune.Setting) bool {
	if len(e.Sweep) != 1 || len(settings) != len(e.Sweep[0].Values) {
		return false
	}
	last := math.Inf(-1)
	for _, v := range e.Sweep[0].Values {
		x, err := strconv.ParseFloat(string(v), 64)
		if err != nil || x <= last {
			return false
		}
		last = x
	}
	return true
}

// said describes the size of the search space.
func said(e *scenario.Experiment, settings []tune.Setting) string {
	policies := make(map[string]bool)
	for _, s := range settings {
		policies[s.Policy] = true
	}
	return fmt.Sprintf("%d of policies and %d of axes", len(policies), len(e.Sweep))
}
