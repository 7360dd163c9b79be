package fitlab

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"bourse/experiments/report"
	"bourse/workloadgen/describe"
	"bourse/workloadgen/memory"
	"bourse/workloadgen/swf"
)

// A Description describes a log in words, numbers and figures.
type Description struct {
	file *Log
	log  *describe.Log
	fits *Report
}

// Describe fits the default distributions to a measured log, using the given number of
// workers.
func Describe(ctx context.Context, file *Log, log *describe.Log, workers int) (*Description, error) {
	fits, err := FitLog(ctx, log, defaultCandidates(), OptionsFor(log), workers)
	return &Description{file, log, fits}, err
}

// Document returns the description without the fits.
func (d *Description) Document() report.Document {
	return report.Document{Title: "Workload " + d.file.base(), Tables: d.tables(), Notes: d.notes(), Values: d.values}
}

// Page returns the description with all the fits.
func (d *Description) Page() report.Document {
	page := d.Document()
	page.Tables = append(page.Tables, d.fits.tables()...)
	page.Figures = d.Figures(math.MaxInt)
	return page
}

// A correlation is the autocorrelation of the gaps at one lag.
type correlation struct {
	Lag int          `json:"lag"`
	R   report.Maybe `json:"r"`
}

func (d *Description) correlations() []correlation {
	all := []correlation{}
	for _, lag := range []int{1, 2, 5, 10, 20, 50} {
		if lag < len(d.log.Autocorrelation) {
			all = append(all, correlation{lag, report.Maybe(d.log.Autocorrelation[lag])})
		}
	}
	return all
}

func (d *Description) quantities() []moments {
	return []moments{momentsOf(d.log.IAT), momentsOf(d.log.Run), momentsOf(d.log.Procs), momentsOf(d.log.Overestimate)}
}

// An estimate is a Hurst exponent with the name of its estimator.
type estimate struct {
	Estimator string       `json:"estimator"`
	H         report.Maybe `json:"h"`
	SE        report.Maybe `json:"se" doc:"standard error"`
}

// hurst returns the estimates of the Hurst exponent.
func (d *Description) hurst() []estimate {
	of := func(name string, e memory.Estimate) estimate {
		return estimate{name, report.Maybe(e.H), report.Maybe(e.SE)}
	}
	return []estimate{
		of("rescaled range", d.log.RescaledRange),
		of("aggregated variance", d.log.AggregatedVariance),
		of("local Whittle", d.log.LocalWhittle),
	}
}

// tables returns the tables of the description: treatment of lines, counts, moments and
// autocorrelations.
func (d *Description) tables() []report.Table {
	tables := []report.Table{d.lines()}
	if len(d.file.steps) > 0 {
		tables = append(tables, d.filters())
	}
	tables = append(tables, d.records(), d.momentsTable(), d.exponents())
	if len(d.log.Classes) > 0 {
		tables = append(tables, d.classes())
	}
	if of := d.correlations(); len(of) > 0 {
		t := report.Table{Title: "Autocorrelation of the gaps", Header: []string{"lag"}, Left: 1, Rows: [][]report.Cell{report.Cells("r")}}
		for _, at := range of {
			t.Header = append(t.Header, strconv.Itoa(at.Lag))
			t.Rows[0] = append(t.Rows[0], report.Cells(at.R)...)
		}
		tables = append(tables, t)
	}
	return tables
}

func (d *Description) lines() report.Table {
	a := &d.file.Trace.Accounting
	t := report.Table{
		Title:  "Lines of " + d.file.Name,
		Header: []string{"line", "count", "first"}, Left: 1,
		Rows: [][]report.Cell{
			report.Cells("all", a.Lines, ""), report.Cells("comments", a.Comments, ""), report.Cells("blank", a.Blank, ""),
			report.Cells("used", a.Used, ""), report.Cells("repaired", a.Repaired, ""), report.Cells("skipped", a.Skipped, ""),
		},
		Note: "Each line is a comment, blank, used, repaired or skipped. A repaired line is counted once for each reason.",
	}
	for _, r := range a.Reasons() {
		t.Rows = append(t.Rows, report.Cells(what(r)+": "+r.First.Reason.String(), r.Count, "line "+strconv.Itoa(r.First.Line)))
	}
	return t
}

func (d *Description) filters() report.Table {
	t := report.Table{Title: "Filters", Header: []string{"filter", "kept", "of", "note"}, Left: 1}
	for _, s := range d.file.steps {
		t.Rows = append(t.Rows, report.Cells(s.Filter, s.Out, s.In, s.Note))
	}
	return t
}

