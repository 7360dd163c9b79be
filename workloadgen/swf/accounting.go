package swf

import (
	"fmt"
	"strings"
)

// A Reason explains why a line was repaired or skipped.
type Reason uint8

// These are the reasons for repairs, followed by those for skipped lines.
const (
	FieldsMissing     Reason = iota // 5 to 17 fields; the other fields are unknown
	FieldsBeyond                    // more than 18 fields: those are ignored
	FractionCut                     // an integer has a fraction, which is removed
	NegativeUnknown                 // a negative number other than -1 is unknown
	NoNewline                       // the file ends in the middle of its last line
	ProcsFromRequest                // allocated processors are unknown: the requested number is used
	EstimateFromRun                 // requested time is unknown: the run time is used
	UserUnknown                     // user is unknown: 0 is used
	NewNumber                       // the job's identifier is not a number: a new number is used
	MemoryUnknown                   // used and requested memory are unknown: 0 is used
	MemoryFromUse                   // requested memory is unknown: the used memory is used
	MemoryFromRequest               // used memory is unknown: the requested memory is used
	MemoryBeyond                    // used memory exceeds the requested memory; nothing is repaired

	firstSkip
	NotNumber    // a field is not a number
	OutOfRange   // a number is beyond 10^15
	TooFewFields // fewer than 5 fields
	NoJob        // job number is unknown
	NoSubmit     // submit time is unknown
	LineTooLong  // longer than 64 KiB
	NeverRan     // no run time, or no processors
	TooShort     // completed (status 1) in 0 s, which a plan does not allow
	PartOfJob    // status 2 to 4: the whole job has its own line
	TooLarge     // exceeds a plan's limits
	SameNumber   // an earlier record has the same job number
	NotTime      // a field is not a time
	JobStep      // a step of a job, which has its own line
	NotEnded     // the job waits or runs
	NoRunTime    // the run time depends on a machine that the file does not describe

	reasons
)

var reasonText = [reasons]string{
	FieldsMissing:     "missing fields, treated as unknown",
	FieldsBeyond:      "fields beyond the 18th, ignored",
	FractionCut:       "fraction in a whole-number field, truncated",
	NegativeUnknown:   "negative number, treated as unknown",
	NoNewline:         "no newline at the end of the file",
	ProcsFromRequest:  "allocated processors unknown, requested used",
	EstimateFromRun:   "requested time unknown, run time used",
	UserUnknown:       "user unknown, 0 used",
	NewNumber:         "job identifier is not a number, a new number used",
	MemoryUnknown:     "memory unknown",
	MemoryFromUse:     "memory from use",
	MemoryFromRequest: "memory from request",
	MemoryBeyond:      "memory beyond request",
	NotNumber:         "not a number",
	OutOfRange:        "number out of range",
	TooFewFields:      "fewer than 5 fields",
	NoJob:             "job number unknown",
	NoSubmit:          "submit time unknown",
	LineTooLong:       "line longer than 64 KiB",
	NeverRan:          "never ran",
	TooShort:          "completed in less than a second",
	PartOfJob:         "part of a job",
	TooLarge:          "too large for a plan",
	SameNumber:        "job number of an earlier record",
	NotTime:           "not a time",
	JobStep:           "step of a job",
	NotEnded:          "has not ended",
	NoRunTime:         "run time depends on the machine",
}

// String describes the reason.
func (r Reason) String() string {
	if r < reasons {
		return reasonText[r]
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

// Skips reports whether lines with this reason are skipped, not repaired.
func (r Reason) Skips() bool { return r > firstSkip }

// A Problem is one fault in one line.
type Problem struct {
	Reason Reason
	Line   int    // line number, from 1; for [Trace.Plan], the number of the record
	Field  int    // number of the field, from 1; 0 for the whole line, or if the field has a name
	Name   string // name of the field, in a format whose fields have names
	Found  string // at most 40 bytes of the text
}

// String returns the position, the value found, the problem and the remedy.
func (p Problem) String() string {
	done := ""
	if p.Reason.Skips() {
		done = ": skipped"
	}
	return fmt.Sprintf("%s: %s%s", p.place("line"), p.Reason, done)
}

func (p Problem) place(of string) string {
	s := fmt.Sprintf("%s %d", of, p.Line)
	if p.Field > 0 {
		s += fmt.Sprintf(", field %d (%s)", p.Field, columns[p.Field-1].name)
	}
	if p.Name != "" {
		s += ", " + p.Name
	}
	if p.Found != "" {
		s += fmt.Sprintf(", found %q", p.Found)
	}
	return s
}

// A Tally counts the occurrences of a reason and stores the first one.
type Tally struct {
	Count int
	First Problem
}

// An Accounting describes how the lines of a file were treated:
//
//	Lines = Comments + Blank + Used + Repaired + Skipped
//
// A line that was repaired for two reasons counts once in Repaired and once for each reason. A
// skipped line has one reason.
type Accounting struct {
	Lines    int // all lines of the file; for [Trace.Plan], all records
	Comments int // header lines and other lines that start with a semicolon
	Blank    int
	Used     int // unchanged records
	Repaired int // records used after a repair
	Skipped  int // number of lines that are not records, or of records that were not used

	tallies [reasons]Tally
	records bool     // Lines are records
	below   int      // number of comments after the first record; the header does not contain them
	follow  int      // jobs of a plan that follow an earlier job
	unused  []string // data that was read but not used
}

// Count returns the number of occurrences of a reason.
func (a *Accounting) Count(r Reason) int { return a.tallies[r].Count }

// Reasons returns the reasons that occurred, repairs first, each with its count and first
// problem.
func (a *Accounting) Reasons() []Tally {
	var out []Tally
	for _, t := range a.tallies {
		if t.Count > 0 {
			out = append(out, t)
		}
	}
	return out
}

// Clean reports whether every record was used unchanged.
func (a *Accounting) Clean() bool { return a.Repaired == 0 && a.Skipped == 0 }

func (a *Accounting) note(p Problem) {
	t := &a.tallies[p.Reason]
	if t.Count == 0 {
		t.First = p
	}
	t.Count++
}

// String formats the accounting, with one line per reason.
func (a *Accounting) String() string {
	var b strings.Builder
	of := "line"
	if a.records {
		of = "record"
		fmt.Fprintf(&b, "%d records: %d used, %d repaired, %d skipped\n", a.Lines, a.Used, a.Repaired, a.Skipped)
	} else {
		fmt.Fprintf(&b, "%d lines: %d comments, %d blank, %d used, %d repaired, %d skipped\n",
			a.Lines, a.Comments, a.Blank, a.Used, a.Repaired, a.Skipped)
	}
	for _, t := range a.Reasons() {
		done := "repaired"
		switch {
		case t.First.Reason.Skips():
			done = "skipped"
		case t.First.Reason == MemoryBeyond:
			done = "noted"
		}
		fmt.Fprintf(&b, "  %s: %d %s, first at %s\n", t.First.Reason, t.Count, done, t.First.place(of))
	}
	if a.follow > 0 {
		fmt.Fprintf(&b, "  follows an earlier job (fields 17 and 18): %d\n", a.follow)
	}
	if a.below > 0 {
		fmt.Fprintf(&b, "  not used: %d comments below the first record\n", a.below)
	}
	for _, u := range a.unused {
		fmt.Fprintf(&b, "  not used: %s\n", u)
	}
	return b.String()
}
