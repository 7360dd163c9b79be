package study

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/experiments/report"
)

// document returns the results as a document. It lists the factors that explain the distance,
// the closest readings, each single change and the numbers. It also contains the specification
// curve (Simonsohn, Simmons, Nelson 2020), and tables of readings, effects and numbers as
// files.
func (d *distances) document(l report.Labels) report.Document {
	array := 0
	for _, r := range d.readings {
		if r.array {
			array++
		}
	}
	title := d.Title
	if title == "" {
		title = d.Name
	}
	var json bytes.Buffer
	report.JSON[ReadingsValues]().Write(&json, d.values(l, nil)) // writes to a Buffer cannot fail
	return report.Document{
		Title: title,
		Lead: fmt.Sprintf("This page compares %d variants of %s (%d replications each) with %d numbers printed in the paper. The variants are an orthogonal array of strength %d over %d factors (%d variants), and all variants that differ from the scenario in one factor.",
			len(d.readings), d.Scenario, d.Replications, len(d.numbers), d.Strength, len(d.Factors), array),
		Tables:  []report.Table{d.explained(), d.confirmed(), d.alone(), d.compared(l)},
		Figures: []report.Figure{d.curve()},
		Notes:   d.notes(l),
		Data:    []report.File{{Name: "readings.json", Data: json.Bytes()}, {Name: "readings.csv", Data: d.readingsCSV()}, {Name: "effects.csv", Data: d.effectsCSV()}, {Name: "numbers.csv", Data: d.numbersCSV()}},
		Values:  func(files []string) any { return d.values(l, files) },
	}
}

// decimals formats a distance.
func decimals(x float64) string { return digits(x, 'f', 2) }

func percent(x float64) string { return digits(100*x, 'f', 1) }

// said names the differences of a reading from the scenario.
func (d *distances) said(r reading) string {
	var parts []string
	for i, f := range d.Factors {
		if r.levels[i] != 0 {
			parts = append(parts, f.Name+" "+d.label(r, i))
		}
	}
	if parts == nil {
		return "as in the scenario"
	}
	return strings.Join(parts, ", ")
}

func (d *distances) explained() report.Table {
	t := report.Table{
		Title: "Variance of the distance explained by each factor", Left: 1, Header: []string{"factor", "variance, %", "of its log, %", "by chance, %", "mean distance at each value"},
		Note: "For each factor, the table shows the fraction of the variance of the distance over the array that the factor explains by itself (main effect). The table also shows this fraction for the logarithm of the distance, which gives less weight to very distant variants. The column \"by chance\" shows the fraction that a factor without effect would explain.",
	}
	share := func(x float64) report.Cell { return report.Cell{Text: percent(x), Strong: x > 0.05} }
	for _, e := range d.effects {
		var means []string
		for i, x := range d.Factors[e.factor].Values {
			means = append(means, x.Label+" "+decimals(e.means[i]))
		}
		t.Rows = append(t.Rows, report.Cells(d.Factors[e.factor].Name, share(e.share), share(e.logShare), percent(e.chance), strings.Join(means, ", ")))
	}
	t.Rows = append(t.Rows, report.Cells("interactions", percent(d.rest), percent(d.logRest), "", ""))
	return t
}

// score describes how many of the numbers a reading reproduces.
func (a *against) score() string { return fmt.Sprintf("%d of %d", a.met, a.of) }

func (d *distances) confirmed() report.Table {
	t := report.Table{
		Title: "Repeated runs of the closest variants", Left: 2, Header: []string{"", "variant", "first", "again", "±", "met"},
		Note: fmt.Sprintf("The table shows the original distances, and the distances with other seeds (± standard error). Some of the closest of %d variants are close only by chance. The column \"met\" shows the number of printed numbers that differ from the results with the other seeds by less than %v standard errors.",
			len(d.readings), met),
	}
	for i, r := range d.rerun {
		a := &d.again[i]
		place := report.Cell{Text: strconv.Itoa(slices.Index(d.order, r) + 1), At: placeOf(r)}
		t.Rows = append(t.Rows, report.Cells(place, d.said(d.readings[r]), decimals(d.first[r].distance.Value), decimals(a.distance.Value), decimals(errorOf(a.distance.Parts)), a.score()))
	}
	return t
}

