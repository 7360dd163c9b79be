package study

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/experiments/misuse"
	"bourse/experiments/scenario"
)

// contenders returns an experiment with one configuration per setting, each with a single
// policy. It also returns the settings. If two points differ only in the options of other
// policies, they are one setting of a policy.
func contenders(e *scenario.Experiment, ask *TuneAsk) (*scenario.Experiment, []settingRow, error) {
	names := configurations(e)
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
	x.Sweep, x.Until, x.Replications, x.Configurations = nil, nil, 2, nil // use two replications, to detect whether all replications are the same
	x.Figure = &scenario.Figure{Metrics: []string{ask.Metric}}
	var settings []settingRow
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
				settings = append(settings, settingRow{Setting: Setting{c.Admission[0].Label, at}})
			}
		}
	}
	return &x, settings, nil
}

// along returns the value on each axis at the n-th point. The first axis varies slowest.
func along(axes []scenario.Axis, n int) []string {
	at := make([]string, len(axes))
	for i := len(axes) - 1; i >= 0; i-- {
		all := axes[i].Values
		at[i] = string(all[n%len(all)])
		n /= len(all)
	}
	return at
}

// racers returns the positions of the policies to compare. If labels are given, these are the
// policies with these labels. Otherwise they are the policies with an option as an axis or, if
// there are none, all policies.
func racers(e *scenario.Experiment, all []scenario.Choice, labels []string) (racing []int, err error) {
	names := labelsOf(all)
	for _, l := range labels {
		if !slices.Contains(names, l) {
			return nil, misuse.Errorf("policies: %s", scenario.Unknown(l, names))
		}
	}
	every := make([]int, len(all))
	for k := range all {
		every[k] = k
		named := slices.ContainsFunc(e.Sweep, func(a scenario.Axis) bool {
			return slices.ContainsFunc(a.Fields(), func(path string) bool { return strings.HasPrefix(path, "admission.") && touches(path, all, k) })
		})
		if slices.Contains(labels, names[k]) || labels == nil && named {
			racing = append(racing, k)
		}
	}
	if racing == nil {
		return every, nil
	}
	return racing, nil
}

// touches reports whether the field at path can affect policy k of all.
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

// smooth reports whether the settings lie along a single axis of increasing numbers.
func smooth(e *scenario.Experiment, settings []settingRow) bool {
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

// size describes the size of the search space.
func size(e *scenario.Experiment, settings []settingRow) string {
	return fmt.Sprintf("%d from policies and %d from axes", len(policies(settings)), len(e.Sweep))
}

// policies returns the policies of settings.
func policies(settings []settingRow) map[string]bool {
	all := make(map[string]bool)
	for i := range settings {
		all[settings[i].Policy] = true
	}
	return all
}

// configurations returns the names of the configurations of e.
func configurations(e *scenario.Experiment) (names []string) {
	for i := range e.Configurations {
		names = append(names, e.Configurations[i].Name)
	}
	return names
}

// labelsOf returns the labels of policies.
func labelsOf(all []scenario.Choice) (labels []string) {
	for i := range all {
		labels = append(labels, all[i].Label)
	}
	return labels
}
