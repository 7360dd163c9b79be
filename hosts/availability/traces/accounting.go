package traces

import (
	"fmt"
	"strings"
)

// A reason states why a line was repaired or skipped.
type reason uint8

// These are the reasons for repairs, then the harmless reasons for skipping a line, then the
// faults for which a line is skipped.
const (
	outOfOrder   reason = iota // the line starts before an earlier line; the lines are sorted
	loadClamped                // a load or a percentage is outside its range; the nearest bound is used
	loadMissing                // the load is missing or not a number; 0 is used
	mipsChanged                // mips differs from the first value of the host, which is used
	mipsMissing                // mips is not a positive number; 1 is used
	fieldsBeyond               // there are more fields than in the format; they are ignored
	samplesShort               // there are too few samples for a day, so the rest of the day is unknown
	sampleBad                  // a sample is not a number; its state is unknown
	endUnread                  // an end reason is not a number; 0 is used
	startCut                   // the record starts before the previous one ends; its start is moved to that end

	firstSkip
	blank
	comment
	header
	tooFewDays // the host is recorded on too few days

	firstFault
	tooFewFields
	badQuotes
	notNumber
	outOfRange
	badState
	emptySpan   // the record ends at or before its start
	covered     // an earlier line covers the same time
	sameEpoch   // an earlier line has the same epoch
	sameDay     // an earlier line has the same host and day
	badDate     // the text is not a date
	nameMissing // the name of the host is missing
	lineTooLong // the line is longer than 64 KiB
	loneReturn  // the line contains a carriage return or a vertical tab

	reasons
)

var reasonText = [reasons]string{
	outOfOrder:   "out of order, sorted",
	loadClamped:  "load out of range, clamped",
	loadMissing:  "load missing, 0 used",
	mipsChanged:  "mips differs from the host's first, which is used",
	mipsMissing:  "mips is not a positive number, 1 used",
	fieldsBeyond: "too many fields, extra ones ignored",
	samplesShort: "samples missing, treated as unknown",
	sampleBad:    "sample is not a number, treated as unknown",
	endUnread:    "end reason is not a number, 0 used",
	startCut:     "overlaps the previous record, cut",
	blank:        "blank",
	comment:      "comment",
	header:       "header",
	tooFewDays:   "host recorded on too few days",
	tooFewFields: "too few fields",
	badQuotes:    "quotes do not match",
	notNumber:    "not a number",
	outOfRange:   "number out of range",
	badState:     "unknown state",
	emptySpan:    "end not after start",
	covered:      "covered by an earlier record",
	sameEpoch:    "epoch of an earlier line",
	sameDay:      "day of an earlier line",
	badDate:      "not a date",
	nameMissing:  "host missing",
	lineTooLong:  "line longer than 64 KiB",
	loneReturn:   "carriage return within the line",
}

// String returns a description of the reason.
func (r reason) String() string {
	if r < reasons && reasonText[r] != "" {
		return reasonText[r]
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

// skips reports whether a line with this reason is skipped, not repaired.
func (r reason) skips() bool { return r > firstSkip }

// A problem is a fault of a line.
type problem struct {
	Reason reason
	File   string // empty if there is only one file
	Line   int    // from 1
	Found  string // the first 40 bytes
}

// String returns the place of the problem and the text found there.
func (p problem) String() string {
	s := fmt.Sprintf("line %d", p.Line)
	if p.File != "" {
		s = p.File + " " + s
	}
	if p.Found != "" {
		s += fmt.Sprintf(", found %q", p.Found)
	}
	return s
}

// A tally counts the occurrences of a reason and stores the first one.
type tally struct {
	Count int
	First problem
}

// An Accounting counts the outcomes of the lines of a file:
//
//	Lines = Used + Repaired + Skipped
//
// A line that was repaired for two reasons counts once in Repaired and once for each reason. A
// skipped line has one reason. Headers, comments and blank lines count as skipped.
type Accounting struct {
	Lines    int
	Used     int // used unchanged
	Repaired int // used after a repair
	Skipped  int

	tallies [reasons]tally
}

// reasons returns the reasons that occurred, repairs first, each with its count and its first
// problem.
func (a *Accounting) reasons() []tally {
	var out []tally
	for _, t := range a.tallies {
		if t.Count > 0 {
			out = append(out, t)
		}
	}
	return out
}

// Clean reports whether every line was used unchanged, apart from headers, comments and blank
// lines.
func (a *Accounting) Clean() bool {
	for r := range a.tallies {
		if a.tallies[r].Count > 0 && (reason(r) < firstSkip || reason(r) > firstFault) {
			return false
		}
	}
	return true
}

// String returns a summary with one line per reason.
func (a *Accounting) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d lines: %d used, %d repaired, %d skipped\n", a.Lines, a.Used, a.Repaired, a.Skipped)
	for _, t := range a.reasons() {
		done := "repaired"
		if t.First.Reason.skips() {
			done = "skipped"
		}
		fmt.Fprintf(&b, "  %s: %d %s, first at %s\n", t.First.Reason, t.Count, done, t.First)
	}
	return b.String()
}

// note counts a reason and stores its first occurrence.
func (a *Accounting) note(why reason, at place, found string) {
	t := &a.tallies[why]
	if t.Count == 0 || at.line < t.First.Line && at.file == t.First.File {
		t.First = problem{why, at.file, at.line, found[:min(len(found), 40)]}
	}
	t.Count++
}

// skip counts a line that is not used.
func (a *Accounting) skip(why reason, at place, found string) {
	a.note(why, at, found)
	a.Skipped++
}

// A place is a line of a file.
type place struct {
	file string
	line int
}

// A verdict is the set of repairs of a line. It is stored until it is certain whether the line
// is used.
type verdict uint16

func (v *verdict) repair(why reason) { *v |= 1 << why }

// book counts a line that is used.
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