// placeOf returns the page anchor of a reading's table row.
func placeOf(r int) string { return report.Anchor("reading", strconv.Itoa(r)) }

func (d *distances) alone() report.Table {
	base := &d.first[0]
	t := report.Table{
		Title: "One change at a time", Left: 2, Header: []string{"factor", "value", "distance", "change", "±", "met"},
		Note: "The table shows the difference between each result and the result of the unchanged scenario on the same jobs, with standard errors.",
		Rows: [][]report.Cell{report.Cells("", "as in the scenario", decimals(base.distance.Value), "", "", base.score())},
	}
	for i, f := range d.Factors {
		for r, reading := range d.readings {
			a := &d.first[r]
			if reading.changed() != i || len(a.distance.Parts) != len(base.distance.Parts) {
				continue
			}
			change, value := a.distance.Plus(-1, base.distance), report.Cell{Text: d.label(reading, i)}
			if !slices.Contains(d.rerun, r) {
				value.At = placeOf(r)
			}
			t.Rows = append(t.Rows, report.Cells(f.Name, value, decimals(a.distance.Value), fmt.Sprintf("%+.2f", change.Value), decimals(errorOf(change.Parts)), a.score()))
		}
	}
	return t
}

func (d *distances) compared(l report.Labels) report.Table {
	own, best := &d.again[slices.Index(d.rerun, 0)], &d.again[0]
	for i := range d.again {
		if d.again[i].distance.Value < best.distance.Value {
			best = &d.again[i]
		}
	}
	t := report.Table{
		Title: "The numbers", Left: 3, Header: []string{"configuration", "policy", "metric", "printed", "error", "scenario", "z", "closest", "z", "met by, %"},
		Note: "The column \"scenario\" is the unchanged scenario, and the column \"closest\" is the closest variant, run again. The column \"error\" is the standard error of the printed number. If the paper does not state this error, the error is estimated from our variance and the paper's number of replications, and marked ≈. The column \"met by\" is the percentage of all variants that meet the number.",
	}
	for i, n := range d.numbers {
		row := []any{l.Of(n.Configuration), l.Of(n.Admission), l.Of(n.Metric), n.String(), digits(d.errors[i], 'f', 3)}
		if n.err == nil {
			row[4] = "≈ " + digits(d.errors[i], 'f', 3)
		}
		for _, a := range []*against{own, best} {
			row = append(row, digits(a.means[i], 'f', 3), report.Cell{Text: decimals(a.z[i]), Strong: math.Abs(a.z[i]) >= met})
		}
		t.Rows = append(t.Rows, report.Cells(append(row, percent(d.metBy(i)))...))
	}
	return t
}

// metBy returns the fraction of readings that reproduce number i.
func (d *distances) metBy(i int) float64 {
	n := 0.0
	for r := range d.first {
		if math.Abs(d.first[r].z[i]) < met {
			n++
		}
	}
	return n / float64(len(d.first))
}

func (d *distances) notes(l report.Labels) []string {
	all, most := 0, 0
	for r := range d.first {
		a := &d.first[r]
		if most = max(most, a.met); a.of > 0 && a.met == a.of {
			all++
		}
	}
	said := []string{fmt.Sprintf("%d of %d variants meet all numbers; the best variant meets %d of %d.", all, len(d.first), most, len(d.numbers))}
	if pairs := d.alike(); pairs != nil {
		said = append(said, "When only this factor was changed, these values gave the same numbers in every replication: "+strings.Join(pairs, "; ")+".")
	}
	var known, never []string
	for i, n := range d.numbers {
		name := l.Of(n.Configuration) + " " + l.Of(n.Admission) + " " + l.Of(n.Metric)
		if n.err != nil {
			known = append(known, name)
		}
		if d.metBy(i) == 0 {
			never = append(never, name)
		}
	}
	if never != nil {
		said = append(said, "Numbers that no variant meets: "+strings.Join(never, ", ")+".")
	}
	if known == nil {
		return append(said, "The errors of the printed numbers are unknown.")
	}
	return append(said, "The error of the printed number is known for "+strings.Join(known, ", ")+".")
}

