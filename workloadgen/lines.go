package workloadgen

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
)

// maxLine is the maximum size in bytes of a line of a table, far more than any line needs. It
// bounds the memory of readers that read whole lines.
const maxLine = 16 << 20

var errReturn = errors.New("found a carriage return within the line, want lines that end with LF or CRLF")

// tableLines passes on a table with one line per row, and fails with a [csv.ParseError] at the
// first line that violates this. Programs interpret such lines differently. A carriage return
// may end a line or count as a blank, and a line break in quotes may be part of the cell or be
// trimmed.
type tableLines struct {
	in      *bufio.Reader
	rest    []byte // checked bytes that are not passed on yet
	err     error
	number  int // number of the current line
	length  int // bytes of that line read so far
	quotes  int
	comment bool
	cr      bool // the last byte was a carriage return
}

func (t *tableLines) Read(p []byte) (int, error) {
	for len(t.rest) == 0 {
		if t.err != nil {
			return 0, t.err
		}
		t.next()
	}
	n := copy(p, t.rest)
	t.rest = t.rest[n:]
	return n, nil
}

// next reads a line, up to the size of the buffer.
func (t *tableLines) next() {
	if t.length == 0 {
		t.number++
	}
	text, err := t.in.ReadSlice('\n')
	if t.length == 0 && len(text) > 0 {
		t.comment = text[0] == '#'
	}
	t.length += len(text)
	t.quotes += bytes.Count(text, []byte{'"'})
	line, ends := bytes.CutSuffix(text, []byte{'\n'})
	wrong := error(nil)
	switch i := bytes.IndexByte(line, '\r'); {
	case i >= 0 && i < len(line)-1, t.cr && len(line) > 0:
		wrong = errReturn
	case t.length > maxLine:
		wrong = fmt.Errorf("found a line of more than %d bytes", maxLine)
	case (ends || err == io.EOF) && t.quotes%2 == 1 && !t.comment:
		wrong = csv.ErrQuote
	}
	t.cr = bytes.HasSuffix(line, []byte{'\r'})
	if ends {
		t.length, t.quotes, t.cr = 0, 0, false
	}
	t.rest = text
	switch {
	case wrong != nil:
		t.rest, t.err = nil, &csv.ParseError{StartLine: t.number, Line: t.number, Err: wrong}
	case err != bufio.ErrBufferFull:
		t.err = err
	}
}
