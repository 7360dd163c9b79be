package swf

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Filter selects records of a log. Filters are written
//
//	ran             ran on a processor for more than 0 s
//	completed, failed, cancelled
//	                by status
//	has-estimate    requested time is known
//	whole           is not part of a job (status 2 to 4)
//	id:A-B          job numbers A to B; either may be left out
//	user:A+B+...    submitted by one of these users
//	not-user:A+B+...
//	group:A+B+..., application:A+B+..., queue:A+B+..., partition:A+B+...
//	                of one of these groups, applications, queues or partitions
//	procs:A-B       width from A to B processors
//	submit:A-B      submit times from A to B, in seconds
//	date:A..B       submitted from day A to the day before B, as 2000-04-25,
//	                UTC; either may be left out; needs UnixStartTime
//	first:N, last:N the N first or last job numbers
//
// Filters are joined by commas and applied from left to right. A window is defined by job
// numbers, as in papers: last:3000 selects the records above the highest number minus 3000, so
// records missing from a cleaned log count too. Submit times are not changed.
type Filter struct {
	name string
	keep func(t *Trace) (func(*Record) bool, string, error)
}

// String returns the filter as written.
func (f Filter) String() string { return f.name }

// A Step describes the effect of a filter.
type Step struct {
	Filter string `json:"filter"`
	In     int    `json:"in"`
	Out    int    `json:"out"`
	Note   string `json:"note" doc:"note; often empty"`
}

// String describes the step.
func (s Step) String() string {
	if s.Note != "" {
		return fmt.Sprintf("%s: %d of %d records kept (%s)", s.Filter, s.Out, s.In, s.Note)
	}
	return fmt.Sprintf("%s: %d of %d records kept", s.Filter, s.Out, s.In)
}

// ParseFilters reads filters joined by commas. An empty text has no filters.
func ParseFilters(text string) ([]Filter, error) {
	var out []Filter
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, arg, has := strings.Cut(part, ":")
		kind, ok := filters[name]
		if !ok {
			return nil, fmt.Errorf("filter %q: want one of %s", part, strings.Join(FilterNames(), ", "))
		}
		if kind.arg == "" && has || kind.arg != "" && arg == "" {
			return nil, fmt.Errorf("filter %q: want %s%s", part, name, kind.arg)
		}
		keep, err := kind.new(arg)
		if err != nil {
			return nil, fmt.Errorf("filter %q: want %s%s: %w", part, name, kind.arg, err)
		}
		out = append(out, Filter{part, keep})
	}
	return out, nil
}

// FilterNames returns the names of the filters, sorted.
func FilterNames() []string {
	var out []string
	for name, f := range filters {
		out = append(out, name+f.arg)
	}
	slices.Sort(out)
	return out
}

// A Kept describes which records a filter keeps.
type Kept struct {
	Filter string `json:"filter"`
	Doc    string `json:"doc"`
}

// Filters returns a description of each filter, sorted by name.
func Filters() []Kept {
	all := make([]Kept, 0, len(filters))
	for _, written := range FilterNames() {
		name, _, _ := strings.Cut(written, ":")
		all = append(all, Kept{written, filters[name].doc})
	}
	return all
}

// Apply returns the log with the records that pass every filter, and the effect of each
// filter. It does not change the records of t, and shares them if all pass.
func (t *Trace) Apply(filters ...Filter) (*Trace, []Step, error) {
	out := *t
	var steps []Step
	for _, f := range filters {
		keep, note, err := f.keep(&out)
		if err != nil {
			return nil, nil, fmt.Errorf("filter %s: %w", f.name, err)
		}
		kept := pass(out.Records, keep)
		steps = append(steps, Step{f.name, len(out.Records), len(kept), note})
		out.Records = kept
	}
	return &out, steps, nil
}

// pass returns the records to keep. If it selects all records, it returns the slice all
// itself, because copying a long log is expensive.
func pass(all []Record, keep func(*Record) bool) []Record {
	same := 0
	for same < len(all) && keep(&all[same]) {
		same++
	}
	if same == len(all) {
		return all
	}
	kept := append(make([]Record, 0, len(all)-1), all[:same]...)
	for i := same + 1; i < len(all); i++ {
		if keep(&all[i]) {
			kept = append(kept, all[i])
		}
	}
	return kept
}

type keeper = func(t *Trace) (func(*Record) bool, string, error)