// curve returns the specification curve.
func (d *distances) curve() report.Figure {
	rows := make(map[string]bool)
	for _, t := range []report.Table{d.confirmed(), d.alone()} {
		for _, row := range t.Rows {
			for _, c := range row {
				rows[c.At] = true
			}
		}
	}
	order := d.order
	p := report.Panel{X: "rank", Y: "distance (rms z)", LogY: true, Curves: []report.Curve{{Name: "distance"}}, Marked: -1}
	for i, r := range order {
		distance := d.first[r].distance
		if math.IsNaN(distance.Value) {
			order = order[:i]
			break
		}
		if r == 0 {
			p.Marked = i
		}
		half := met * errorOf(distance.Parts)
		pt := report.Point{X: float64(i + 1), Mean: distance.Value, Lo: max(0, distance.Value-half), Hi: distance.Value + half}
		if rows[placeOf(r)] {
			pt.Row = placeOf(r)
		}
		p.Curves[0].Points = append(p.Curves[0].Points, pt)
	}
	for i, f := range d.Factors {
		for l, x := range f.Values {
			o := report.Option{Of: f.Name, Name: x.Label}
			for _, r := range order {
				o.Has = append(o.Has, d.readings[r].levels[i] == l)
			}
			p.Options = append(p.Options, o)
		}
	}
	return report.Figure{
		Name: "curve", Title: fmt.Sprintf("Distance of %d variants of %s from the printed numbers", len(order), d.Scenario), Panels: []report.Panel{p},
		Caption: "Variants are sorted by distance, with 95 % intervals. The values of every factor are shown below the distances. The unchanged scenario is highlighted. Points of variants that have a row in a table below link to this row. readings.csv contains all variants by rank.",
	}
}

func (d *distances) readingsCSV() []byte {
	head := []string{"rank", "array", "distance", "error", "met", "of"}
	for _, f := range d.Factors {
		head = append(head, f.Name)
	}
	var rows [][]any
	for place, r := range d.order {
		a := &d.first[r]
		row := []any{place + 1, d.readings[r].array, report.Maybe(a.distance.Value), report.Maybe(errorOf(a.distance.Parts)), a.met, a.of}
		for i := range d.Factors {
			row = append(row, d.label(d.readings[r], i))
		}
		again := []any{"", "", ""}
		if i := slices.Index(d.rerun, r); i >= 0 {
			b := &d.again[i]
			again = []any{report.Maybe(b.distance.Value), report.Maybe(errorOf(b.distance.Parts)), b.met}
		}
		rows = append(rows, append(row, again...))
	}
	return report.Sheet(append(head, "again", "again_error", "again_met"), rows)
}

func (d *distances) effectsCSV() []byte {
	var rows [][]any
	for _, e := range d.effects {
		f := &d.Factors[e.factor]
		for i, x := range f.Values {
			rows = append(rows, []any{f.Name, report.Maybe(e.share), report.Maybe(e.logShare), report.Maybe(e.chance), x.Label, report.Maybe(e.means[i])})
		}
	}
	rows = append(rows, []any{"interactions", report.Maybe(d.rest), report.Maybe(d.logRest), "", "", ""})
	return report.Sheet([]string{"factor", "share", "log_share", "chance", "value", "mean_distance"}, rows)
}

func (d *distances) numbersCSV() []byte {
	var rows [][]any
	for place, r := range d.order {
		a := &d.first[r]
		for i, n := range d.numbers {
			rows = append(rows, []any{place + 1, n.Configuration, n.Admission, n.Metric, report.Maybe(n.lo), report.Maybe(n.hi), report.Maybe(d.errors[i]), n.err != nil,
				report.Maybe(a.means[i]), report.Maybe(a.errors[i]), report.Maybe(a.z[i])})
		}
	}
	return report.Sheet([]string{"rank", "configuration", "admission", "metric", "printed", "printed_to", "printed_error", "error_known", "mean", "error", "z"}, rows)
}