func (d *Description) records() report.Table {
	l := d.log
	processors := math.NaN()
	if l.Processors > 0 {
		processors = float64(l.Processors)
	}
	return report.Table{
		Title: "Records", Header: []string{"quantity", "value"}, Left: 1,
		Rows: [][]report.Cell{
			report.Cells("records", l.Records), report.Cells("that ran", l.Ran), report.Cells("users", l.Users),
			report.Cells("mean gap, by records (s)", l.MeanIAT), report.Cells("mean gap, by job numbers (s)", l.NumberedIAT),
			report.Cells("processors", processors), report.Cells("load", l.Load),
		},
		Note: "The mean gap by job numbers is the whole time span divided by the difference between the first and last job number. Papers use this value if the log lacks records.",
	}
}

// mostClasses is the maximum number of classes shown for one field.
const mostClasses = 5

// classes returns the queues, partitions, groups and applications with the most records.
func (d *Description) classes() report.Table {
	t := report.Table{
		Title: "Queues, partitions, groups and applications", Header: []string{"field", "number", "records", "processor-seconds"}, Left: 1,
		Note: "-1 means unknown. --filter queue:1+2 selects two queues; you can select partitions, groups and applications in the same way. --json lists all values.",
	}
	shown, field := 0, ""
	for _, c := range d.log.Classes {
		if c.Field != field {
			shown, field = 0, c.Field
		}
		if shown++; shown <= mostClasses {
			t.Rows = append(t.Rows, report.Cells(c.Field, c.Number, c.Records, c.Work))
		}
	}
	return t
}

// class is the JSON form of a class of jobs, such as one queue.
type class struct {
	Field   string       `json:"field" doc:"queue, partition, group or application"`
	Number  int64        `json:"number" doc:"number of the queue, partition, group or application; -1 if unknown"`
	Records int          `json:"records"`
	Work    report.Maybe `json:"work" doc:"work of the jobs that ran, in processor-seconds"`
}

func (d *Description) momentsTable() report.Table {
	t := report.Table{
		Title:  "Moments",
		Header: []string{"quantity", "unit", "n", "mean", "sd", "CV", "min", "5 %", "median", "95 %", "max"}, Left: 2,
	}
	for _, q := range d.quantities() {
		t.Rows = append(t.Rows, report.Cells(q.Name, q.Unit, q.N, q.Mean, q.SD, q.CV, q.Min, q.P05, q.Median, q.P95, q.Max))
	}
	return t
}

func (d *Description) exponents() report.Table {
	t := report.Table{Title: "Hurst exponent of the gaps", Header: []string{"estimator", "H", "s.e."}, Left: 1}
	for _, h := range d.hurst() {
		t.Rows = append(t.Rows, report.Cells(h.Estimator, h.H, h.SE))
	}
	return t
}

// weekdays returns the number of records on each day of the week, Sunday first. If the header
// does not contain the start of the log, it groups every seventh day, starting with the first
// day of the log.
func (d *Description) weekdays() [7]int {
	jobs := d.log.ByWeekday
	if !d.log.Clock {
		const thursday = 4 // weekday of the day that contains time 0 of the log
		for i := range jobs {
			jobs[i] = d.log.ByWeekday[(i+thursday)%7]
		}
	}
	return jobs
}

// what returns "skipped" or "repaired", the treatment of the lines counted in t.
func what(t swf.Tally) string {
	if t.First.Reason.Skips() {
		return "skipped"
	}
	return "repaired"
}

// notes returns the remarks that a reader needs to interpret the numbers.
func (d *Description) notes() []string {
	var notes []string
	if d.log.Processors == 0 {
		notes = append(notes, "The size of the machine, and therefore the load, is unknown; state --processors.")
	}
	if !d.log.Clock {
		notes = append(notes, "The header does not state when the log starts, so hours and days are counted from its first record.")
	}
	for _, wrong := range d.log.Header.Problems() {
		notes = append(notes, "Header: "+wrong+".")
	}
	if n := d.log.Parts; n > 0 {
		notes = append(notes, fmt.Sprintf("Number of omitted records of parts of jobs: %d.", n))
	}
	if n := d.log.Follow; n > 0 {
		notes = append(notes, fmt.Sprintf("Number of records that name a preceding job (fields 17 and 18): %d. These jobs arrive after the preceding job ends, unless a scenario states workload.preceding: ignored.", n))
	}
	if n := d.log.Repeats; n > 0 {
		notes = append(notes, fmt.Sprintf("Number of omitted records that repeat a job number: %d.", n))
	}
	return notes
}

