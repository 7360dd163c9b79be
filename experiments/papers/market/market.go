// Package market holds the numbers that "Admission Control in a Computational
// Market" (Sandholm, Lai, Clearwater) prints, and its scenario file.
//
// It knows names of configurations, policies and metrics as text, and does not
// know what any of them means.
package market

import (
	_ "embed"

	"github.com/goccy/go-yaml"
)

//go:embed reference.yaml
var reference []byte

// Printed is a number of the paper, beside which ours is put.
type Printed struct {
	Configuration string // as the preset names it
	Admission     string // be, sac, cac or rac
	Metric        string // violations, p_a, efficiency_0.5, …
	Lo, Hi        float64
	Text          string // the paper's words, or what the number follows from
	Source        string // § or eq.

	// Derived: not printed of this case as such. It follows from a number
	// that is, or is said of a load without saying of which values.
	Derived bool
}

// Reference returns the printed numbers, at most one for each configuration,
// admission and metric, in the order of the paper.
func Reference() []Printed {
	var out []Printed
	for _, p := range load().Printed {
		for _, c := range p.Configuration {
			for _, a := range p.Admission {
				for _, m := range p.Metric {
					out = append(out, Printed{c, a, m, p.Value[0], p.Value[len(p.Value)-1], p.Text, p.Source, p.Derived})
				}
			}
		}
	}
	return out
}

// A Threshold is the value of (p_w - q)/(1 - q) that p_a must exceed (eq. 13).
type Threshold struct {
	Configuration string  `yaml:"configuration"`
	Value         float64 `yaml:"value"`   // rounded as printed
	Reserve       bool    `yaml:"reserve"` // p_a exceeds it
	Source        string  `yaml:"source"`
}

// Thresholds returns those of eq. 14 to 17.
func Thresholds() []Threshold { return load().Thresholds }

// A Fit is a line of Table 1: how well a model fits the trace, over samples of
// 100, by the Kolmogorov-Smirnov test at 5 per cent.
type Fit struct {
	Law      string  `yaml:"law"`      // Trace is the trace against itself
	Column   string  `yaml:"column"`   // IAT, RUN or CPU
	Success  float64 `yaml:"success"`  // share of samples that do not reject the model
	Complete float64 `yaml:"complete"` // distance over the complete data
	Mean     float64 `yaml:"mean"`     // distance, mean over the samples
}

// T1 returns Table 1.
func T1() []Fit { return load().Table1 }

// A T is a cell of Table 2: Student's t of the paired differences of a metric
// over the five repetitions, first less second.
type T struct {
	Configuration string
	First, Second string // admission
	Metric        string
	T             float64
	Significant   bool // printed in bold: |t| above [Critical]
}

// Critical is the value of t that Table 2 compares with: 5 per cent, one-sided,
// four degrees of freedom.
const Critical = 2.1318

// T2 returns Table 2, row by row.
func T2() []T {
	var out []T
	t := load().Table2
	for _, r := range t.Rows {
		for i, c := range t.Configurations {
			out = append(out, T{c, r.First, r.Second, r.Metric, r.T[i], r.Bold[i]})
		}
	}
	return out
}

// A record is reference.yaml.
type record struct {
	Printed []struct {
		Configuration some[string]  `yaml:"configuration"`
		Admission     some[string]  `yaml:"admission"`
		Metric        some[string]  `yaml:"metric"`
		Value         some[float64] `yaml:"value"`
		Derived       bool          `yaml:"derived"`
		Source        string        `yaml:"source"`
		Text          string        `yaml:"text"`
	} `yaml:"printed"`
	Thresholds []Threshold `yaml:"thresholds"`
	Table1     []Fit       `yaml:"table1"`
	Table2     struct {
		Configurations []string `yaml:"configurations"`
		Rows           []struct {
			First  string    `yaml:"first"`
			Second string    `yaml:"second"`
			Metric string    `yaml:"metric"`
			T      []float64 `yaml:"t"`
			Bold   []bool    `yaml:"bold"`
		} `yaml:"rows"`
	} `yaml:"table2"`
}

// Some is one value or a list.
type some[E any] []E

// UnmarshalYAML takes both.
func (s *some[E]) UnmarshalYAML(unmarshal func(any) error) error {
	var one E
	if unmarshal(&one) == nil {
		*s = some[E]{one}
		return nil
	}
	return unmarshal((*[]E)(s))
}

// load reads what was compiled in: a mistake there is ours.
func load() record {
	var r record
	if err := yaml.UnmarshalWithOptions(reference, &r, yaml.Strict()); err != nil {
		panic("papers/market: " + err.Error())
	}
	return r
}
