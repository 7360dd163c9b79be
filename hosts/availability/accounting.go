package availability

import (
	"fmt"
	"strings"
)

// A Reason says why a line was repaired or skipped.
type Reason uint8

// The repairs, then the skips, the harmless ones first.
const (
	OutOfOrder   Reason = iota // starts before an earlier line: sorted
	LoadClamped                // a load or a percentage outside its range: moved to the nearest bound
	LoadMissing                // no load, or none that is a number: 0 taken
	MIPSChanged                // mips differs from the host's first: that one taken
	MIPSMissing                // mips is not a positive number: 1 taken
	FieldsBeyond               // more fields than the format has: ignored
	SamplesShort               // fewer samples than a day has: the rest unknown
	SampleBad                  // a sample is not a number: unknown
	EndUnread                  // an end reason is not a number: 0 taken
	StartCut                   // starts before the previous record ends: cut to it

	firstSkip
	Blank
	Comment
	Header
	TooFewDays // the host is recorded on too few days

	firstFault
	TooFewFields
	BadQuotes
	NotNumber
	OutOfRange
	BadState
	EmptySpan   // ends when it starts, or before
	Covered     // an earlier line covers the time
	SameEpoch   // an earlier line has the epoch
	SameDay     // an earlier line has the host's day
	BadDate     // not a date
	NameMissing // no host
	LineTooLong // longer than 64 KiB
	LoneReturn  // a carriage return, or a vertical tab, within the line

	reasons
)

var reasonText = [reasons]string{
	OutOfOrder:   "out of order, sorted",
	LoadClamped:  "load out of range, clamped",
	LoadMissing:  "load missing, 0 taken",
	MIPSChanged:  "mips differs from the host's first, that one taken",
	MIPSMissing:  "mips is no positive number, 1 taken",
	FieldsBeyond: "too many fields, the rest ignored",
	SamplesShort: "samples missing, taken as unknown",
	SampleBad:    "sample is no number, taken as unknown",
	EndUnread:    "end reason is no number, 0 taken",
	StartCut:     "overlaps the record before, cut",
	Blank:        "blank",
	Comment:      "comment",
	Header:       "header",
	TooFewDays:   "host recorded on too few days",
	TooFewFields: "too few fields",
	BadQuotes:    "quotes do not match",
	NotNumber:    "not a number",
	OutOfRange:   "number out of range",
	BadState:     "unknown state",
	EmptySpan:    "end not after start",
	Covered:      "covered by an earlier record",
	SameEpoch:    "epoch of an earlier line",
	SameDay:      "day of an earlier line",
	BadDate:      "not a date",
	NameMissing:  "host missing",
	LineTooLong:  "line longer than 64 KiB",
	LoneReturn:   "carriage return within the line",
}

// String returns the reason in words.
func (r Reason) String() string {
	if r < reasons && reasonText[r] != "" {
		return reasonText[r]
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

// Skips reports whether a line with this reason is skipped, not repaired.
func (r Reason) Skips() bool { return r > firstSkip }

// A Problem is one fault of one line.
type Problem struct {
	Reason Reason
	File   string // empty if there is but one
	Line   int    // from 1
	Found  string // at most 40 bytes of it
}

// String says where, and what was found.
func (p Problem) String() string {
	s := fmt.Sprintf("line %d", p.Line)
	if p.File != "" {
		s = p.File + " " + s
	}
	if p.Found != "" {
		s += fmt.Sprintf(", found %q", p.Found)
	}
	return s
}

// A Tally is how often a reason was met, and where first.
type Tally struct {
	Count int
	First Problem
}

// An Accounting tells what became of the lines of a file:
//
//	Lines = Used + Repaired + Skipped
//
// A line repaired for two reasons counts once in Repaired and once for each
// reason; a skipped line has one reason, and header, comments and blank lines
// are skipped.
type Accounting struct {
	Lines    int
	Used     int // as they stand
	Repaired int // used after a repair
	Skipped  int

	tallies [reasons]Tally
}

// Count returns how often a reason was met.
func (a *Accounting) Count(r Reason) int { return a.tallies[r].Count }

// Reasons returns the reasons met, repairs first, each with its count and the
// first problem of its kind.
func (a *Accounting) Reasons() []Tally {
	var out []Tally
	for _, t := range a.tallies {
		if t.Count > 0 {
			out = append(out, t)
		}
	}
	return out
}

// Clean reports whether every line was used as it stands, but for headers,
// comments and blank lines.
func (a *Accounting) Clean() bool {
	for r := range a.tallies {
		if a.tallies[r].Count > 0 && (Reason(r) < firstSkip || Reason(r) > firstFault) {
			return false
		}
	}
	return true
}

// String writes the accounting, a line a reason.
func (a *Accounting) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d lines: %d used, %d repaired, %d skipped\n", a.Lines, a.Used, a.Repaired, a.Skipped)
	for _, t := range a.Reasons() {
		done := "repaired"
		if t.First.Reason.Skips() {
			done = "skipped"
		}
		fmt.Fprintf(&b, "  %s: %d %s, first at %s\n", t.First.Reason, t.Count, done, t.First)
	}
	return b.String()
}

// note counts a reason, and keeps where it was met first.
func (a *Accounting) note(why Reason, at place, found string) {
	t := &a.tallies[why]
	if t.Count == 0 || at.line < t.First.Line && at.file == t.First.File {
		t.First = Problem{why, at.file, at.line, found[:min(len(found), 40)]}
	}
	t.Count++
}

// skip books a line that is not used.
func (a *Accounting) skip(why Reason, at place, found string) {
	a.note(why, at, found)
	a.Skipped++
}

// A place is a line of a file.
type place struct {
	file string
	line int
}

// A verdict is the set of a line's repairs, kept until it is known whether the
// line is used.
type verdict uint16

func (v *verdict) repair(why Reason) { *v |= 1 << why }

// book books a line that is used.
func (a *Accounting) book(v verdict, at place) {
	for why := range firstSkip {
		if v&(1<<why) != 0 {
			a.note(why, at, "")
		}
	}
	if v != 0 {
		a.Repaired++
	} else {
		a.Used++
	}
}
