package readings

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/experiments/report"
	"bourse/experiments/results"
)

// Document returns what was found: what explains the distance, the nearest readings run
// again, each change alone, and the numbers; the specification curve; and, as files, tables
// of readings, effects and numbers.
func (found *Found) Document(l report.Labels) report.Document {
	f := found.File
	array := 0
	for _, r := range found.Readings {
		if r.Array {
			array++
		}
	}
	d := report.Document{
		Title: f.Title,
		Lead: fmt.Sprintf("%d readings of %s, %d replications each, against %d printed numbers: an orthogonal array of strength %d over %d factors (%d readings), and each change of one factor alone.",
			len(found.Readings), f.Scenario, f.Replications, len(found.Numbers), f.Strength, len(f.Factors), array),
		Tables:  []report.Table{found.explained(), found.confirmed(), found.alone(), found.numbers(l)},
		Figures: []report.Figure{found.curve()},
		Notes:   found.notes(l),
		Data:    []report.File{{Name: "readings.json", Data: found.json(l)}, {Name: "readings.csv", Data: found.readingsCSV()}, {Name: "effects.csv", Data: found.effectsCSV()}, {Name: "numbers.csv", Data: found.numbersCSV()}},
	}
	d.Values = func(files []string) any { return found.values(l, files) }
	if d.Title == "" {
		d.Title = f.Name
	}
	return d
}

func (found *Found) json(l report.Labels) []byte {
	var b bytes.Buffer
	report.JSON[Values]().Write(&b, found.values(l, nil)) // a Buffer does not fail
	return b.Bytes()
}

