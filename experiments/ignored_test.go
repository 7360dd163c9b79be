package experiments

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bourse/experiments/papers"
	"bourse/experiments/scenario"

	"github.com/goccy/go-yaml"
)

// others lists replacement values for fields whose values are words or that have no value.
var others = map[string]string{
	"horizon": "123456", "until": "{metric: wait, half_width: 1}", "figure": "{metrics: [wait]}",
	"availability": "{model: {name: always}}", "estimate": "{name: exponential, mean: 2}", "annotate": "{delay: 0.5}", "penalty": "{rate: 0.001}",
	"admission": "[{name: be, label: other}]", "alphas": "[0.25]", "speeds": "[1, 3]", "sweep": "[{path: sla.slack, values: [1, 7]}]",
	"sharing": "exclusive", "bidding": "fastest", "payment": "bid", "forecaster": "normal", "instant": "one-by-one",
	"enforcement": "per-host", "of": "estimate", "deadline": "soft", "model": "{name: exponential, jobs: 7}", "name": "other",
}

// leaves yields the path and the value of each field of a file that is not a mapping.
func leaves(v any, path string, yield func(path string, v any)) {
	m, ok := v.(map[string]any)
	if !ok || len(m) == 0 {
		yield(path, v)
		return
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		at := k
		if path != "" {
			at = path + "." + k
		}
		leaves(m[k], at, yield)
	}
}

// changed returns another value for a field, or an empty string if there is none.
func changed(path string, v any) string {
	field := path[strings.LastIndex(path, ".")+1:]
	switch x := v.(type) {
	case bool:
		return strconv.FormatBool(!x)
	case uint64:
		return fmt.Sprint(x + 1)
	case float64:
		return fmt.Sprint(x*0.75 + 0.01)
	case string:
		if other := others[field]; other != "" && other != x {
			return other
		}
		return strconv.Quote(x + "other")
	}
	return others[field]
}

// pointsOf returns the configurations at all points of a sweep, after all settings have been
// applied.
func pointsOf(e *scenario.Experiment) map[string][]scenario.Configuration {
	all := make(map[string][]scenario.Configuration)
	for _, c := range e.Expanded().Configurations {
		name, _, _ := strings.Cut(c.Name, "@")
		c.Name = name
		all[name] = append(all[name], c)
	}
	return all
}

// TestNoSettingIgnored changes every field of every preset, one at a time, in the base, in
// each configuration and in the experiment. The run must change, for a base field in each
// configuration, or the program must explain why it does not.
func TestNoSettingIgnored(t *testing.T) {
	t.Parallel()
	for name, preset := range papers.Presets() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, err := scenario.Parse("preset "+name, preset, Known())
			if err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer
			if err := scenario.Write(&text, before); err != nil {
				t.Fatal(err)
			}
			var file map[string]any
			if err := yaml.Unmarshal(text.Bytes(), &file); err != nil {
				t.Fatal(err)
			}
			configurations := file["configurations"].([]any)
			delete(file, "configurations")
			was := pointsOf(&before)
			tried, refused := 0, 0
			try := func(path, value, configuration string) {
				if value == "" {
					return
				}
				tried++
				after, err := scenario.Parse("preset "+name, preset, Known(), path+"="+value)
				if err != nil {
					refused++
					return
				}
				if configuration == "" && !strings.HasPrefix(path, "base.") {
					if scenario.Differ(&before, &after) == nil {
						t.Errorf("--set %s=%s changes nothing, and says nothing", path, value)
					}
					return
				}
				is := pointsOf(&after)
				for c, points := range was {
					stated := slices.ContainsFunc(after.Overrides(), func(o scenario.Override) bool { return slices.Contains(o.Configurations, c) })
					same := len(points) == len(is[c])
					for i := 0; same && i < len(points); i++ {
						same = scenario.Differ(&points[i], &is[c][i]) == nil
					}
					if same && !stated && (configuration == "" || configuration == c) {
						t.Errorf("--set %s=%s changes nothing in %s, and says nothing", path, value, c)
					}
				}
			}
			leaves(file, "", func(path string, v any) { try(path, changed(path, v), "") })
			for _, c := range configurations {
				fields := c.(map[string]any)
				name := fields["name"].(string)
				delete(fields, "name")
				leaves(fields, "", func(path string, v any) {
					if path != "" {
						try("configurations."+name+"."+path, changed(path, v), name)
					}
				})
			}
			if tried < 30 || refused > tried/2 {
				t.Errorf("%d fields changed, %d of them refused", tried, refused)
			}
			t.Logf("%d fields changed, %d of them refused", tried, refused)
		})
	}
}
