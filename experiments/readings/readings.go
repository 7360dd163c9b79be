// Package readings holds the readings of a scenario against printed numbers.
//
// A paper leaves decisions open: each is a factor with values, and a choice of one value
// each is a reading. A designed grid of them is run; how far each reading is from all
// that is printed says which decisions matter, and which reading is nearest. (A
// multiverse analysis: Steegen, Tuerlinckx, Gelman, Vanpaemel 2016; its figure is the
// specification curve of Simonsohn, Simmons, Nelson 2020.)
//
// It knows files of factors and numbers, designs, distances and what explains them. It
// does not know what any factor or metric means, nor how anything is run.
//
// # Distance
//
// A printed number x of the paper, or a range of them, is met by the mean m of n
// replications at a distance of
//
//	z = (m - x) / √(e² + d² + s²/n)
//
// where s is the deviation of our replications, d that of what rounding took when x was
// printed, and e the paper's own standard error. Where that is not known the paper's
// number is taken for a mean of as many replications as it had, which vary as ours do: e²
// is the mean of s² over all readings, by those replications. So it is the same for all
// readings, and no reading comes near by being noisy. The distance of a reading is the root
// mean square of its z: about 1 if it were the paper's.
//
// # Design
//
// The readings are an orthogonal array of strength 2 or 3 (all combinations of the values of
// any two, or three, factors come equally often), and each change of one factor alone.
// In an array of strength 3 the mean distance at the value of a factor is free of
// interactions of two factors. The variance of the distance over the array then falls into
// a part for each factor, its main effect, which adds up with all interactions to the
// whole: first-order indices of Sobol for factors that are as often at each value.
package readings

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"bourse/experiments/misuse"
	"bourse/workloadgen/config"
)

// A File says what is read in how many ways, and what is printed.
type File struct {
	Name     string `yaml:"name"`
	Title    string `yaml:"title"`
	Scenario string `yaml:"scenario"` // a preset, or a scenario file
	Printed  string `yaml:"printed"`  // a table of numbers (CSV); empty: what the paper of the preset prints

	Metrics  []string `yaml:"metrics"`  // whose printed numbers count; none: all
	Digits   int      `yaml:"digits"`   // after the point, in print
	Repeated int      `yaml:"repeated"` // replications behind a printed number

	Seed         uint64  `yaml:"seed"`
	Replications int     `yaml:"replications"`
	Strength     int     `yaml:"strength"` // of the array: 2 or 3
	Most         int     `yaml:"most"`     // readings of the array
	Confirm      confirm `yaml:"confirm"`

	Factors []factor `yaml:"factors"`

	root *config.Node
}

// Confirm says how the nearest readings are run again, as often as before: the nearest of
// many is near by chance, too.
type confirm struct {
	Best int    `yaml:"best"`
	Seed uint64 `yaml:"seed"`
}

// A factor is a decision that is left open.
type factor struct {
	Name   string              `yaml:"name"`
	Path   config.Some[string] `yaml:"path"`   // of the scenario, where it is a field there; several take the same value
	Metric config.Some[string] `yaml:"metric"` // or of printed numbers, where it is what is measured of them; several take a list
	Values []value             `yaml:"values"` // the first is the scenario's own
}

// A value is one way to read a factor.
type value struct {
	Label string `yaml:"label"`
	Value any    `yaml:"value"`

	metrics []string // that are measured for those of the factor
}

// Parse reads a file of readings, which errors call source. They name line and field.
func Parse(source string, text []byte) (*File, error) {
	f := &File{
		Digits: 2, Repeated: 5, Seed: 1, Replications: 10, Strength: 3, Most: 1000,
		Confirm: confirm{Best: 10, Seed: 2},
	}
	root, err := config.Parse(source, text)
	if err == nil {
		err = root.Fill("", f)
	}
	if err != nil {
		return nil, misuse.Of(err)
	}
	f.root = root
	return f, f.check()
}

var (
	nameOf = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9-]*$`)
	wordOf = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]*$`)
)

