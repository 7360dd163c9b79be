package swf

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"syscall"

	"bourse/workloadgen"
)

const maxLine = 64 << 10

// A reader reads a log line by line into a trace.
type reader struct {
	in      *bufio.Reader
	trace   Trace
	body    bool   // whether the header has ended
	line    []byte // last line read, without its newline
	partial bool   // whether the line had no newline
	long    bool   // whether the line was longer than maxLine; the field line then holds its start
}

// Read reads a complete log, plain or gzip.
func Read(r io.Reader) (*Trace, error) {
	in, err := workloadgen.Unpack(r, maxLine)
	if err != nil {
		return nil, fmt.Errorf("swf: %w", err)
	}
	s := &reader{in: in}
	t, acc := &s.trace, &s.trace.Accounting
	for {
		if err := s.fetch(); err == io.EOF {
			return t, nil
		} else if err != nil {
			return nil, fmt.Errorf("swf: line %d: %w", acc.Lines+1, err)
		}
		acc.Lines++
		switch text := bytes.TrimSpace(s.line); {
		case !s.body && len(text) == 0 && !s.long:
			acc.Blank++
		case !s.body && len(text) > 0 && text[0] == ';':
			acc.Comments++
			t.Header = append(t.Header, string(bytes.TrimSuffix(s.line, []byte{'\r'})))
		default:
			s.body = true
			s.take()
		}
	}
}

// fetch reads a line into s.line. The error is io.EOF after the last line.
func (s *reader) fetch() error {
	line, err := s.in.ReadSlice('\n')
	s.partial, s.long = err == io.EOF, err == bufio.ErrBufferFull
	switch {
	case s.long:
		s.line = bytes.Clone(line[:64])
		for err == bufio.ErrBufferFull {
			_, err = s.in.ReadSlice('\n')
		}
		if err == io.EOF {
			err = nil
		}
		return err
	case s.partial && len(line) > 0:
		err = nil
	}
	s.line = bytes.TrimSuffix(line, []byte{'\n'})
	return err
}

// take parses s.line. It adds a record, or counts the line for another reason.
func (s *reader) take() {
	if s.long {
		s.skip(LineTooLong, 0, s.line)
		return
	}
	var v [Fields]float64
	acc := &s.trace.Accounting
	n, bad := parse(bytes.TrimSuffix(s.line, []byte{'\r'}), &v)
	switch {
	case n == 0 && bad == nil:
		acc.Blank++
		return
	case n == 0 && bad[0] == ';':
		acc.Comments++
		acc.below++
		return
	case bad != nil:
		s.skip(NotNumber, n+1, bad)
		return
	case n < 5:
		s.skip(TooFewFields, 0, s.line)
		return
	}
	for i, x := range v[:min(n, Fields)] {
		if !(math.Abs(x) <= maxNumber) {
			s.skip(OutOfRange, i+1, s.field(i))
			return
		}
	}
	if v[0] < 0 {
		s.skip(NoJob, 1, s.field(0))
		return
	}
	if v[1] < 0 {
		s.skip(NoSubmit, 2, s.field(1))
		return
	}
	if s.repair(&v, n) {
		acc.Repaired++
	} else {
		acc.Used++
	}
	var r Record
	r.set(&v)
	s.trace.Records = append(s.trace.Records, r)
}

// repair repairs the n fields of a line, and reports whether it changed anything.
func (s *reader) repair(v *[Fields]float64, n int) bool {
	repaired := false
	note := func(why Reason, field int, found []byte) {
		s.note(why, field, found)
		repaired = true
	}
	if s.partial {
		note(NoNewline, 0, nil)
	}
	if n < Fields {
		note(FieldsMissing, 0, nil)
	}
	if n > Fields {
		note(FieldsBeyond, 0, nil)
	}
	for i, x := range v {
		switch {
		case i >= n:
			v[i] = Unknown
		case x == Unknown:
		case x < 0:
			v[i] = Unknown
			note(NegativeUnknown, i+1, s.field(i))
		case columns[i].whole && x != math.Trunc(x):
			v[i] = math.Trunc(x)
			note(FractionCut, i+1, s.field(i))
		}
	}
	return repaired
}

func (s *reader) field(i int) []byte { return bytes.Fields(s.line)[i] }

func (s *reader) skip(why Reason, field int, found []byte) {
	s.note(why, field, found)
	s.trace.Accounting.Skipped++
}

func (s *reader) note(why Reason, field int, found []byte) {
	s.trace.Accounting.note(Problem{Reason: why, Line: s.trace.Accounting.Lines, Field: field, Found: string(found[:min(len(found), 40)])})
}

// A Trace is a complete log in memory.
type Trace struct {
	Header     Header
	Records    []Record // in the order of the file
	Accounting Accounting
}

// ErrNotLog is the error for a file of another format.
var ErrNotLog = errors.New("not a log in the Standard Workload Format")

// Check returns an [ErrNotLog] if most lines of the file are not records, or if all records have
// more than 18 fields. It returns another error if submit times look like milliseconds.
func (t *Trace) Check() error {
	a := &t.Accounting
	records := a.Used + a.Repaired
	switch {
	case a.Skipped > records:
		skipped := slices.DeleteFunc(a.Reasons(), func(t Tally) bool { return !t.First.Reason.Skips() })
		worst := slices.MaxFunc(skipped, func(a, b Tally) int { return a.Count - b.Count })
		return fmt.Errorf("%w: %d of %d lines are not records; %s", ErrNotLog, a.Skipped, a.Skipped+records, worst.First)
	case records > 0 && a.Count(FieldsBeyond) == records:
		return fmt.Errorf("%w: every line has more than %d fields", ErrNotLog, Fields)
	}
	return t.seconds()
}

// milliseconds is the smallest submit time that is assumed to be in milliseconds. In seconds,
// it would be in the year 5138.
const milliseconds = 1e11

// seconds returns an error if submit times look like milliseconds.
func (t *Trace) seconds() error {
	if len(t.Records) == 0 {
		return nil
	}
	first := slices.MinFunc(t.Records, func(a, b Record) int { return cmp.Compare(a.Submit, b.Submit) }).Submit
	if first >= milliseconds {
		return fmt.Errorf("submit times from %.0f look like milliseconds, want seconds", first)
	}
	return nil
}

// ReadFile reads the log in the named file. For a file of another format, the error is
// [ErrNotLog], and names the format if it is one of [Formats].
func ReadFile(name string) (*Trace, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: syscall.EISDIR}
	}
	t, err := Read(f)
	if err == nil {
		err = t.Check()
	}
	if errors.Is(err, ErrNotLog) {
		if format := formatOf(name); format != "" {
			return nil, fmt.Errorf("%s: %w: it looks like %s, want 'bourse workload convert %s --from %s --swf FILE' first", name, ErrNotLog, format, name, format)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}