// ReadingsValues is the JSON form of the results of readings.
type ReadingsValues struct {
	Scenario string         `json:"scenario"`
	Files    []string       `json:"files" doc:"files written"`
	Notes    []string       `json:"notes"`
	Effects  []effectValue  `json:"effects" doc:"fraction of the variance that each factor explains, in decreasing order"`
	Rest     *float64       `json:"rest" doc:"fraction of the variance that interactions explain"`
	LogRest  *float64       `json:"log_rest" doc:"fraction of the variance of the logarithm of the distance that interactions explain"`
	Numbers  []numberValue  `json:"numbers" doc:"numbers printed in the paper"`
	Readings []readingValue `json:"readings" doc:"variants, the nearest first"`
}

type effectValue struct {
	Factor   string    `json:"factor"`
	Share    *float64  `json:"share" doc:"fraction of the variance of the distance over the array that the factor explains"`
	LogShare *float64  `json:"log_share" doc:"fraction of the variance of the logarithm of the distance over the array that the factor explains"`
	Chance   *float64  `json:"chance" doc:"fraction that a factor without effect would explain"`
	Values   []atValue `json:"values"`
}

type atValue struct {
	Value    string   `json:"value"`
	Distance *float64 `json:"distance" doc:"mean distance over the array"`
}

type numberValue struct {
	Case
	Lo     float64 `json:"lo"`
	Hi     float64 `json:"hi" doc:"upper end of a printed range; the same as lo if a single number was printed"`
	Error  float64 `json:"error" doc:"standard error of the printed number"`
	Known  bool    `json:"known" doc:"whether the paper states the error; if not, the error is estimated from our variance and the paper's number of replications"`
	Source string  `json:"source"`
	MetBy  float64 `json:"met_by" doc:"fraction of all variants that meet the number"`
}

type readingValue struct {
	Values []string       `json:"values" doc:"value of each factor, in the order of the file"`
	Array  bool           `json:"array" doc:"whether the variant is in the orthogonal array"`
	First  distanceValue  `json:"first"`
	Again  *distanceValue `json:"again" doc:"distance with other seeds; only for the closest variants and the unchanged scenario"`
}

type distanceValue struct {
	Distance *float64   `json:"distance" doc:"root mean square of z over the printed numbers"`
	Error    *float64   `json:"error" doc:"standard error of the distance, by a jackknife over replications"`
	Met      int        `json:"met" doc:"number of printed numbers that differ from the measurement by less than 1.96 standard errors"`
	Of       int        `json:"of" doc:"number of printed numbers for which there is a measurement"`
	Z        []*float64 `json:"z" doc:"z score of each number"`
}

// finite returns x if it is a finite number, or nil.
func finite(x float64) *float64 {
	if !report.Maybe(x).Exists() {
		return nil
	}
	return &x
}

func (a *against) value() *distanceValue {
	v := &distanceValue{Distance: finite(a.distance.Value), Error: finite(errorOf(a.distance.Parts)), Met: a.met, Of: a.of}
	for _, z := range a.z {
		v.Z = append(v.Z, finite(z))
	}
	return v
}

// values returns the results in JSON form.
func (d *distances) values(l report.Labels, files []string) ReadingsValues {
	v := ReadingsValues{Scenario: d.Scenario, Files: report.List(files), Notes: d.notes(l), Rest: finite(d.rest), LogRest: finite(d.logRest)}
	for _, e := range d.effects {
		f := &d.Factors[e.factor]
		one := effectValue{Factor: f.Name, Share: finite(e.share), LogShare: finite(e.logShare), Chance: finite(e.chance)}
		for i, x := range f.Values {
			one.Values = append(one.Values, atValue{x.Label, finite(e.means[i])})
		}
		v.Effects = append(v.Effects, one)
	}
	for i, n := range d.numbers {
		v.Numbers = append(v.Numbers, numberValue{n.Case, n.lo, n.hi, d.errors[i], n.err != nil, n.source, d.metBy(i)})
	}
	for _, r := range d.order {
		one := readingValue{Array: d.readings[r].array, First: *d.first[r].value()}
		for i := range d.Factors {
			one.Values = append(one.Values, d.label(d.readings[r], i))
		}
		if i := slices.Index(d.rerun, r); i >= 0 {
			one.Again = d.again[i].value()
		}
		v.Readings = append(v.Readings, one)
	}
	return v
}
