package workloadgen

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// WriteCSV writes the plan with a header line and every column:
//
//	id,user,arrival,runtime,estimate,deadline,nodes,worth,value,class,hard,urgent,penalty_rate,lead,on_demand,cancel,parts,cpus,memory,disk,bandwidth,gpus,count.NAME,after,think
//
// The columns from parts on are omitted if no job sets them. Numbers have the shortest form
// that parses to the same number, so reading the file returns an identical plan.
func WriteCSV(w io.Writer, p Plan) error {
	out := bufio.NewWriter(w)
	var line []byte
	columns := written(p)
	for i := range columns {
		if i > 0 {
			line = append(line, ',')
		}
		line = append(line, columns[i].name...)
	}
	out.Write(append(line, '\n'))
	for i := range p {
		line = line[:0]
		for c := range columns {
			if c > 0 {
				line = append(line, ',')
			}
			line = columns[c].write(line, &p[i])
		}
		out.Write(append(line, '\n'))
	}
	return out.Flush()
}

// ReadFile reads the plan in a file, as [ReadCSV] does.
func ReadFile(name string) (Plan, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadCSV(f, name)
}

// ReadCSV reads and validates a plan. It accepts files edited by people and spreadsheets: TRUE
// and 2.0 mean true and 2. It skips empty lines and lines that begin with #. The first line
// names the columns, in any order; submit, procs, budget and penalty are aliases of arrival,
// nodes, value and penalty_rate. Arrival, runtime and nodes are required. Other columns or
// fields that are missing have these values:
//
//	id            the number of the row, from 1
//	user          0, unknown
//	estimate      the runtime
//	deadline      the runtime
//	worth         1
//	value         0
//	class         empty
//	hard, urgent  false
//	penalty_rate  0
//	lead          0
//	on_demand     false
//	cancel        0, never
//	parts         0, one
//	cpus          0, the value of the scenario
//	memory, disk, bandwidth, gpus, count.NAME
//	              0, the value of the scenario
//	after         0, none
//	think         0
//
// The file may be compressed with gzip. Errors use name as the name of the file. An error
// contains file:line, the column, the value found and the values wanted.
func ReadCSV(r io.Reader, name string) (Plan, error) {
	text, err := Unpack(r, 1<<16)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	in := csv.NewReader(&tableLines{in: text})
	in.ReuseRecord, in.Comment = true, '#'
	header, err := in.Read()
	if err == io.EOF {
		return nil, fmt.Errorf("%s:1: found nothing, want a header line", name)
	}
	if err != nil {
		return nil, badLine(name, err, 0, 0)
	}
	order, err := readHeader(header)
	if err != nil {
		line, _ := in.FieldPos(0)
		return nil, fmt.Errorf("%s:%d: %w", name, line, err)
	}
	var plan Plan
	lines := make(map[int64]int) // number of the line of each id
	for {
		row, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, badLine(name, err, len(row), len(order))
		}
		line, _ := in.FieldPos(0)
		j := Job{ID: int64(len(plan) + 1), Worth: 1}
		if err := readRow(&j, row, order); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		if err := j.validate(); err != nil {
			return nil, fmt.Errorf("%s:%d: job %d: %w", name, line, j.ID, err)
		}
		if first, twice := lines[j.ID]; twice {
			return nil, fmt.Errorf("%s:%d: column id: found %d, which line %d has too, want a unique number", name, line, j.ID, first)
		}
		if n := len(plan); n > 0 && j.Arrival < plan[n-1].Arrival {
			return nil, fmt.Errorf("%s:%d: column arrival: found %v, want at least %v, the arrival on the line above", name, line, j.Arrival, plan[n-1].Arrival)
		}
		if _, above := lines[j.After]; j.After != 0 && !above {
			return nil, fmt.Errorf("%s:%d: column after: found %d, want the id of a job on a line above, or 0", name, line, j.After)
		}
		lines[j.ID] = line
		plan = append(plan, j)
	}
	return plan, nil
}

// Unpack returns a reader of the text in r, with a buffer of size bytes. It decompresses gzip,
// and removes the byte order mark that spreadsheets add. A read fails beyond 8 GiB, or if a
// compressed file is truncated. Text in UTF-16 is rejected.
func Unpack(r io.Reader, size int) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(atMost(r, maxText), size)
	if magic, err := in.Peek(2); err == nil && string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		in = bufio.NewReaderSize(atMost(cut{z}, maxText), size)
	}
	if mark, err := in.Peek(2); err == nil && (string(mark) == "\xff\xfe" || string(mark) == "\xfe\xff") {
		return nil, errors.New("found text in UTF-16, want UTF-8: iconv -f UTF-16 -t UTF-8 converts it")
	}
	if mark, err := in.Peek(3); err == nil && string(mark) == "\ufeff" {
		in.Discard(3)
	}
	return in, nil
}

// A cut reads decompressed data and reports a truncated file.
type cut struct{ io.Reader }

func (c cut) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err == io.ErrUnexpectedEOF {
		err = fmt.Errorf("found a truncated gzip file, want a complete one: %w", err)
	}
	return n, err
}

// badLine returns an error with the position of a line that could not be read, or whose number
// of fields is found instead of want.
func badLine(name string, err error, found, want int) error {
	var p *csv.ParseError
	switch {
	case errors.As(err, &p) && p.Err == csv.ErrFieldCount:
		return fmt.Errorf("%s:%d: found %d fields, want %d, as in the header", name, p.Line, found, want)
	case errors.As(err, &p):
		return fmt.Errorf("%s:%d: %w", name, p.Line, p.Err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// readHeader returns the column at each position of the line.
func readHeader(header []string) ([]*column, error) {
	order := make([]*column, len(header))
	seen := make(map[string]bool)
	for i, field := range header {
		c := findColumn(strings.ToLower(strings.TrimSpace(field)))
		if other := strings.IndexAny(field, ";\t"); c == nil && len(header) == 1 && other >= 0 {
			return nil, fmt.Errorf("found columns separated by %q, want commas", field[other])
		}
		if c == nil {
			return nil, fmt.Errorf("found column %.40q, want one of %s", field, columnNames())
		}
		if seen[c.name] {
			return nil, fmt.Errorf("found column %s twice", c.name)
		}
		seen[c.name] = true
		order[i] = c
	}
	for i := range columns {
		if c := &columns[i]; c.required && !seen[c.name] {
			return nil, fmt.Errorf("found no column %s, which is required", c.name)
		}
	}
	return order, nil
}

func findColumn(name string) *column {
	for i := range columns {
		if columns[i].name == name || columns[i].alias() == name {
			return &columns[i]
		}
	}
	if count, ok := strings.CutPrefix(name, "count."); ok && ValidCount(count) {
		c := units(name, count)
		return &c
	}
	return nil
}

func columnNames() string {
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].name
	}
	return strings.Join(append(names, "count.NAME"), ", ")
}

func readRow(j *Job, row []string, order []*column) error {
	estimate, deadline := false, false // whether the row has these columns
	for i, c := range order {
		field := strings.TrimSpace(row[i])
		if field == "" && !c.required {
			continue
		}
		if !c.read(j, field) {
			return fmt.Errorf("column %s: found %.40q, want %s", c.name, field, c.want)
		}
		estimate = estimate || c.name == "estimate"
		deadline = deadline || c.name == "deadline"
	}
	if !estimate {
		j.Estimate = j.Runtime
	}
	if !deadline {
		j.Deadline = j.Runtime
	}
	return nil
}
