// Package describe computes the properties of a recorded log: counts, moments, memory, load,
// and the data of its figures. It only returns data; others draw and print them.
//
// It is independent of plans and hosts.
package describe

import (
	"cmp"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"bourse/workloadgen/memory"
	"bourse/workloadgen/swf"
)

// A Quantity is one column of numbers with its moments.
type Quantity struct {
	Name   string // IAT, RUN, CPU, or another
	Unit   string
	Values []float64 // in the order of the log

	N                int
	Mean, SD, CV     float64 // SD of a sample; CV is SD/Mean
	Min, Median, Max float64
	P05, P95         float64
}

// New computes the moments of values. If there are none, the moments are NaN.
func New(name, unit string, values []float64) Quantity {
	q := Quantity{Name: name, Unit: unit, Values: values, N: len(values)}
	nan := math.NaN()
	q.Mean, q.SD, q.CV, q.Min, q.Median, q.Max, q.P05, q.P95 = nan, nan, nan, nan, nan, nan, nan, nan
	if len(values) == 0 {
		return q
	}
	q.Mean, q.SD = stat.MeanStdDev(values, nil)
	q.CV = q.SD / q.Mean
	sorted := slices.Sorted(slices.Values(values))
	at := func(p float64) float64 { return stat.Quantile(p, stat.Empirical, sorted, nil) }
	n := len(sorted)
	q.Min, q.P05, q.Median, q.P95, q.Max = sorted[0], at(0.05), (sorted[(n-1)/2]+sorted[n/2])/2, at(0.95), sorted[n-1]
	return q
}

// A Log describes a log. Quantities other than IAT cover the records that ran.
type Log struct {
	Header  swf.Header
	Lines   swf.Accounting
	Records int // number of whole jobs that passed the filters, one per job number
	Parts   int // number of records of parts of jobs, which are omitted
	Repeats int // number of records that repeat a job number, which are omitted
	Ran     int
	Follow  int // number of records that name a preceding job
	Users   int

	IAT, Run, Procs Quantity
	Overestimate    Quantity // requested time over run time, of records with both

	// MeanIAT is the span of submit times divided by the number of records minus one, as
	// papers print it. NumberedIAT uses the job numbers of the first and the last record
	// instead. Both are equal if no record is missing; for a cleaned log that has lost
	// records, NumberedIAT matches the papers.
	MeanIAT, NumberedIAT float64

	// Load is the work of the records that ran divided by the machine's processors times the
	// span of submit times. It is NaN if the header does not state the size of the machine.
	Load       float64
	Processors int64 // 0 if the header does not state it

	// The next fields are estimates of the Hurst exponent of IAT, and its autocorrelation at
	// lags 0 to 50.
	RescaledRange, AggregatedVariance, LocalWhittle memory.Estimate
	Autocorrelation                                 []float64

	ByHour    [24]int // number of records submitted in each hour of the machine's day
	ByWeekday [7]int  // number of records submitted on each day of the week, Sunday first
	Clock     bool    // whether the header states the start of the log; if not, hours count from the first record
	Days      []Day   // the log by day

	Statuses map[int64]int // number of records of each status
	Classes  []Class       // counts of every field that the log contains, in descending order of their records
}

// A Class summarizes the records with the same number in one field: queue, partition, group or
// application.
type Class struct {
	Field   string
	Number  int64
	Records int
	Work    float64 // processor-seconds of the records that ran
}

// classes counts the records of each queue, partition, group and application.
func classes(records []swf.Record) []Class {
	var all []Class
	for _, f := range []struct {
		name string
		of   func(*swf.Record) int64
	}{
		{"queue", func(r *swf.Record) int64 { return r.Queue }},
		{"partition", func(r *swf.Record) int64 { return r.Partition }},
		{"group", func(r *swf.Record) int64 { return r.Group }},
		{"application", func(r *swf.Record) int64 { return r.Application }},
	} {
		counted := make(map[int64]*Class)
		for i := range records {
			r := &records[i]
			n := f.of(r)
			if counted[n] == nil {
				counted[n] = &Class{Field: f.name, Number: n}
			}
			counted[n].Records++
			if r.Ran() {
				counted[n].Work += r.Run * float64(r.Width())
			}
		}
		if counted[swf.Unknown] != nil && len(counted) == 1 {
			continue
		}
		first := len(all)
		for _, c := range counted {
			all = append(all, *c)
		}
		slices.SortFunc(all[first:], func(a, b Class) int {
			return cmp.Or(b.Records-a.Records, cmp.Compare(a.Number, b.Number))
		})
	}
	return all
}

