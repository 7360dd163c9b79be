package traces

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"bourse/hosts/availability"
)

// A fleet collects the records of hosts from the lines of files.
type fleet struct {
	acc    *Accounting
	hosts  []*draft
	byName map[string]*draft
}

// A draft is a host whose lines are still being read.
type draft struct {
	name    string
	mips    float64
	records []line
}

// A line is a record with its place in a file.
type line struct {
	availability.Record
	at      place
	verdict verdict
}

// spans parses the start and end of l. If they are invalid, it counts the line as skipped and
// returns false.
func (l *line) spans(a *Accounting, start, end, text string) bool {
	for _, f := range [...]struct {
		text string
		at   *float64
	}{{start, &l.Start}, {end, &l.End}} {
		x, why, ok := number(f.text)
		if !ok {
			a.skip(why, l.at, f.text)
			return false
		}
		*f.at = x
	}
	if !(l.Start < l.End) {
		a.skip(emptySpan, l.at, text)
		return false
	}
	return true
}

func newFleet(a *Accounting) *fleet { return &fleet{acc: a, byName: make(map[string]*draft)} }

// host returns the draft with the given name. It creates the draft on first use.
func (f *fleet) host(name string) *draft {
	d := f.byName[name]
	if d == nil {
		name = strings.Clone(name)
		d = &draft{name: name}
		f.byName[name] = d
		f.hosts = append(f.hosts, d)
	}
	return d
}

// trace creates the trace, with times relative to origin, and counts how each line was used.
func (f *fleet) trace(origin, gap float64) (*availability.Trace, error) {
	t := &availability.Trace{}
	for _, d := range f.hosts {
		records := f.settle(d.records, origin)
		mips := d.mips
		if mips == 0 {
			mips = 1
		}
		h, err := availability.NewHistory(d.name, mips, records, gap)
		if err != nil {
			return nil, fmt.Errorf("availability: %w", err)
		}
		t.Hosts = append(t.Hosts, h)
	}
	return t, nil
}

// settle shifts the lines of a host to the origin, sorts them by start and cuts overlaps: the
// line that starts first is unchanged.
func (f *fleet) settle(lines []line, origin float64) []availability.Record {
	for i := 1; i < len(lines); i++ {
		if lines[i].Start < lines[i-1].Start {
			lines[i].verdict.repair(outOfOrder)
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.Start, b.Start) })
	out := make([]availability.Record, 0, len(lines))
	for i := range lines {
		l := &lines[i]
		l.Start -= origin
		l.End -= origin
		if l.Start == l.End { // only because of rounding
			f.acc.skip(emptySpan, l.at, "")
			continue
		}
		if n := len(out); n > 0 && l.Start < out[n-1].End {
			if l.End <= out[n-1].End {
				f.acc.skip(covered, l.at, "")
				continue
			}
			l.Start = out[n-1].End
			l.verdict.repair(startCut)
		}
		f.acc.book(l.verdict, l.at)
		out = append(out, l.Record)
	}
	return out
}
