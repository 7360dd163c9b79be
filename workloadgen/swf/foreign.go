package swf

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"bourse/workloadgen"
)

// A Format is another format of job logs, which [ReadAs] converts.
type Format struct {
	Name string `json:"format"`
	Doc  string `json:"doc"`

	looks func(start []byte) bool // whether a file with this start may have the format
	read  func(*conversion, *bufio.Reader) error
}

// Formats returns the formats that [ReadAs] reads.
func Formats() []Format {
	return []Format{
		{"sacct", "what Slurm's 'sacct -P' or 'sacct --json' prints", looksSacct, readSacct},
		{"gwf", "Grid Workload Format: lines of 29 fields", looksGWF, readGWF},
		{"batsim", "Batsim's JSON workloads: jobs and profiles", looksBatsim, readBatsim},
	}
}

// start is the number of bytes at the start of a file that show its format.
const start = 4 << 10

// ReadAs reads the log in the named file, plain or gzip, in one of [Formats].
//
// Users, groups, applications, queues and partitions that have names are numbered in the order
// of their first appearance, above the numbers already used in the log. Absolute times become
// seconds since the first submission, which UnixStartTime states.
func ReadAs(name, format string) (*Trace, error) {
	formats := Formats()
	i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == format })
	if i < 0 {
		var names []string
		for _, f := range formats {
			names = append(names, f.Name)
		}
		return nil, fmt.Errorf("found format %q, want one of %s", format, strings.Join(names, ", "))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, err := workloadgen.Unpack(f, start)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c := &conversion{}
	if err := formats[i].read(c, in); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, max(1, c.line), err)
	}
	if c.trace.seconds() != nil {
		return nil, fmt.Errorf("%s: %w", name, c.trace.seconds())
	}
	return c.finish(format), nil
}

// formatOf returns the name of the other format that a file seems to have, or "".
func formatOf(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	in, err := workloadgen.Unpack(f, start)
	if err != nil {
		return ""
	}
	first, _ := in.Peek(start)
	for _, f := range Formats() {
		if f.looks(first) {
			return f.Name
		}
	}
	return ""
}

// firstLine returns the first line that is not blank.
func firstLine(text []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte{'\n'})
	return strings.TrimRight(string(line), "\r")
}

// A conversion builds a log from records in another format.
type conversion struct {
	trace Trace
	line  int  // line of the file, or of the start of a record
	unix  bool // submit times are Unix times

	repairs []Problem // repairs of the record that is being read
	local   int       // number of times without a zone

	jobs, users, groups, applications, queues, partitions numbering
}

// A numbering gives numbers to names. A number represents itself. A name has a provisional
// number below [Unknown] until all numbers have been read.
type numbering struct {
	names   []string
	numbers map[string]int64
	highest int64
}

func (n *numbering) number(name string) int64 {
	switch name {
	case "", "-1", "None", "(null)", "Unknown":
		return Unknown
	}
	if x, err := strconv.ParseInt(name, 10, 64); err == nil && x >= 0 && x <= maxNumber {
		n.highest = max(n.highest, x)
		return x
	}
	if x, found := n.numbers[name]; found {
		return x
	}
	if n.numbers == nil {
		n.numbers = make(map[string]int64)
	}
	n.names = append(n.names, name)
	x := int64(Unknown - len(n.names))
	n.numbers[name] = x
	return x
}

// final returns the final number that replaces a provisional one.
func (n *numbering) final(x int64) int64 {
	if x < Unknown {
		return n.highest + Unknown - x
	}
	return x
}

// skip counts a line, or an entry that starts on that line, that does not become a record.
func (c *conversion) skip(why Reason, name, found string) {
	c.repairs = c.repairs[:0]
	c.trace.Accounting.note(c.problem(why, name, found))
	c.trace.Accounting.Skipped++
}

// repair notes a repair of the current record. It counts only if the record is added.
func (c *conversion) repair(why Reason, name, found string) {
	c.repairs = append(c.repairs, c.problem(why, name, found))
}

func (c *conversion) problem(why Reason, name, found string) Problem {
	return Problem{Reason: why, Line: c.line, Name: name, Found: found[:min(len(found), 40)]}
}

// add adds a record. The identifier of its job may be a name.
func (c *conversion) add(job string, r Record) {
	if r.Job = c.jobs.number(job); r.Job == Unknown {
		c.skip(NoJob, "", job)
		return
	}
	if r.Job < Unknown {
		c.repair(NewNumber, "", job)
	}
	for _, x := range r.values() {
		if x > maxNumber {
			c.skip(OutOfRange, "", strconv.FormatFloat(x, 'g', -1, 64))
			return
		}
	}
	if len(c.repairs) > 0 {
		c.trace.Accounting.Repaired++
	} else {
		c.trace.Accounting.Used++
	}
	for _, p := range c.repairs {
		c.trace.Accounting.note(p)
	}
	c.repairs = c.repairs[:0]
	c.trace.Records = append(c.trace.Records, r)
}

