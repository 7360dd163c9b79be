package verify

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
)

// Lines reads a table as CSV has it. Most lines have no quotes, and are split here; from
// the first that is not as plain on, encoding/csv reads them.
type lines struct {
	in     *bufio.Reader
	read   int         // lines, all of them plain
	rest   *csv.Reader // or nil
	record []string
}

func newLines(r io.Reader) *lines { return &lines{in: bufio.NewReaderSize(r, 1<<16)} }

// next returns the cells of the next line, which are good until the one after it.
func (l *lines) next() ([]string, error) {
	if l.rest == nil {
		line, err := l.in.ReadSlice('\n')
		if err == nil && l.split(string(line[:len(line)-1])) {
			l.read++
			return l.record, nil
		}
		l.rest = csv.NewReader(io.MultiReader(bytes.NewReader(bytes.Clone(line)), l.in))
		l.rest.ReuseRecord, l.rest.FieldsPerRecord = true, len(l.record)
	}
	record, err := l.rest.Read()
	if p := new(csv.ParseError); errors.As(err, &p) {
		p.StartLine, p.Line = p.StartLine+l.read, p.Line+l.read
	}
	return record, err
}

// split splits a line into as many cells as the one before, and reports whether it could.
func (l *lines) split(s string) bool {
	if s == "" || strings.IndexByte(s, '"') >= 0 || strings.IndexByte(s, '\r') >= 0 || l.read > 0 && strings.Count(s, ",")+1 != len(l.record) {
		return false
	}
	l.record = l.record[:0]
	for more := true; more; {
		var cell string
		cell, s, more = strings.Cut(s, ",")
		l.record = append(l.record, cell)
	}
	return true
}
