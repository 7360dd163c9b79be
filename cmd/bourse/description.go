package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"bourse/experiments/fitlab"
	"bourse/experiments/report"
	"bourse/workloadgen/describe"
	"bourse/workloadgen/memory"
	"bourse/workloadgen/swf"
)

// A description is what 'workload describe' shows, in every form.
type description struct {
	file *logFile
	log  *describe.Log
	fits *fitlab.Report
}

// lags are those at which the autocorrelation is shown.
func (d *description) lags() []int {
	var lags []int
	for _, lag := range []int{1, 2, 5, 10, 20, 50} {
		if lag < len(d.log.Autocorrelation) {
			lags = append(lags, lag)
		}
	}
	return lags
}

func (d *description) quantities() []describe.Quantity {
	return []describe.Quantity{d.log.IAT, d.log.Run, d.log.Procs, d.log.Overestimate}
}

// A namedEstimate is a Hurst exponent and how it was found.
type namedEstimate struct {
	name string
	memory.Estimate
}

// hurst returns the estimates of the Hurst exponent.
func (d *description) hurst() []namedEstimate {
	return []namedEstimate{
		{"rescaled range", d.log.RescaledRange},
		{"aggregated variance", d.log.AggregatedVariance},
		{"local Whittle", d.log.LocalWhittle},
	}
}

// tables returns the accounting, the counts, the moments and the memory.
func (d *description) tables() []report.Table {
	tables := []report.Table{d.lines()}
	if len(d.file.steps) > 0 {
		tables = append(tables, d.filters())
	}
	tables = append(tables, d.records(), d.moments(), d.exponents())
	if len(d.lags()) > 0 {
		tables = append(tables, d.correlation())
	}
	return tables
}

func (d *description) lines() report.Table {
	a := &d.file.trace.Accounting
	t := report.Table{
		Title:  "Lines of " + d.file.name,
		Header: []string{"line", "count", "first"}, Left: 1,
		Rows: [][]report.Cell{
			cells("all", a.Lines, ""), cells("comments", a.Comments, ""), cells("blank", a.Blank, ""),
			cells("used", a.Used, ""), cells("repaired", a.Repaired, ""), cells("skipped", a.Skipped, ""),
		},
		Note: "All are comments, blank, used, repaired or skipped; of a repaired line each reason is counted.",
	}
	for _, r := range a.Reasons() {
		t.Rows = append(t.Rows, cells(what(r)+": "+r.First.Reason.String(), r.Count, "line "+strconv.Itoa(r.First.Line)))
	}
	return t
}

func (d *description) filters() report.Table {
	t := report.Table{Title: "Filters", Header: []string{"filter", "kept", "of", "note"}, Left: 1}
	for _, s := range d.file.steps {
		t.Rows = append(t.Rows, cells(s.Filter, s.Out, s.In, s.Note))
	}
	return t
}

func (d *description) records() report.Table {
	l := d.log
	processors := math.NaN()
	if l.Processors > 0 {
		processors = float64(l.Processors)
	}
	return report.Table{
		Title: "Records", Header: []string{"what", "value"}, Left: 1,
		Rows: [][]report.Cell{
			cells("records", l.Records), cells("that ran", l.Ran), cells("users", l.Users),
			cells("mean gap, by records (s)", l.MeanIAT), cells("mean gap, by job numbers (s)", l.NumberedIAT),
			cells("processors", processors), cells("load", l.Load),
		},
		Note: "By job numbers: over all from the first record's to the last's, as papers count where a log has lost some.",
	}
}

func (d *description) moments() report.Table {
	t := report.Table{
		Title:  "Moments",
		Header: []string{"quantity", "unit", "n", "mean", "sd", "CV", "min", "5 %", "median", "95 %", "max"}, Left: 2,
	}
	for _, q := range d.quantities() {
		t.Rows = append(t.Rows, cells(q.Name, q.Unit, q.N, q.Mean, q.SD, q.CV, q.Min, q.P05, q.Median, q.P95, q.Max))
	}
	return t
}

func (d *description) exponents() report.Table {
	t := report.Table{Title: "Hurst exponent of the gaps", Header: []string{"estimator", "H", "s.e."}, Left: 1}
	for _, h := range d.hurst() {
		t.Rows = append(t.Rows, cells(h.name, h.H, h.SE))
	}
	return t
}

func (d *description) correlation() report.Table {
	t := report.Table{Title: "Autocorrelation of the gaps", Header: []string{"lag"}, Left: 1, Rows: [][]report.Cell{cells("r")}}
	for _, lag := range d.lags() {
		t.Header = append(t.Header, strconv.Itoa(lag))
		t.Rows[0] = append(t.Rows[0], cells(d.log.Autocorrelation[lag])...)
	}
	return t
}

// weekdays returns the records of each day of the week, Sunday first; where the
// header does not say when the log starts, of each seventh day from the first.
func (d *description) weekdays() [7]int {
	jobs := d.log.ByWeekday
	if !d.log.Clock {
		const thursday = 4 // the weekday that is counted from
		for i := range jobs {
			jobs[i] = d.log.ByWeekday[(i+thursday)%7]
		}
	}
	return jobs
}