// A Day is one day of a log.
type Day struct {
	Start float64 // seconds since the start of the log
	Jobs  int     // number of submitted jobs
	Work  float64 // processor-seconds of the submitted jobs that ran
	Load  float64 // Work divided by the machine's processors times the length of a day; NaN if the number of processors is unknown
}

const day = 86400.0

// Describe measures a log, whose records may have been filtered.
func Describe(t *swf.Trace) *Log {
	l := &Log{Header: t.Header, Lines: t.Accounting, Statuses: map[int64]int{}}
	l.Processors, _ = t.Header.Processors()
	whole, parts, repeats := t.Whole()
	l.Records, l.Parts, l.Repeats = len(whole), parts, repeats
	records := slices.Clone(whole)
	slices.SortStableFunc(records, func(a, b swf.Record) int { return cmp.Compare(a.Submit, b.Submit) })
	var iat, run, procs, over []float64
	users := map[int64]bool{}
	for i := range records {
		r := &records[i]
		users[r.User] = true
		l.Statuses[r.Status]++
		if r.Preceding > 0 {
			l.Follow++
		}
		if i > 0 {
			iat = append(iat, r.Submit-records[i-1].Submit)
		}
		if !r.Ran() {
			continue
		}
		l.Ran++
		run, procs = append(run, r.Run), append(procs, float64(r.Width()))
		if ratio := r.ReqTime / r.Run; ratio > 0 && !math.IsInf(ratio, 1) {
			over = append(over, ratio)
		}
	}
	delete(users, swf.Unknown)
	l.Users = len(users)
	l.IAT, l.Run, l.Procs = New("IAT", "s", iat), New("RUN", "s", run), New("CPU", "processors", procs)
	l.Overestimate = New("requested/run", "", over)
	l.RescaledRange, l.AggregatedVariance, l.LocalWhittle = memory.RescaledRange(iat), memory.AggregatedVariance(iat), memory.LocalWhittle(iat)
	if len(iat) > 0 {
		l.Autocorrelation = memory.Autocorrelation(iat, 50)
	}
	l.Classes = classes(records)
	l.calendar(records)
	return l
}

// calendar counts the records over time.
func (l *Log) calendar(records []swf.Record) {
	l.MeanIAT, l.NumberedIAT, l.Load = math.NaN(), math.NaN(), math.NaN()
	if len(records) == 0 {
		return
	}
	start, clock := l.Header.Start()
	zone := l.Header.Zone()
	l.Clock = clock
	first, last := records[0].Submit, records[len(records)-1].Submit
	origin := 0.0 // submit time that corresponds to start
	if !clock {
		start, zone, origin = 0, time.UTC, first // midnight of a Thursday
	}
	lo, hi := records[0].Job, records[0].Job
	work := 0.0
	for i := range records {
		r := &records[i]
		lo, hi = min(lo, r.Job), max(hi, r.Job)
		at := time.Unix(start+int64(r.Submit-origin), 0).In(zone)
		l.ByHour[at.Hour()]++
		l.ByWeekday[at.Weekday()]++
		k := int((r.Submit - first) / day)
		for len(l.Days) <= k && k < 1e6 {
			l.Days = append(l.Days, Day{Start: first + day*float64(len(l.Days)), Load: math.NaN()})
		}
		if k >= len(l.Days) {
			continue
		}
		d := &l.Days[k]
		d.Jobs++
		if r.Ran() {
			w := r.Run * float64(r.Width())
			d.Work += w
			work += w
		}
	}
	if n := len(records); n > 1 {
		l.MeanIAT = (last - first) / float64(n-1)
	}
	if hi > lo {
		l.NumberedIAT = (last - first) / float64(hi-lo)
	}
	if l.Processors > 0 {
		if last > first {
			l.Load = work / (float64(l.Processors) * (last - first))
		}
		for i := range l.Days {
			l.Days[i].Load = l.Days[i].Work / (float64(l.Processors) * day)
		}
	}
}
