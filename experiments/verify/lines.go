package verify

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
)

// Lines reads a table as CSV has it. Most lines have no quotes, and are split here; from
// the first that is not as plain on, encoding/csv reads them.
type lines struct {
	in     *bufio.Reader
	read   int         // lines, all of them plain
	rest   *csv.Reader // or nil
	record record
	start  []byte // of lines that are of no interest, or nil
	clean  int    // bytes that come next have neither quotes nor carriage returns
}

// A record is the cells of a line, each followed by a comma, or by the end of text.
type record struct {
	text []byte
	ends []int // of cells; places, as pointers to each would cost the garbage collector
}

// cell returns the ith cell.
func (r *record) cell(i int) []byte {
	from := 0
	if i > 0 {
		from = r.ends[i-1] + 1
	}
	return r.text[from:r.ends[i]]
}

// index returns the place of a cell, -1 if it is not there.
func (r *record) index(cell string) int {
	for i := range r.ends {
		if string(r.cell(i)) == cell {
			return i
		}
	}
	return -1
}

// split makes r the cells of line.
func (r *record) split(line []byte) {
	r.text, r.ends = line, r.ends[:0]
	for i, c := range line {
		if c == ',' {
			r.ends = append(r.ends, i)
		}
	}
	r.ends = append(r.ends, len(line))
}

func newLines(r io.Reader) *lines { return &lines{in: bufio.NewReaderSize(r, 1<<16)} }

// skip makes lines of no interest that begin with the same n cells as the last, and no
// longer those that it did before.
func (l *lines) skip(n int) {
	if l.rest == nil {
		l.start = append(bytes.Clone(l.record.text[:l.record.ends[n-1]]), ',')
	}
}

// next returns the cells of the next line, which are good until the one after it; none if
// it is of no interest.
func (l *lines) next() (*record, error) {
	if l.rest == nil {
		line, err := l.in.ReadSlice('\n')
		if err == nil && l.plain(line[:len(line)-1]) {
			l.read++
			if l.start != nil && bytes.HasPrefix(line, l.start) {
				return nil, nil
			}
			l.record.split(line[:len(line)-1])
			return &l.record, nil
		}
		l.rest = csv.NewReader(io.MultiReader(bytes.NewReader(bytes.Clone(line)), l.in))
		l.rest.ReuseRecord, l.rest.FieldsPerRecord = true, len(l.record.ends)
		l.record = record{}
	}
	cells, err := l.rest.Read()
	if p := new(csv.ParseError); errors.As(err, &p) {
		p.StartLine, p.Line = p.StartLine+l.read, p.Line+l.read
	}
	if err != nil {
		return nil, err
	}
	l.record.text, l.record.ends = l.record.text[:0], l.record.ends[:0]
	for _, cell := range cells {
		l.record.text = append(l.record.text, cell...)
		l.record.ends = append(l.record.ends, len(l.record.text))
		l.record.text = append(l.record.text, ',')
	}
	return &l.record, nil
}

// plain reports whether line can be split at its commas, into as many cells as the one
// before.
func (l *lines) plain(line []byte) bool {
	return len(line) > 0 && (l.looked(line) || odd(line) < 0) &&
		(l.read == 0 || bytes.Count(line, []byte{','})+1 == len(l.record.ends))
}

// looked reports whether it is known that line, which was read last, has no odd byte. To
// look through all that is buffered takes less than to look line by line.
func (l *lines) looked(line []byte) bool {
	l.clean -= len(line) + 1
	if l.clean >= 0 {
		return true
	}
	ahead, _ := l.in.Peek(l.in.Buffered())
	if l.clean = odd(ahead); l.clean < 0 {
		l.clean = len(ahead)
	}
	return false
}

// odd returns the place of the first quote or carriage return, -1 if there is none.
func odd(b []byte) int {
	if at := bytes.IndexByte(b, '"'); at >= 0 {
		b = b[:at]
		if r := bytes.IndexByte(b, '\r'); r >= 0 {
			return r
		}
		return at
	}
	return bytes.IndexByte(b, '\r')
}
