package scenario

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bourse/workloadgen/config"
)

func presets() map[string][]byte {
	return map[string][]byte{"paper": []byte(small), "grid": nil}
}

// overrides returns the overrides listed in the first lines of a broken file:
//
//	# --set path=value
func overrides(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		s, ok := strings.CutPrefix(line, "# --set ")
		if !ok {
			break
		}
		out = append(out, strings.TrimSuffix(s, "\n"))
	}
	return out
}

// TestBroken checks that each broken file is rejected quickly, with a message that states
// the position, what was found and what is valid.
func TestBroken(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/broken/*.yaml")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	known := names()
	known.Presets, known.Metrics = presets(), []string{"violations", "rejections"}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Parse(filepath.Base(path), data, known, overrides(string(data))...)
			var e *config.Error
			if !errors.As(err, &e) {
				t.Fatalf("error = %v, want an Error", err)
			}
			golden(t, strings.TrimSuffix(path, ".yaml")+".err", []byte(err.Error()+"\n"))
		})
	}
}

// TestOptions checks that errors in a plug-in's options are reported with their positions
// when the plug-in decodes them.
func TestOptions(t *testing.T) {
	t.Parallel()
	type inner struct {
		Deep []float64 `yaml:"deep"`
	}
	type Shared struct {
		Guarantee float64 `yaml:"guarantee" validate:"gt=0,lt=1" doc:"g"`
	}
	for options, want := range map[string]string{
		"guarantee: 1.5":        `f.yaml:3:50: configurations.low.admission.cac.guarantee: found 1.5, want a number more than 0 and less than 1 (g)`,
		"bare: 4":               `f.yaml:3:45: configurations.low.admission.cac.bare: found 4, want a whole number at most 3`,
		"guarantee: high":       `f.yaml:3:50: configurations.low.admission.cac.guarantee: found high, want a number more than 0 and less than 1 (g)`,
		"guarantee: 1e999":      `f.yaml:3:50: configurations.low.admission.cac.guarantee: found 1e999, want a number more than 0 and less than 1 (g)`,
		"guarantee: nan":        `f.yaml:3:50: configurations.low.admission.cac.guarantee: found nan, want a number more than 0 and less than 1 (g)`,
		"garantee: 0.5":         `f.yaml:3:39: configurations.low.admission.cac.garantee: unknown field, did you mean guarantee? want one of guarantee, inner, free, bare, three`,
		"inner: {deep: [0, x]}": `f.yaml:3:57: configurations.low.admission.cac.inner.deep.1: found x, want a number`,
		"three: 3":              `f.yaml:3:46: configurations.low.admission.cac.three: found 3, want a list of 3, each a number`,
		"three: [1, 2]":         `f.yaml:3:46: configurations.low.admission.cac.three: found a list of 2, want a list of 3, each a number`,
		"three: [1, 2, x]":      `f.yaml:3:53: configurations.low.admission.cac.three.2: found x, want a number`,
		"free: {a: [1e999]}":    `f.yaml:3:50: configurations.low.admission.cac.free.a.0: found 1e999, want a number`,
	} {
		text := "name: x\nconfigurations:\n- {name: low, admission: [{name: cac, " + options + "}], workload: {model: paper}}\n"
		e, err := Parse("f.yaml", []byte(text), Known{})
		if err != nil {
			t.Fatal(err)
		}
		var o struct {
			Shared `yaml:",inline"`
			Inner  inner          `yaml:"inner"`
			Free   map[string]any `yaml:"free"`
			Bare   int            `validate:"max=3"`
			Three  [3]float64     `yaml:"three"`
		}
		o.Guarantee = 0.6
		err = e.Configurations[0].Admission[0].Decode(&o)
		if err == nil || err.Error() != want {
			t.Errorf("%s: error =\n%v, want\n%s", options, err, want)
		}
	}
}

// TestAtOnce checks that files that are too large or too deep are rejected before parsing,
// which would take minutes. The time limit is longer than any machine needs.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"large":           strings.Repeat("a", maxBytes+1),
		"flow lists":      strings.Repeat("[", maxBytes),
		"flow mappings":   strings.Repeat("{a: ", maxBytes/4),
		"sequences":       strings.Repeat("- ", maxBytes/2),
		"keys":            strings.Repeat("? ", maxBytes/2),
		"hidden brackets": strings.Repeat(`["]",`, maxBytes/5),
		"many items":      "name: x\nalphas:\n" + strings.Repeat("- 0\n", maxBytes/4-10),
		"many keys":       keys(maxBytes / 10),
		"most keys":       keys(maxValues - 2),
		"most names":      "name: x\nconfigurations:\n" + strings.Repeat("- a\n", maxValues-10),
	} {
		start := time.Now()
		if _, err := Parse(name, []byte(text), Known{}); err == nil {
			t.Errorf("%s: no error", name)
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%s: took %v", name, d)
		}
	}
}

// keys returns a mapping with n keys.
func keys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d:\n", i)
	}
	return b.String()
}
