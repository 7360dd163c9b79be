package workloadgen

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
)

// maxLine is the most bytes of a line of a table, many times what one can need: what
// reads a line whole would fill the memory with it.
const maxLine = 16 << 20

var errReturn = errors.New("found a carriage return within the line, want lines that end with a line feed, or with both")

// tableLines hands on a table whose rows are one line each; from the first line that
// is none, it fails with a [csv.ParseError]. Programs differ on the others: to one a
// carriage return ends a line, to another it is a blank; a line break in quotes is a
// part of the cell, or trimmed.
type tableLines struct {
	in      *bufio.Reader
	rest    []byte // what has been checked and not handed on
	err     error
	number  int // of the line
	length  int // of what has been read of it
	quotes  int
	comment bool
	cr      bool // a carriage return came last
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

// next reads a line, or as much of it as the buffer holds.
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
