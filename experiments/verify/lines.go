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
	start  []byte // of lines that are of no interest, or nil
}

func newLines(r io.Reader) *lines { return &lines{in: bufio.NewReaderSize(r, 1<<16)} }

// skip makes lines of no interest that begin with the same n cells as the last, and no
// longer those that it did before.
func (l *lines) skip(n int) {
	if l.rest == nil {
		l.start = []byte(strings.Join(l.record[:n], ",") + ",")
	}
}

// next returns the cells of the next line, which are good until the one after it; none if
// it is of no interest.
func (l *lines) next() ([]string, error) {
	if l.rest == nil {
		line, err := l.in.ReadSlice('\n')
		if err == nil && l.plain(line[:len(line)-1]) {
			l.read++
			if l.start != nil && bytes.HasPrefix(line, l.start) {
				return nil, nil
			}
			l.record = l.record[:0]
			for cell := range strings.SplitSeq(string(line[:len(line)-1]), ",") {
				l.record = append(l.record, cell)
			}
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

// plain reports whether line can be split at its commas, into as many cells as the one
// before.
func (l *lines) plain(line []byte) bool {
	return len(line) > 0 && bytes.IndexByte(line, '"') < 0 && bytes.IndexByte(line, '\r') < 0 &&
		(l.read == 0 || bytes.Count(line, []byte{','})+1 == len(l.record))
}