// Described is the JSON form of a description.
type Described struct {
	File        string        `json:"file"`
	Lines       int           `json:"lines" doc:"number of lines of the file"`
	Comments    int           `json:"comments"`
	Blank       int           `json:"blank"`
	Used        int           `json:"used" doc:"number of lines used unchanged as records"`
	Repaired    int           `json:"repaired" doc:"number of lines used as records after a repair"`
	Skipped     int           `json:"skipped" doc:"number of skipped lines"`
	Reasons     []reason      `json:"reasons"`
	Filters     []swf.Step    `json:"filters" doc:"filters in the order of their application"`
	Records     int           `json:"records"`
	Ran         int           `json:"ran" doc:"number of records of jobs that ran"`
	Users       int           `json:"users" doc:"number of users with records"`
	MeanIAT     report.Maybe  `json:"mean_iat" doc:"mean gap between arrivals, in seconds"`
	NumberedIAT report.Maybe  `json:"mean_iat_by_job_number" doc:"time between the first and the last arrival divided by the difference of their job numbers, in seconds"`
	Processors  *int64        `json:"processors" doc:"number of processors of the machine; null if unknown"`
	Load        report.Maybe  `json:"load" doc:"work divided by the capacity of the machine; null if unknown"`
	Quantities  []moments     `json:"quantities" doc:"gaps between arrivals, runtimes, sizes, overestimates"`
	Hurst       []estimate    `json:"hurst" doc:"Hurst exponent of the gaps, by estimator"`
	Correlation []correlation `json:"autocorrelation" doc:"autocorrelation of the gaps"`
	Clock       bool          `json:"clock" doc:"true if the header states when the log starts; otherwise hours and days are counted from the first record"`
	ByHour      [24]int       `json:"by_hour" doc:"number of records in each hour of the day"`
	ByWeekday   [7]int        `json:"by_weekday" doc:"number of records on each day of the week, from Sunday, or from the first record"`
	Statuses    []status      `json:"statuses"`
	Classes     []class       `json:"classes" doc:"number of records of each queue, partition, group and application, in decreasing order"`
	Fits        []quantityFit `json:"fits"`
	Notes       []string      `json:"notes" doc:"remarks needed to interpret the numbers"`
	Files       []string      `json:"files" doc:"files written"`
}

type reason struct {
	Reason  string `json:"reason"`
	Done    string `json:"done" doc:"treatment of lines with this reason: skipped or repaired"`
	Count   int    `json:"count"`
	First   int    `json:"first_line" doc:"number of the first line with this reason"`
	Example string `json:"example" doc:"content of the first line with this reason"`
}

type status struct {
	Status  int64 `json:"status"`
	Records int   `json:"records"`
}

// values returns the description in JSON form.
func (d *Description) values(files []string) any {
	l, a := d.log, &d.file.Trace.Accounting
	reasons := []reason{}
	for _, r := range a.Reasons() {
		reasons = append(reasons, reason{r.First.Reason.String(), what(r), r.Count, r.First.Line, r.First.Found})
	}
	statuses := []status{}
	for _, s := range slices.Sorted(maps.Keys(l.Statuses)) {
		statuses = append(statuses, status{s, l.Statuses[s]})
	}
	classes := []class{}
	for _, c := range l.Classes {
		classes = append(classes, class{c.Field, c.Number, c.Records, report.Maybe(c.Work)})
	}
	var processors *int64
	if l.Processors > 0 {
		processors = &l.Processors
	}
	return Described{
		d.file.Name, a.Lines, a.Comments, a.Blank, a.Used, a.Repaired, a.Skipped, reasons, report.List(d.file.steps),
		l.Records, l.Ran, l.Users, report.Maybe(l.MeanIAT), report.Maybe(l.NumberedIAT), processors, report.Maybe(l.Load),
		d.quantities(), d.hurst(), d.correlations(), l.Clock, l.ByHour, d.weekdays(), statuses, classes,
		d.fits.values(), report.List(d.notes()), report.List(files),
	}
}

type moments struct {
	Name   string       `json:"name"`
	Unit   string       `json:"unit"`
	N      int          `json:"n"`
	Mean   report.Maybe `json:"mean"`
	SD     report.Maybe `json:"sd"`
	CV     report.Maybe `json:"cv" doc:"coefficient of variation"`
	Min    report.Maybe `json:"min"`
	P05    report.Maybe `json:"p05"`
	Median report.Maybe `json:"median"`
	P95    report.Maybe `json:"p95"`
	Max    report.Maybe `json:"max"`
}

func momentsOf(q describe.Quantity) moments {
	return moments{
		q.Name, q.Unit, q.N, report.Maybe(q.Mean), report.Maybe(q.SD), report.Maybe(q.CV),
		report.Maybe(q.Min), report.Maybe(q.P05), report.Maybe(q.Median), report.Maybe(q.P95), report.Maybe(q.Max),
	}
}
