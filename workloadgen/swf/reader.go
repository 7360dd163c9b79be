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

// A Reader reads a log, plain or gzip, one record at a time.
type Reader struct {
	in      *bufio.Reader
	header  Header
	acc     Accounting
	record  Record
	values  [Fields]float64
	line    []byte // last line read, without its newline
	pending bool   // whether line is the first after the header and has not been parsed
	partial bool   // whether the line had no newline
	long    bool   // whether the line was longer than maxLine; the field line then holds its start
	err     error
}

// NewReader returns a reader of r that has read the header.
func NewReader(r io.Reader) (*Reader, error) {
	in, err := workloadgen.Unpack(r, maxLine)
	if err != nil {
		return nil, fmt.Errorf("swf: %w", err)
	}
	s := &Reader{in: in}
	for s.fetch() {
		switch text := bytes.TrimSpace(s.line); {
		case len(text) == 0 && !s.long:
			s.acc.Blank++
		case len(text) > 0 && text[0] == ';':
			s.acc.Comments++
			s.header = append(s.header, string(bytes.TrimSuffix(s.line, []byte{'\r'})))
		default:
			s.pending = true
		}
		if s.pending {
			break
		}
		s.acc.Lines++
	}
	if s.err != nil && s.err != io.EOF {
		return nil, s.err
	}
	return s, nil
}

// Header returns the header.
func (s *Reader) Header() Header { return s.header }

// Accounting describes the treatment of the lines read so far.
func (s *Reader) Accounting() *Accounting { return &s.acc }

// Text returns the line of the last record unchanged, without its newline. It is valid until
// the next call of Next.
func (s *Reader) Text() []byte { return s.line }

// Next returns the next record, which is valid until the next call. After the last record it
// returns io.EOF. Any other error means that the remaining file cannot be read.
func (s *Reader) Next() (*Record, error) {
	for s.pending || s.fetch() {
		s.pending = false
		s.acc.Lines++
		if s.take() {
			return &s.record, nil
		}
	}
	return nil, s.err
}

// fetch reads a line into s.line. At the end it returns false and sets s.err.
func (s *Reader) fetch() bool {
	if s.err != nil {
		return false
	}
	line, err := s.in.ReadSlice('\n')
	s.partial, s.long = false, false
	switch {
	case err == nil:
		s.line = line[:len(line)-1]
		return true
	case errors.Is(err, bufio.ErrBufferFull):
		s.long = true
		s.line = bytes.Clone(line[:64])
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = s.in.ReadSlice('\n')
		}
		if err != nil && err != io.EOF {
			s.err = fmt.Errorf("swf: line %d: %w", s.acc.Lines+1, err)
			return false
		}
		return true
	case err == io.EOF && len(line) > 0:
		s.line, s.partial = line, true
		return true
	case err == io.EOF:
		s.line, s.err = nil, io.EOF
		return false
	}
	s.err = fmt.Errorf("swf: line %d: %w", s.acc.Lines+1, err)
	return false
}

// take parses s.line into a record and counts the line. It returns false if the line is not a
// record.
func (s *Reader) take() bool {
	if s.long {
		return s.skip(LineTooLong, 0, s.line)
	}
	v := &s.values
	p := parse(bytes.TrimSuffix(s.line, []byte{'\r'}), v)
	n := p.fields
	switch {
	case p.plain && n == Fields && v[0] >= 0 && v[1] >= 0 && !s.partial:
		s.acc.Used++
		s.record.set(v)
		return true
	case n == 0 && p.bad == nil:
		s.acc.Blank++
		return false
	case n == 0 && p.bad[0] == ';':
		s.acc.Comments++
		s.acc.below++
		return false
	case p.bad != nil:
		return s.skip(NotNumber, n+1, p.bad)
	case n < 5:
		return s.skip(TooFewFields, 0, s.line)
	}
	for i, x := range v[:min(n, Fields)] {
		if !(math.Abs(x) <= maxNumber) {
			return s.skip(OutOfRange, i+1, s.field(i))
		}
	}
	if v[0] < 0 {
		return s.skip(NoJob, 1, s.field(0))
	}
	if v[1] < 0 {
		return s.skip(NoSubmit, 2, s.field(1))
	}
	if s.repair(v, n) {
		s.acc.Repaired++
	} else {
		s.acc.Used++
	}
	s.record.set(v)
	return true
}

// repair repairs the n fields of a line, and reports whether it changed anything.
func (s *Reader) repair(v *[Fields]float64, n int) bool {
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

func (s *Reader) field(i int) []byte { return bytes.Fields(s.line)[i] }

func (s *Reader) skip(why Reason, field int, found []byte) bool {
	s.note(why, field, found)
	s.acc.Skipped++
	return false
}

func (s *Reader) note(why Reason, field int, found []byte) {
	p := Problem{Reason: why, Line: s.acc.Lines, Field: field}
	if s.acc.tallies[why].Count == 0 {
		p.Found = string(found[:min(len(found), 40)])
	}
	s.acc.note(p)
}

// A Trace is a complete log in memory.
type Trace struct {
	Header     Header
	Records    []Record // in the order of the file
	Accounting Accounting
}

// mostForetold is the maximum number of records for which memory is allocated based on the
// header.
const mostForetold = 1 << 18

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

// Read reads a complete log.
func Read(r io.Reader) (*Trace, error) {
	s, err := NewReader(r)
	if err != nil {
		return nil, err
	}
	t := &Trace{Header: s.header}
	if n, ok := s.header.Int("MaxRecords"); ok && n > 0 {
		t.Records = make([]Record, 0, min(n, mostForetold))
	}
	for {
		rec, err := s.Next()
		if err == io.EOF {
			t.Accounting = s.acc
			return t, nil
		}
		if err != nil {
			return nil, err
		}
		t.Records = append(t.Records, *rec)
	}
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