// unused adds to the accounting that data was ignored because a log has no field for it.
func (c *conversion) unused(format string, args ...any) {
	c.trace.Accounting.unused = append(c.trace.Accounting.unused, fmt.Sprintf(format, args...))
}

// finish assigns numbers to names, makes times relative and writes the header.
func (c *conversion) finish(format string) *Trace {
	t := &c.trace
	first := math.Inf(1)
	for i := range t.Records {
		first = min(first, t.Records[i].Submit)
	}
	for i := range t.Records {
		r := &t.Records[i]
		if c.unix {
			r.Submit -= first
		}
		r.Job, r.User, r.Group = c.jobs.final(r.Job), c.users.final(r.User), c.groups.final(r.Group)
		r.Application, r.Queue, r.Partition = c.applications.final(r.Application), c.queues.final(r.Queue), c.partitions.final(r.Partition)
	}
	slices.SortStableFunc(t.Records, func(a, b Record) int { return cmp.Compare(a.Submit, b.Submit) })
	header := Header{"; Version: 2.2", fmt.Sprintf("; Note: converted from %s", format)}
	header = append(header, fmt.Sprintf("; MaxJobs: %d", len(t.Records)), fmt.Sprintf("; MaxRecords: %d", len(t.Records)))
	if c.unix && len(t.Records) > 0 {
		t.Header = t.Header.Without("UnixStartTime")
		header = append(header, fmt.Sprintf("; UnixStartTime: %.0f", first))
	}
	for _, of := range []struct {
		key string
		n   *numbering
	}{{"Queue", &c.queues}, {"Partition", &c.partitions}} {
		for _, name := range of.n.names {
			header = append(header, fmt.Sprintf("; %s: %d %s", of.key, of.n.final(of.n.numbers[name]), name))
		}
	}
	t.Header = append(header, t.Header...)
	t.Header = t.Header.Agree(t.Records)
	return t
}

// A jsonReader reads a JSON object and tracks the current line.
type jsonReader struct {
	*json.Decoder
	lines  *workloadgen.LineCounter
	before int // number of lines before the JSON text
}

func (d *jsonReader) line() int { return d.before + d.lines.At(d.InputOffset()) }

// readJSON reads an object and counts its records in the accounting. The function field reads the
// value of the field with that name, or returns false if it does not use the field. Afterwards
// c.line is the line on which reading ended.
func (c *conversion) readJSON(in io.Reader, field func(d *jsonReader, name string) (used bool, err error)) error {
	lines := &workloadgen.LineCounter{In: in}
	d := &jsonReader{json.NewDecoder(lines), lines, c.line}
	acc := &c.trace.Accounting
	acc.records, acc.Lines, acc.Blank = true, 0, 0
	err := d.object(field)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the file ends early")
	}
	c.line = d.line()
	return err
}

func (d *jsonReader) object(field func(*jsonReader, string) (bool, error)) error {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errNoObject
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		used, err := field(d, fmt.Sprint(name))
		if err == nil && !used {
			var other json.RawMessage
			err = d.Decode(&other)
		}
		if err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// jobs reads a list of jobs. It calls element to read each job.
func (d *jsonReader) jobs(element func() error) error {
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return errors.New("jobs: want a list")
	}
	for d.More() {
		if err := element(); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

var errNoObject = errors.New("want a JSON object with jobs")

// epoch reads a time in Unix seconds or in the form 2006-01-02T15:04:05, with or without a zone
// such as +01:00 or +0100. A time without a zone is local and is read as UTC. It is unknown if
// the text is empty, None or Unknown.
func epoch(text string) (at float64, known, local, ok bool) {
	switch text {
	case "", "None", "Unknown":
		return Unknown, false, false, true
	}
	for _, form := range []string{"2006-01-02T15:04:05", time.RFC3339, "2006-01-02T15:04:05-0700"} {
		if t, err := time.Parse(form, text); err == nil {
			return float64(t.Unix()), true, form == "2006-01-02T15:04:05", true
		}
	}
	x, err := strconv.ParseInt(text, 10, 64)
	return float64(x), x > 0, false, err == nil && x >= 0
}

// duration reads [days-]hours:minutes:seconds, minutes:seconds, or seconds, all with an
// optional fraction.
func duration(text string) (float64, bool) {
	days, rest, has := strings.Cut(text, "-")
	if !has {
		days, rest = "0", text
	}
	total, err := strconv.ParseFloat(days, 64)
	parts := strings.Split(rest, ":")
	if err != nil || len(parts) > 3 || has && len(parts) < 3 || total < 0 {
		return 0, false
	}
	total *= 24
	for i, p := range slices.Concat(slices.Repeat([]string{"0"}, 3-len(parts)), parts) {
		x, ok := number([]byte(p))
		if !ok || x < 0 {
			return 0, false
		}
		if i > 0 {
			total *= 60
		}
		total += x
	}
	return total, total <= maxNumber
}

// errEmpty is the error for a file without content.
var errEmpty = errors.New("found nothing")