// what was done to a line for a reason.
func what(t swf.Tally) string {
	if t.First.Reason.Skips() {
		return "skipped"
	}
	return "repaired"
}

// notes says what a reader of the numbers must know.
func (d *description) notes() []string {
	var notes []string
	if d.log.Processors == 0 {
		notes = append(notes, "The size of the machine is not known, so neither is the load: give --processors.")
	}
	if !d.log.Clock {
		notes = append(notes, "The header does not say when the log starts: hours and days count from its first record.")
	}
	parts := 0
	for status, n := range d.log.Statuses {
		if (&swf.Record{Status: status}).Partial() {
			parts += n
		}
	}
	if parts > 0 {
		notes = append(notes, fmt.Sprintf("%d records are parts of jobs that have records of their own; --filter whole leaves them out.", parts))
	}
	return notes
}

// json returns the description for programs.
func (d *description) json(files []string) any {
	type reason struct {
		Reason  string `json:"reason"`
		Done    string `json:"done"`
		Count   int    `json:"count"`
		First   int    `json:"first_line"`
		Example string `json:"example"`
	}
	type step struct {
		Filter string `json:"filter"`
		In     int    `json:"in"`
		Out    int    `json:"out"`
		Note   string `json:"note"`
	}
	type estimate struct {
		Estimator string `json:"estimator"`
		H         maybe  `json:"h"`
		SE        maybe  `json:"se"`
	}
	type correlation struct {
		Lag int   `json:"lag"`
		R   maybe `json:"r"`
	}
	type status struct {
		Status  int64 `json:"status"`
		Records int   `json:"records"`
	}
	l, a := d.log, &d.file.trace.Accounting
	reasons, steps := []reason{}, []step{}
	for _, r := range a.Reasons() {
		reasons = append(reasons, reason{r.First.Reason.String(), what(r), r.Count, r.First.Line, r.First.Found})
	}
	for _, s := range d.file.steps {
		steps = append(steps, step(s))
	}
	quantities := []momentsJSON{}
	for _, q := range d.quantities() {
		quantities = append(quantities, momentsOf(q))
	}
	hurst, correlations, statuses := []estimate{}, []correlation{}, []status{}
	for _, h := range d.hurst() {
		hurst = append(hurst, estimate{h.name, maybe(h.H), maybe(h.SE)})
	}
	for _, lag := range d.lags() {
		correlations = append(correlations, correlation{lag, maybe(l.Autocorrelation[lag])})
	}
	for _, s := range slices.Sorted(maps.Keys(l.Statuses)) {
		statuses = append(statuses, status{s, l.Statuses[s]})
	}
	var processors *int64
	if l.Processors > 0 {
		processors = &l.Processors
	}
	return struct {
		File        string        `json:"file"`
		Lines       int           `json:"lines"`
		Comments    int           `json:"comments"`
		Blank       int           `json:"blank"`
		Used        int           `json:"used"`
		Repaired    int           `json:"repaired"`
		Skipped     int           `json:"skipped"`
		Reasons     []reason      `json:"reasons"`
		Filters     []step        `json:"filters"`
		Records     int           `json:"records"`
		Ran         int           `json:"ran"`
		Users       int           `json:"users"`
		MeanIAT     maybe         `json:"mean_iat"`
		NumberedIAT maybe         `json:"mean_iat_by_job_number"`
		Processors  *int64        `json:"processors"`
		Load        maybe         `json:"load"`
		Quantities  []momentsJSON `json:"quantities"`
		Hurst       []estimate    `json:"hurst"`
		Correlation []correlation `json:"autocorrelation"`
		Clock       bool          `json:"clock"`
		ByHour      [24]int       `json:"by_hour"`
		ByWeekday   [7]int        `json:"by_weekday"`
		Statuses    []status      `json:"statuses"`
		Fits        []quantityFit `json:"fits"`
		Notes       []string      `json:"notes"`
		Files       []string      `json:"files"`
	}{
		d.file.name, a.Lines, a.Comments, a.Blank, a.Used, a.Repaired, a.Skipped, reasons, steps,
		l.Records, l.Ran, l.Users, maybe(l.MeanIAT), maybe(l.NumberedIAT), processors, maybe(l.Load),
		quantities, hurst, correlations, l.Clock, l.ByHour, d.weekdays(), statuses,
		fitsJSON(d.fits), append([]string{}, d.notes()...), append([]string{}, files...),
	}
}

type momentsJSON struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	N      int    `json:"n"`
	Mean   maybe  `json:"mean"`
	SD     maybe  `json:"sd"`
	CV     maybe  `json:"cv"`
	Min    maybe  `json:"min"`
	P05    maybe  `json:"p05"`
	Median maybe  `json:"median"`
	P95    maybe  `json:"p95"`
	Max    maybe  `json:"max"`
}

func momentsOf(q describe.Quantity) momentsJSON {
	return momentsJSON{
		q.Name, q.Unit, q.N, maybe(q.Mean), maybe(q.SD), maybe(q.CV),
		maybe(q.Min), maybe(q.P05), maybe(q.Median), maybe(q.P95), maybe(q.Max),
	}
}