// filters maps the names of filters to their definitions; arg is the form of the argument.
var filters = map[string]struct {
	arg, doc string
	new      func(arg string) (keeper, error)
}{
	"ran":          {"", "ran on a processor for more than 0 s", simple((*Record).Ran)},
	"completed":    {"", "status 1", simple(func(r *Record) bool { return r.Status == Completed })},
	"failed":       {"", "status 0", simple(func(r *Record) bool { return r.Status == Failed })},
	"cancelled":    {"", "status 5", simple(func(r *Record) bool { return r.Status == Cancelled })},
	"has-estimate": {"", "requested time is known", simple(func(r *Record) bool { return r.ReqTime > 0 })},
	"whole":        {"", "is not part of a job (status 2 to 4)", simple(func(r *Record) bool { return !r.Partial() })},
	"id":           {":A-B", "job numbers A to B; either may be left out", span(func(r *Record) float64 { return float64(r.Job) })},
	"procs":        {":A-B", "width from A to B processors; either may be left out", span(func(r *Record) float64 { return float64(r.Width()) })},
	"submit":       {":A-B", "submit times from A to B, in seconds; either may be left out", span(func(r *Record) float64 { return r.Submit })},
	"user":         {":A+B", "submitted by user A, B, ...", among(func(r *Record) int64 { return r.User }, true)},
	"not-user":     {":A+B", "submitted by any other user", among(func(r *Record) int64 { return r.User }, false)},
	"group":        {":A+B", "of group A, B, ...", among(func(r *Record) int64 { return r.Group }, true)},
	"application":  {":A+B", "of application A, B, ...", among(func(r *Record) int64 { return r.Application }, true)},
	"queue":        {":A+B", "of queue A, B, ...", among(func(r *Record) int64 { return r.Queue }, true)},
	"partition":    {":A+B", "of partition A, B, ...", among(func(r *Record) int64 { return r.Partition }, true)},
	"date":         {":A..B", "submitted from day A to the day before B, as 2000-04-25, UTC; either may be left out", dates},
	"first":        {":N", "the N first job numbers; submit times stay as they are", window(false)},
	"last":         {":N", "the N last job numbers, counting those that a cleaned log omits", window(true)},
}

func simple(keep func(*Record) bool) func(string) (keeper, error) {
	return func(string) (keeper, error) {
		return func(*Trace) (func(*Record) bool, string, error) { return keep, "", nil }, nil
	}
}

func span(of func(*Record) float64) func(string) (keeper, error) {
	return func(arg string) (keeper, error) {
		a, b, ok := strings.Cut(arg, "-")
		lo, hi := 0.0, float64(maxNumber)
		if !ok || !bound(a, &lo) || !bound(b, &hi) || lo > hi {
			return nil, fmt.Errorf("%q is not an interval", arg)
		}
		keep := func(r *Record) bool { x := of(r); return x >= lo && x <= hi }
		return simple(keep)(arg)
	}
}

// bound reads a number into x. An empty text leaves x unchanged.
func bound(text string, x *float64) bool {
	if text == "" {
		return true
	}
	n, ok := number([]byte(text))
	*x = n
	return ok
}

// among selects the records whose number is (or is not) in the given list.
func among(of func(*Record) int64, wanted bool) func(string) (keeper, error) {
	return func(arg string) (keeper, error) {
		var list []int64
		for word := range strings.SplitSeq(arg, "+") {
			n, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%q is not a whole number", word)
			}
			list = append(list, n)
		}
		return simple(func(r *Record) bool { return slices.Contains(list, of(r)) == wanted })(arg)
	}
}

func dates(arg string) (keeper, error) {
	a, b, ok := strings.Cut(arg, "..")
	if !ok {
		return nil, fmt.Errorf("%q is not an interval of days", arg)
	}
	lo, hi := 0.0, float64(maxNumber)
	for _, d := range []struct {
		text string
		at   *float64
	}{{a, &lo}, {b, &hi}} {
		if d.text == "" {
			continue
		}
		day, err := time.Parse(time.DateOnly, d.text)
		if err != nil {
			return nil, fmt.Errorf("%q is not a day like 2000-04-25", d.text)
		}
		*d.at = float64(day.Unix())
	}
	if lo >= hi {
		return nil, fmt.Errorf("%q ends before it starts", arg)
	}
	return func(t *Trace) (func(*Record) bool, string, error) {
		start, ok := t.Header.Start()
		if !ok {
			return nil, "", fmt.Errorf("the header has no UnixStartTime")
		}
		return func(r *Record) bool {
			at := float64(start) + r.Submit
			return at >= lo && at < hi
		}, "", nil
	}, nil
}

func window(last bool) func(string) (keeper, error) {
	return func(arg string) (keeper, error) {
		n, err := strconv.ParseInt(arg, 10, 64)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a number of records", arg)
		}
		return func(t *Trace) (func(*Record) bool, string, error) {
			if len(t.Records) == 0 {
				return func(*Record) bool { return false }, "", nil
			}
			lo, hi := t.Records[0].Job, t.Records[0].Job
			for i := range t.Records {
				lo, hi = min(lo, t.Records[i].Job), max(hi, t.Records[i].Job)
			}
			if last {
				lo = hi - n + 1
			} else {
				hi = lo + min(n-1, math.MaxInt64-lo)
			}
			keep := func(r *Record) bool { return r.Job >= lo && r.Job <= hi }
			found := 0
			for i := range t.Records {
				if keep(&t.Records[i]) {
					found++
				}
			}
			note := fmt.Sprintf("job numbers %d to %d", lo, hi)
			if absent := int(n) - found; absent > 0 {
				note += fmt.Sprintf("; %d of them are not in the log", absent)
			}
			return keep, note, nil
		}, nil
	}
}
