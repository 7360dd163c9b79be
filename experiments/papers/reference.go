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

// A Reference contains the printed numbers of a paper, with the names of its scenarios:
// reference.yaml in its folder, and [Paper.Figures].
type Reference struct {
	Preset  string    `yaml:"preset"` // preset with whose results the numbers are shown
	Printed []Printed `yaml:"printed"`

	// Replications is the number of runs behind each printed number; 0 counts as 1.
	Replications int `yaml:"replications"`

	Tests Tests `yaml:"tests"`
	Fits  Fits  `yaml:"fits"`

	Metrics []string `yaml:"metrics"` // metrics in its figures and tables
	Figures Draw     `yaml:"-"`

	// The policies of the two markets that the paper compares: p_a of one must exceed (p_w -
	// q)/(1 - q) of the other (Market, eq. 13).
	Spot        string      `yaml:"spot"`
	Reservation string      `yaml:"reservation"`
	Thresholds  []Threshold `yaml:"thresholds"`

	Against []string `yaml:"-"` // contradictions within its numbers, one sentence each

	Labels   map[string]string `yaml:"labels"`   // names as the paper writes them
	Modelled []string          `yaml:"modelled"` // presets that a recorded trace of availability cannot replace

	errorOf func(market.Printed, string, string, string) (float64, bool)
}

// Draw draws the results of a scenario that requests no figure.
type Draw func(report.Labels, []results.Summary, []results.Point) []report.Figure

// Printed is a printed number for each of these cases, which is shown with ours.
type Printed struct {
	Configuration config.Some[string] `yaml:"configuration"` // name in the preset
	Admission     config.Some[string] `yaml:"admission"`
	Metric        config.Some[string] `yaml:"metric"`
	Value         config.Some[Digits] `yaml:"value"` // or the lowest and the highest
	Text          string              `yaml:"text"`  // the paper's words, or the derivation of the number
	Source        string              `yaml:"source"`

	// Derived means that the paper does not print the number for this case. It follows from a
	// printed number, or is stated for a load without naming the values.
	Derived bool `yaml:"derived"`
}

// Digits are a number with its printed precision: 0.80 has two decimals.
type Digits string

// FromNode decodes a number and stores its text.
func (d *Digits) FromNode(n *config.Node, path string) error {
	var x float64
	*d = Digits(n.Text)
	return n.Decode(path, &x)
}

// Float64 returns the number.
func (d Digits) Float64() float64 { return must(strconv.ParseFloat(string(d), 64)) }

// rounding returns half a unit of the last digit. Zeros at the end of a whole number count as
// digits.
func (d Digits) rounding() float64 {
	_, decimals, _ := strings.Cut(string(d), ".")
	return must(strconv.ParseFloat("0.5e-"+strconv.Itoa(len(decimals)), 64))
}

// Tests are paired comparisons: Student's t over replications, first minus second, in each
// configuration.
type Tests struct {
	Title          string   `yaml:"title"`
	Critical       float64  `yaml:"critical"` // critical value of t
	Configurations []string `yaml:"configurations"`
	Rows           []struct {
		First  string    `yaml:"first"` // admission
		Second string    `yaml:"second"`
		Metric string    `yaml:"metric"`
		T      []float64 `yaml:"t"`
		Bold   []bool    `yaml:"bold"` // significant
	} `yaml:"rows"`
}

// Fits state how well models fit a trace, by the Kolmogorov-Smirnov test.
type Fits struct {
	Title string `yaml:"title"`
	Rows  []struct {
		Law      string  `yaml:"law"`      // Trace compares the trace with itself
		Column   string  `yaml:"column"`   // IAT, RUN or CPU
		Success  float64 `yaml:"success"`  // fraction of samples that do not reject the model
		Complete float64 `yaml:"complete"` // distance over the complete data
		Mean     float64 `yaml:"mean"`     // distance, mean over the samples
	} `yaml:"rows"`
}

// A Threshold is the value that p_a must exceed.
type Threshold struct {
	Configuration string  `yaml:"configuration"`
	Value         float64 `yaml:"value"`   // rounded as printed
	Reserve       bool    `yaml:"reserve"` // p_a exceeds it
	Source        string  `yaml:"source"`
}

// Of returns the reference to show with results of a preset: the printed numbers and figures
// of its paper. Missing parts, and everything for a scenario without a paper, are taken from
// the first paper of the table; numbers apply only to their own preset.
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

// Beside returns the reference to show with results of an experiment. [Of] its name. If the
// experiment differs from the preset of that name, no figure has a number of the paper, and
// no number of the paper is shown.
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

// apart returns the first field in which an experiment differs from the preset of its name,
// or nil if there is none. It ignores the seed, the number of replications, names and
// figures, and recorded logs and traces instead of models. An experiment without a preset of
// its name differs completely.
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
	if err != nil { // its scenario is of another kind than the preset's
		return &scenario.Difference{Field: "configurations", One: err.Error(), Other: "as in the preset"}
	}
	mine, theirs := e.Expanded(), paper.Expanded()
	return scenario.Differ(&mine, &theirs, "seed", "replications", "until", "title", "figure")
}

// or returns r, with missing parts taken from other.
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

// Number returns the printed number of a case, if it is a single number.
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

// Rounding returns half a unit of the last printed digit of a case: the maximum rounding
// error.
func (r Reference) Rounding(configuration, admission, metric string) (float64, bool) {
	d, ok := r.digits(configuration, admission, metric)
	return d.rounding(), ok
}

// Tested returns the printed result of a test in a configuration.
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

// Critical returns the configurations of the tests, and the critical t.
func (r *Reference) Critical() ([]string, float64) { return r.Tests.Configurations, r.Tests.Critical }

// Error returns the standard error of a printed number, if it can be derived from the paper.
func (r *Reference) Error(configuration, admission, metric string) (float64, bool) {
	if r.errorOf == nil {
		return 0, false
	}
	return r.errorOf(r, configuration, admission, metric)
}

// T returns the printed row i of the tests in a configuration.
func (t Tests) T(i int, configuration string) (value *float64, significant bool) {
	c := slices.Index(t.Configurations, configuration)
	if c < 0 {
		return nil, false
	}
	return &t.Rows[i].T[c], t.Rows[i].Bold[c]
}

// Metrics returns the compared metrics.
func (t Tests) Metrics() (metrics []string) {
	for _, row := range t.Rows {
		if !slices.Contains(metrics, row.Metric) {
			metrics = append(metrics, row.Metric)
		}
	}
	return metrics
}
