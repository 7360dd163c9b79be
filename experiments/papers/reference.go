package papers

import (
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"bourse/experiments/papers/market"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/workloadgen/config"
)

// A Reference contains the printed numbers of a paper, and the names of its scenarios. It
// combines reference.yaml in the paper's folder with [Paper.Figures].
type Reference struct {
	Preset  string    `yaml:"preset"` // preset whose results are compared with the numbers
	Printed []Printed `yaml:"printed"`

	// Replications is the number of runs on which each printed number is based; 0 means 1.
	Replications int `yaml:"replications"`

	Tests Tests `yaml:"tests"`
	Fits  Fits  `yaml:"fits"`

	Metrics []string `yaml:"metrics"` // metrics in the paper's figures and tables
	Figures Draw     `yaml:"-"`

	// The policies of the two markets that the paper compares. The p_a of one must exceed (p_w
	// - q)/(1 - q) of the other (Market, eq. 13).
	Spot        string      `yaml:"spot"`
	Reservation string      `yaml:"reservation"`
	Thresholds  []Threshold `yaml:"thresholds"`

	Against []string `yaml:"-"` // contradictions within the paper's numbers, one sentence each

	Labels   map[string]string `yaml:"labels"`   // names in the spelling of the paper
	Modelled []string          `yaml:"modelled"` // presets in which a recorded availability trace cannot replace the model

	errorOf func(market.Printed, string, string, string) (float64, bool)
}

// Draw draws figures of the results of a scenario that does not request a figure.
type Draw func(report.Labels, []results.Summary, []results.Point) []report.Figure

// A Printed is a number that the paper prints. It applies to each of the given cases. Tables
// show it next to the measured number.
type Printed struct {
	Configuration config.Some[string] `yaml:"configuration"` // name in the preset
	Admission     config.Some[string] `yaml:"admission"`
	Metric        config.Some[string] `yaml:"metric"`
	Value         config.Some[Digits] `yaml:"value"` // range from the lowest to the highest value, instead of a single value
	Text          string              `yaml:"text"`  // the paper's words, or the derivation of the number
	Source        string              `yaml:"source"`

	// Derived means that the paper does not print the number for this case. The number then
	// follows from another printed number, or the paper states it for a load without naming the
	// distribution of values.
	Derived bool `yaml:"derived"`
}

// Digits is a number with its printed precision. For example, 0.80 has two decimals.
type Digits string

// FromNode decodes a number and stores its text.
func (d *Digits) FromNode(n *config.Node, path string) error {
	var x float64
	*d = Digits(n.Text)
	return n.Decode(path, &x)
}

// Float64 returns the number.
func (d Digits) Float64() float64 { return must(strconv.ParseFloat(string(d), 64)) }

// rounding returns half a unit of the last printed digit. Zeros at the end of an integer count
// as printed digits.
func (d Digits) rounding() float64 {
	_, decimals, _ := strings.Cut(string(d), ".")
	return must(strconv.ParseFloat("0.5e-"+strconv.Itoa(len(decimals)), 64))
}

// Tests contains the results of paired tests: values of Student's t over replications for the
// first policy minus the second, in each configuration.
type Tests struct {
	Title          string   `yaml:"title"`
	Critical       float64  `yaml:"critical"` // critical value of t
	Configurations []string `yaml:"configurations"`
	Rows           []struct {
		First  string    `yaml:"first"` // label of the first policy
		Second string    `yaml:"second"`
		Metric string    `yaml:"metric"`
		T      []float64 `yaml:"t"`
		Bold   []bool    `yaml:"bold"` // whether the difference is printed as significant
	} `yaml:"rows"`
}

// Fits states how well models fit a trace, according to the Kolmogorov-Smirnov test.
type Fits struct {
	Title string `yaml:"title"`
	Rows  []struct {
		Law      string  `yaml:"law"`      // empty if the trace is compared with itself
		Column   string  `yaml:"column"`   // IAT, RUN or CPU
		Success  float64 `yaml:"success"`  // fraction of samples for which the test does not reject the model
		Complete float64 `yaml:"complete"` // distance over the complete data
		Mean     float64 `yaml:"mean"`     // mean distance over the samples
	} `yaml:"rows"`
}

// A Threshold is a value that p_a must exceed.
type Threshold struct {
	Configuration string  `yaml:"configuration"`
	Value         float64 `yaml:"value"`   // value as printed
	Reserve       bool    `yaml:"reserve"` // whether p_a exceeds the threshold
	Source        string  `yaml:"source"`
}

// Of returns the reference to show with the results of a preset. It contains the printed
// numbers and figures of the preset's paper. Missing parts are taken from the first paper in
// the table. A scenario without a paper also uses the first paper. Printed numbers apply only
// to their own preset.
func Of(preset string) Reference {
	r := table[0].reference()
	for _, p := range table[1:] {
		if _, own := p.presets()[preset]; own {
			r = p.reference().or(r)
		}
	}
	if r.Preset != preset {
		r.Printed, r.Tests.Configurations, r.Against = nil, nil, nil
	}
	return r
}

