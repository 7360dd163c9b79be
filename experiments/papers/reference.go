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

// A Reference is what a paper prints, in the words of its scenarios: reference.yaml of
// its folder, and [Paper.Figures].
type Reference struct {
	Preset  string    `yaml:"preset"` // beside whose results numbers are put
	Printed []Printed `yaml:"printed"`

	// Replications is how many runs each printed number is the mean of; 0 counts as 1.
	Replications int `yaml:"replications"`

	Tests Tests `yaml:"tests"`
	Fits  Fits  `yaml:"fits"`

	Metrics []string `yaml:"metrics"` // that its figures and tables show
	Figures Draw     `yaml:"-"`

	// The policies of the two markets that it compares: the value of (p_w - q)/(1 - q)
	// of the one is what p_a of the other must exceed (Market, eq. 13).
	Spot        string      `yaml:"spot"`
	Reservation string      `yaml:"reservation"`
	Thresholds  []Threshold `yaml:"thresholds"`

	Against []string `yaml:"-"` // where its numbers speak against it, a sentence each

	Labels   map[string]string `yaml:"labels"`   // names as it writes them
	Modelled []string          `yaml:"modelled"` // presets in which a recorded trace of availability has no place

	errorOf func(market.Printed, string, string, string) (float64, bool)
}

// Draw draws results of a scenario that asks for no figure.
type Draw func(report.Labels, []results.Summary, []results.Point) []report.Figure

// Printed is a number of each of these cases, beside which ours is put.
type Printed struct {
	Configuration config.Some[string] `yaml:"configuration"` // as the preset names it
	Admission     config.Some[string] `yaml:"admission"`
	Metric        config.Some[string] `yaml:"metric"`
	Value         config.Some[Digits] `yaml:"value"` // or the lowest and highest
	Text          string              `yaml:"text"`  // the paper's words, or what the number follows from
	Source        string              `yaml:"source"`

	// Derived: not printed of this case as such. It follows from a number
	// that is, or is said of a load without saying of which values.
	Derived bool `yaml:"derived"`
}

// Digits are a number with as many digits as it is printed with: 0.80 has two decimals.
type Digits string

// FromNode takes a number and stores its text.
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

// Tests are paired comparisons: Student's t over replications, first less second, in
// each configuration.
type Tests struct {
	Title          string   `yaml:"title"`
	Critical       float64  `yaml:"critical"` // the t above which one is significant
	Configurations []string `yaml:"configurations"`
	Rows           []struct {
		First  string    `yaml:"first"` // admission
		Second string    `yaml:"second"`
		Metric string    `yaml:"metric"`
		T      []float64 `yaml:"t"`
		Bold   []bool    `yaml:"bold"` // significant
	} `yaml:"rows"`
}

// Fits say how well models fit a trace, by the Kolmogorov-Smirnov test.
type Fits struct {
	Title string `yaml:"title"`
	Rows  []struct {
		Law      string  `yaml:"law"`      // Trace is the trace against itself
		Column   string  `yaml:"column"`   // IAT, RUN or CPU
		Success  float64 `yaml:"success"`  // share of samples that do not reject the model
		Complete float64 `yaml:"complete"` // distance over the complete data
		Mean     float64 `yaml:"mean"`     // distance, mean over the samples
	} `yaml:"rows"`
}

// A Threshold is what p_a must exceed.
type Threshold struct {
	Configuration string  `yaml:"configuration"`
	Value         float64 `yaml:"value"`   // rounded as printed
	Reserve       bool    `yaml:"reserve"` // p_a exceeds it
	Source        string  `yaml:"source"`
}

// Of returns what is shown with results of a preset: what its paper prints and draws.
// What that does not say, and all for a scenario of no paper, is as the first of the
// table says; its numbers are of its preset alone.
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

// Beside returns what is shown with results of an experiment: [Of] its name. Where it is
// another than the preset's of that name, nothing of it is called by a number of the paper,
// and no number of the paper's stands beside it.
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

// unnumbered returns a title without the number that a paper gives it: what follows
// "Figure 1. ".
func unnumbered(title string) string {
	if number, rest, ok := strings.Cut(title, ". "); ok && strings.ContainsAny(number, "0123456789") {
		return rest
	}
	return title
}

// apart returns the first field in which an experiment is another than the preset of its
// name, or nil if there is none: but for its seed and how often it is repeated, how its
// results are called and drawn, and recorded logs and traces in place of models. All of an
// experiment that no preset is called as is apart.
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
	if err != nil { // of another kind of scenario than the preset
		return &scenario.Difference{Field: "configurations", One: err.Error(), Other: "as the preset has them"}
	}
	mine, theirs := e.Expanded(), paper.Expanded()
	return scenario.Differ(&mine, &theirs, "seed", "replications", "until", "title", "figure")
}

// or returns r, and what it does not say as other does.
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

// reference reads what p prints.
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

// Number returns the number printed of a case, if it is one and not a range.
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

// Rounding returns half a unit of the last printed digit of the number printed of a case: how
// far rounding may have moved it.
func (r Reference) Rounding(configuration, admission, metric string) (float64, bool) {
	d, ok := r.digits(configuration, admission, metric)
	return d.rounding(), ok
}

// Tested returns what is printed of a test in a configuration.
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

// Critical returns the configurations of the tests, and the t that is critical.
func (r *Reference) Critical() ([]string, float64) { return r.Tests.Configurations, r.Tests.Critical }

// Error returns the standard error of a number that is printed, where the paper lets it be
// known.
func (r *Reference) Error(configuration, admission, metric string) (float64, bool) {
	if r.errorOf == nil {
		return 0, false
	}
	return r.errorOf(r, configuration, admission, metric)
}

// T returns what is printed of row i of the tests in a configuration.
func (t Tests) T(i int, configuration string) (value *float64, significant bool) {
	c := slices.Index(t.Configurations, configuration)
	if c < 0 {
		return nil, false
	}
	return &t.Rows[i].T[c], t.Rows[i].Bold[c]
}

// Metrics returns what is compared.
func (t Tests) Metrics() (metrics []string) {
	for _, row := range t.Rows {
		if !slices.Contains(metrics, row.Metric) {
			metrics = append(metrics, row.Metric)
		}
	}
	return metrics
}