// check returns the first thing that is wrong with f.
func (f *File) check() error {
	for _, n := range []struct {
		field     string
		x, lo, hi int
	}{
		{"digits", f.Digits, 0, 12}, {"repeated", f.Repeated, 1, 1e6}, {"replications", f.Replications, 2, 1e6},
		{"strength", f.Strength, 2, 3}, {"most", f.Most, 1, 1e5}, {"confirm.best", f.Confirm.Best, 1, 1e4},
	} {
		if n.x < n.lo || n.x > n.hi {
			return f.fail(n.field, "found %d, want %d to %d", n.x, n.lo, n.hi)
		}
	}
	switch {
	case !nameOf.MatchString(f.Name):
		return f.fail("name", "found %.40q, want letters, digits and dashes", f.Name)
	case f.Scenario == "":
		return f.fail("scenario", "missing, want a preset or a scenario file")
	case len(f.Factors) == 0:
		return f.fail("factors", "found none, want at least one")
	case f.Confirm.Seed == f.Seed:
		return f.fail("confirm.seed", "found %d, which is seed, want another", f.Seed)
	}
	seen := map[string]bool{}
	for i := range f.Factors {
		at, v := fmt.Sprintf("factors.%d", i), &f.Factors[i]
		switch {
		case !wordOf.MatchString(v.Name):
			return f.fail(at+".name", "found %.40q, want letters, digits, dashes and underscores", v.Name)
		case seen[v.Name]:
			return f.fail(at+".name", "found %s twice", v.Name)
		case (len(v.Path) > 0) == (len(v.Metric) > 0):
			return f.fail(at, "want either path, a field of the scenario, or metric")
		case len(v.Values) < 2:
			return f.fail(at+".values", "found %d, want at least two", len(v.Values))
		}
		seen[v.Name] = true
		for _, p := range v.Path {
			if p == "" || strings.Contains(p, "=") {
				return f.fail(at+".path", "found %.40q, want a path such as base.market.payment", p)
			}
		}
		for j := range v.Values {
			at, x := fmt.Sprintf("%s.values.%d", at, j), &v.Values[j]
			same := func(o value) bool { return o.Label == x.Label }
			if x.metrics = texts(x.Value); len(v.Metric) > 0 && len(x.metrics) != len(v.Metric) {
				return f.fail(at+".value", "found %v, want %d metrics", x.Value, len(v.Metric))
			}
			if x.Label == "" {
				x.Label = fmt.Sprint(x.Value)
			}
			if slices.ContainsFunc(v.Values[:j], same) {
				return f.fail(at+".label", "found %q twice", x.Label)
			}
		}
	}
	return nil
}

// texts returns one text, or those of a list.
func texts(value any) (all []string) {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	for _, x := range list {
		if s, ok := x.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// fail returns an error at a path, such as factors.1.values.0: its place is that of the nearest
// value above that the file has.
func (f *File) fail(path, format string, args ...any) error {
	path, at, _ := f.root.Follow(path)
	return misuse.Of(at.At.Fail(path, format, args...))
}

// Blame says that err, of the scenario as r has it, comes of the factor that r changes
// alone, or else of the scenario itself.
func (f *File) Blame(r Reading, err error) error {
	at := r.changed()
	if at < 0 {
		return f.fail("scenario", "%v", err)
	}
	return f.fail(fmt.Sprintf("factors.%d.values.%d", at, r.Levels[at]), "%v", err)
}

// Sets returns the overrides of the scenario, path=value, that make it a reading. What is as
// the scenario has it is left alone.
func (f *File) Sets(r Reading) (sets []string) {
	for i, v := range f.Factors {
		if len(v.Path) == 0 || r.Levels[i] == 0 {
			continue
		}
		text := config.Of(v.Values[r.Levels[i]].Value).Flow()
		for _, p := range v.Path {
			sets = append(sets, p+"="+text)
		}
	}
	return sets
}

// metric returns what a printed metric is called by a reading.
func (f *File) metric(r Reading, name string) string {
	for i, v := range f.Factors {
		if at := slices.Index(v.Metric, name); at >= 0 {
			return v.Values[r.Levels[i]].metrics[at]
		}
	}
	return name
}

// Measures returns every metric that a printed one is called by some reading.
func (f *File) Measures(name string) []string {
	all := []string{name}
	for _, v := range f.Factors {
		if at := slices.Index(v.Metric, name); at >= 0 {
			all = all[:0]
			for _, x := range v.Values {
				all = append(all, x.metrics[at])
			}
		}
	}
	return all
}

// label returns what a reading has of a factor.
func (f *File) label(r Reading, factor int) string {
	return f.Factors[factor].Values[r.Levels[factor]].Label
}