// decimals writes a distance, or nothing where there is none.
func decimals(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

func percent(x float64) string { return strconv.FormatFloat(100*x, 'f', 1, 64) }

func cells(words ...string) (row []report.Cell) {
	for _, w := range words {
		row = append(row, report.Cell{Text: w})
	}
	return row
}

// said names what is not as the scenario has it.
func (found *Found) said(r Reading) string {
	var parts []string
	for i, v := range found.File.Factors {
		if r.Levels[i] != 0 {
			parts = append(parts, v.Name+" "+v.Values[r.Levels[i]].Label)
		}
	}
	if parts == nil {
		return "as the scenario is"
	}
	return strings.Join(parts, ", ")
}

func (found *Found) explained() report.Table {
	t := report.Table{
		Title: "What explains the distance", Left: 1, Header: []string{"factor", "variance, %", "of its log, %", "by chance, %", "mean distance at each value"},
		Note: "The part of the variance of the distance over the array that each factor alone explains (its main effect), and of its logarithm, in which readings that are far off count for less; by chance: if it did nothing.",
	}
	effects, rest, logRest := found.effects()
	for _, e := range effects {
		v := &found.File.Factors[e.factor]
		var means []string
		for i, x := range v.Values {
			means = append(means, x.Label+" "+decimals(e.means[i]))
		}
		row := cells(v.Name, percent(e.share), percent(e.logShare), percent(e.chance), strings.Join(means, ", "))
		row[1].Strong, row[2].Strong = e.share > 0.05, e.logShare > 0.05
		t.Rows = append(t.Rows, row)
	}
	t.Rows = append(t.Rows, cells("interactions", percent(rest), percent(logRest), "", ""))
	return t
}

func (found *Found) confirmed() report.Table {
	t := report.Table{
		Title: "The nearest readings, run again", Left: 2, Header: []string{"", "reading", "first", "again", "±", "met"},
		Note: fmt.Sprintf("Distances, and again with other seeds (± standard error): the nearest of %d are near by chance, too. Met: numbers that are less than %v errors off, again.",
			len(found.Readings), met),
	}
	for i, r := range found.rerun {
		a := &found.again[i]
		place := strconv.Itoa(slices.Index(found.order(), r) + 1)
		row := cells(place, found.said(found.Readings[r]), decimals(found.first[r].distance.Value), decimals(a.distance.Value),
			decimals(errorOf(a.distance)), fmt.Sprintf("%d of %d", a.met, a.of))
		row[0].At = placeOf(r)
		t.Rows = append(t.Rows, row)
	}
	return t
}

// placeOf returns the place on the page of the row that a reading has in a table.
func placeOf(r int) string { return report.Anchor("reading", strconv.Itoa(r)) }

func (found *Found) alone() report.Table {
	t := report.Table{
		Title: "One change alone", Left: 2, Header: []string{"factor", "value", "distance", "change", "±", "met"},
		Note: "Changes from the scenario as it is, and their standard errors, on the same jobs.",
	}
	base := &found.first[0]
	t.Rows = append(t.Rows, cells("", "as the scenario is", decimals(base.distance.Value), "", "", fmt.Sprintf("%d of %d", base.met, base.of)))
	for i, v := range found.File.Factors {
		for r, reading := range found.Readings {
			a := &found.first[r]
			if reading.changed() != i || len(a.distance.Parts) != len(base.distance.Parts) {
				continue
			}
			change := a.distance.Plus(-1, base.distance)
			row := cells(v.Name, found.File.label(reading, i), decimals(a.distance.Value), fmt.Sprintf("%+.2f", change.Value), decimals(errorOf(change)), fmt.Sprintf("%d of %d", a.met, a.of))
			if !slices.Contains(found.rerun, r) {
				row[1].At = placeOf(r)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// best returns the one of the rerun readings that was nearest again, by its place there.
func (found *Found) best() int {
	best := 0
	for i := range found.again {
		if found.again[i].distance.Value < found.again[best].distance.Value {
			best = i
		}
	}
	return best
}

func (found *Found) numbers(l report.Labels) report.Table {
	best, own := &found.again[found.best()], &found.again[slices.Index(found.rerun, 0)]
	t := report.Table{
		Title: "The numbers", Left: 3, Header: []string{"configuration", "policy", "metric", "printed", "error", "scenario", "z", "nearest", "z", "met by, %"},
		Note: "Scenario: as it is; nearest: the reading that was, again. Error: the standard error of what is printed; with ≈ not known, and that of as many replications as it had, which vary as ours do. Met by: of all readings.",
	}
	for i, n := range found.Numbers {
		e := strconv.FormatFloat(found.errors[i], 'f', 3, 64)
		if n.Error == nil {
			e = "≈ " + e
		}
		row := cells(l.Of(n.Configuration), l.Of(n.Admission), l.Of(n.Metric), n.printed(), e, mean(own.means[i]), decimals(own.z[i]), mean(best.means[i]), decimals(best.z[i]), percent(found.metBy(i)))
		row[6].Strong, row[8].Strong = math.Abs(own.z[i]) >= met, math.Abs(best.z[i]) >= met
		t.Rows = append(t.Rows, row)
	}
	return t
}

func mean(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return strconv.FormatFloat(x, 'f', 3, 64)
}

// metBy returns the part of all readings that meet number i.
func (found *Found) metBy(i int) float64 {
	n := 0.0
	for r := range found.first {
		if math.Abs(found.first[r].z[i]) < met {
			n++
		}
	}
	return n / float64(len(found.first))
}

func (found *Found) notes(l report.Labels) []string {
	all, most := 0, 0
	for r := range found.first {
		most = max(most, found.first[r].met)
		if a := &found.first[r]; a.of > 0 && a.met == a.of {
			all++
		}
	}
	said := []string{fmt.Sprintf("%d of %d readings meet all numbers; the most that one meets is %d of %d.", all, len(found.first), most, len(found.Numbers))}
	if pairs := found.alike(); pairs != nil {
		said = append(said, "Alone, these values gave the same numbers in every replication: "+strings.Join(pairs, "; ")+".")
	}
	var known []string
	var never []string
	for i := range found.Numbers {
		n := &found.Numbers[i]
		if n.Error != nil {
			known = append(known, named(l, n.Case))
		}
		if found.metBy(i) == 0 {
			never = append(never, named(l, n.Case))
		}
	}
	if never != nil {
		said = append(said, "Met by no reading: "+strings.Join(never, ", ")+".")
	}
	if known == nil {
		return append(said, "No error of what is printed is known.")
	}
	return append(said, "The error of what is printed is known of "+strings.Join(known, ", ")+".")
}

// named returns a case as people read it.
func named(l report.Labels, c Case) string {
	return l.Of(c.Configuration) + " " + l.Of(c.Admission) + " " + l.Of(c.Metric)
}

// curve returns the specification curve.
func (found *Found) curve() report.Figure {
	order, rows := found.order(), make(map[string]bool)
	for _, t := range []report.Table{found.confirmed(), found.alone()} {
		for _, row := range t.Rows {
			for _, c := range row {
				rows[c.At] = true
			}
		}
	}
	p := report.Panel{X: "rank", Y: "distance (rms z)", LogY: true, Curves: []report.Curve{{Name: "distance"}}, Marked: -1}
	for i, r := range order {
		d := found.first[r].distance
		if math.IsNaN(d.Value) {
			order = order[:i]
			break
		}
		if r == 0 {
			p.Marked = i
		}
		half := met * errorOf(d)
		pt := report.Point{X: float64(i + 1), Mean: d.Value, Lo: max(0, d.Value-half), Hi: d.Value + half}
		if rows[placeOf(r)] {
			pt.Row = placeOf(r)
		}
		p.Curves[0].Points = append(p.Curves[0].Points, pt)
	}
	for i, v := range found.File.Factors {
		for l, x := range v.Values {
			o := report.Option{Of: v.Name, Name: x.Label}
			for _, r := range order {
				o.Has = append(o.Has, found.Readings[r].Levels[i] == l)
			}
			p.Options = append(p.Options, o)
		}
	}
	return report.Figure{
		Name: "curve", Title: fmt.Sprintf("Distance of %d readings of %s from what is printed", len(order), found.File.Scenario), Panels: []report.Panel{p},
		Caption: "Readings in order of their distance, with 95 % intervals; below, what each has of every factor. The scenario as it is stands out. A point leads to its row of a table below, where it has one; all are in readings.csv, by rank.",
	}
}

func table(rows ...[]string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for _, row := range rows {
		for i := range row {
			if _, err := strconv.ParseFloat(row[i], 64); err != nil { // a number is no formula
				row[i] = results.SafeText(row[i])
			}
		}
		w.Write(row) // a Buffer does not fail
	}
	w.Flush()
	return b.Bytes()
}

func exact(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

func (found *Found) readingsCSV() []byte {
	head := []string{"rank", "array", "distance", "error", "met", "of"}
	for _, v := range found.File.Factors {
		head = append(head, v.Name)
	}
	rows := [][]string{append(head, "again", "again_error", "again_met")}
	for place, r := range found.order() {
		a := &found.first[r]
		row := []string{strconv.Itoa(place + 1), strconv.FormatBool(found.Readings[r].Array), exact(a.distance.Value), exact(errorOf(a.distance)), strconv.Itoa(a.met), strconv.Itoa(a.of)}
		for i := range found.File.Factors {
			row = append(row, found.File.label(found.Readings[r], i))
		}
		again := []string{"", "", ""}
		if i := slices.Index(found.rerun, r); i >= 0 {
			b := &found.again[i]
			again = []string{exact(b.distance.Value), exact(errorOf(b.distance)), strconv.Itoa(b.met)}
		}
		rows = append(rows, append(row, again...))
	}
	return table(rows...)
}

func (found *Found) effectsCSV() []byte {
	rows := [][]string{{"factor", "share", "log_share", "chance", "value", "mean_distance"}}
	effects, rest, logRest := found.effects()
	for _, e := range effects {
		v := &found.File.Factors[e.factor]
		for i, x := range v.Values {
			rows = append(rows, []string{v.Name, exact(e.share), exact(e.logShare), exact(e.chance), x.Label, exact(e.means[i])})
		}
	}
	return table(append(rows, []string{"interactions", exact(rest), exact(logRest), "", "", ""})...)
}

func (found *Found) numbersCSV() []byte {
	rows := [][]string{{"rank", "configuration", "admission", "metric", "printed", "printed_to", "printed_error", "error_known", "mean", "error", "z"}}
	for place, r := range found.order() {
		a := &found.first[r]
		for i, n := range found.Numbers {
			rows = append(rows, []string{strconv.Itoa(place + 1), n.Configuration, n.Admission, n.Metric, exact(n.Lo), exact(n.Hi), exact(found.errors[i]), strconv.FormatBool(n.Error != nil),
				exact(a.means[i]), exact(a.errors[i]), exact(a.z[i])})
		}
	}
	return table(rows...)
}