// Beside returns the reference to show with the results of an experiment: the result of [Of]
// for its name. If the experiment differs from the preset with this name, the paper's numbers
// and the paper's numbering of figures are removed.
func Beside(e *scenario.Experiment) Reference {
	r := Of(e.Name)
	if apart(e) == nil {
		return r
	}
	r.Printed, r.Tests.Configurations, r.Tests.Title, r.Against = nil, nil, unnumbered(r.Tests.Title), nil
	if draw := r.Figures; draw != nil {
		r.Figures = func(l report.Labels, summary []results.Summary, curve []results.Point) []report.Figure {
			all := draw(l, summary, curve)
			for i := range all {
				all[i].Title = unnumbered(all[i].Title)
			}
			return all
		}
	}
	return r
}

// unnumbered returns a title without the paper's number: the text after "Figure 1. ".
func unnumbered(title string) string {
	if number, rest, ok := strings.Cut(title, ". "); ok && strings.ContainsAny(number, "0123456789") {
		return rest
	}
	return title
}

// apart returns the first field in which an experiment differs from the preset with its name,
// or nil if there is none. It ignores the seed, the number of replications, names and figures.
// It also ignores recorded logs and traces that replace models. If no preset has the
// experiment's name, the whole experiment counts as different.
func apart(e *scenario.Experiment) *scenario.Difference {
	preset, ok := Presets()[e.Name]
	if !ok {
		return &scenario.Difference{Field: "name", One: e.Name, Other: "no preset"}
	}
	var known scenario.Known
	for _, c := range e.Configurations {
		if c.Workload.Filter != "" {
			known.Log = c.Workload.SWF
		}
		if a := c.Fleet.Availability; a != nil && a.File != "" {
			known.Trace, known.TraceFormat = a.File, a.Format
		}
	}
	paper, err := scenario.Parse(e.Name, preset, known)
	if err != nil { // the scenario and the preset are of different kinds
		return &scenario.Difference{Field: "configurations", One: err.Error(), Other: "as in the preset"}
	}
	mine, theirs := e.Expanded(), paper.Expanded()
	return scenario.Differ(&mine, &theirs, "seed", "replications", "until", "title", "figure")
}

// or returns r with its missing parts taken from other.
func (r Reference) or(other Reference) Reference {
	if r.Metrics == nil {
		r.Metrics = other.Metrics
	}
	if r.Figures == nil {
		r.Figures = other.Figures
	}
	if r.Tests.Rows == nil {
		r.Tests.Title, r.Tests.Rows = other.Tests.Title, other.Tests.Rows
	}
	return r
}

// reference reads the printed numbers of p.
func (p Paper) reference() Reference {
	r := Reference{Figures: p.Figures, errorOf: p.Error}
	data, err := files.ReadFile(p.Name + "/reference.yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return r
	}
	if err = errors.Join(err, config.Read(p.Name+"/reference.yaml", data, &r)); err != nil {
		panic("papers: " + err.Error())
	}
	if p.Against != nil {
		r.Against = p.Against(&r)
	}
	return r
}

// Number returns the printed number for a case, if it is a single number.
func (r Reference) Number(configuration, admission, metric string) (float64, bool) {
	d, ok := r.digits(configuration, admission, metric)
	if !ok {
		return 0, false
	}
	return d.Float64(), true
}

func (r Reference) digits(configuration, admission, metric string) (Digits, bool) {
	for _, n := range r.Printed {
		if len(n.Value) == 1 && slices.Contains(n.Configuration, configuration) && slices.Contains(n.Admission, admission) && slices.Contains(n.Metric, metric) {
			return n.Value[0], true
		}
	}
	return "", false
}

// Rounding returns half a unit of the last printed digit for a case, which is the maximum
// rounding error.
func (r Reference) Rounding(configuration, admission, metric string) (float64, bool) {
	d, ok := r.digits(configuration, admission, metric)
	return d.rounding(), ok
}

// Tested returns the printed result of a statistical test in a configuration.
func (r *Reference) Tested(configuration, first, second, metric string) (t float64, significant, ok bool) {
	for i, row := range r.Tests.Rows {
		if row.First == first && row.Second == second && row.Metric == metric {
			if t, significant := r.Tests.T(i, configuration); t != nil {
				return *t, significant, true
			}
		}
	}
	return 0, false, false
}

// Critical returns the configurations with tests and the critical value of t.
func (r *Reference) Critical() ([]string, float64) { return r.Tests.Configurations, r.Tests.Critical }

// Error returns the standard error of a printed number if it can be derived from the paper.
func (r *Reference) Error(configuration, admission, metric string) (float64, bool) {
	if r.errorOf == nil {
		return 0, false
	}
	return r.errorOf(r, configuration, admission, metric)
}

// T returns row i of the printed tests in a configuration.
func (t Tests) T(i int, configuration string) (value *float64, significant bool) {
	c := slices.Index(t.Configurations, configuration)
	if c < 0 {
		return nil, false
	}
	return &t.Rows[i].T[c], t.Rows[i].Bold[c]
}

// Metrics returns the metrics that are compared.
func (t Tests) Metrics() (metrics []string) {
	for _, row := range t.Rows {
		if !slices.Contains(metrics, row.Metric) {
			metrics = append(metrics, row.Metric)
		}
	}
	return metrics
}
