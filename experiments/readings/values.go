package readings

import (
	"math"
	"slices"

	"bourse/experiments/report"
)

// Values are what programs read of readings.
type Values struct {
	Scenario string         `json:"scenario"`
	Files    []string       `json:"files" doc:"that were written"`
	Notes    []string       `json:"notes"`
	Effects  []effectValue  `json:"effects" doc:"what each factor explains, the most first"`
	Rest     *float64       `json:"rest" doc:"part of the variance that interactions explain"`
	LogRest  *float64       `json:"log_rest" doc:"of that of its logarithm"`
	Numbers  []numberValue  `json:"numbers" doc:"what is printed"`
	Readings []readingValue `json:"readings" doc:"the nearest first"`
}

type effectValue struct {
	Factor   string    `json:"factor"`
	Share    *float64  `json:"share" doc:"of the variance of the distance over the array"`
	LogShare *float64  `json:"log_share" doc:"of that of its logarithm"`
	Chance   *float64  `json:"chance" doc:"share of a factor that does nothing"`
	Values   []atValue `json:"values"`
}

type atValue struct {
	Value    string   `json:"value"`
	Distance *float64 `json:"distance" doc:"mean over the array"`
}

type numberValue struct {
	Configuration string  `json:"configuration"`
	Admission     string  `json:"admission"`
	Metric        string  `json:"metric"`
	Lo            float64 `json:"lo"`
	Hi            float64 `json:"hi" doc:"as lo, but of a range"`
	Error         float64 `json:"error" doc:"standard error of what is printed"`
	Known         bool    `json:"known" doc:"the error is; otherwise it is that of as many replications as the paper had, which vary as ours do"`
	Source        string  `json:"source"`
	MetBy         float64 `json:"met_by" doc:"part of all readings"`
}

type readingValue struct {
	Values []string       `json:"values" doc:"of each factor, in the order of the file"`
	Array  bool           `json:"array" doc:"of the orthogonal array"`
	First  distanceValue  `json:"first"`
	Again  *distanceValue `json:"again" doc:"with other seeds, of the nearest and the scenario as it is"`
}

type distanceValue struct {
	Distance *float64   `json:"distance" doc:"root mean square of z"`
	Error    *float64   `json:"error" doc:"standard error of the distance (jackknife over replications)"`
	Met      int        `json:"met" doc:"numbers less than 1.96 errors off"`
	Of       int        `json:"of" doc:"numbers of which anything was measured"`
	Z        []*float64 `json:"z" doc:"by number"`
}

// known returns x if it is a number.
func known(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

func (a *against) value() distanceValue {
	v := distanceValue{Distance: known(a.distance.Value), Error: known(errorOf(a.distance)), Met: a.met, Of: a.of}
	for _, z := range a.z {
		v.Z = append(v.Z, known(z))
	}
	return v
}

// values returns what programs read.
func (found *Found) values(l report.Labels, files []string) Values {
	effects, rest, logRest := found.effects()
	v := Values{Scenario: found.File.Scenario, Files: report.List(files), Notes: found.notes(l), Rest: known(rest), LogRest: known(logRest)}
	for _, e := range effects {
		f := &found.File.Factors[e.factor]
		one := effectValue{Factor: f.Name, Share: known(e.share), LogShare: known(e.logShare), Chance: known(e.chance)}
		for i, x := range f.Values {
			one.Values = append(one.Values, atValue{x.Label, known(e.means[i])})
		}
		v.Effects = append(v.Effects, one)
	}
	for i, n := range found.Numbers {
		v.Numbers = append(v.Numbers, numberValue{n.Configuration, n.Admission, n.Metric, n.Lo, n.Hi, found.errors[i], n.Error != nil, n.Source, found.metBy(i)})
	}
	for _, r := range found.order() {
		one := readingValue{Array: found.Readings[r].Array, First: found.first[r].value()}
		for i := range found.File.Factors {
			one.Values = append(one.Values, found.File.label(found.Readings[r], i))
		}
		if i := slices.Index(found.rerun, r); i >= 0 {
			again := found.again[i].value()
			one.Again = &again
		}
		v.Readings = append(v.Readings, one)
	}
	return v
}
