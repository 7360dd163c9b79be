// Package canonical reads JSON in which nothing can be read in two ways: what this
// program wrote, byte for byte what is written for what it means, and objects of others
// that have the wanted keys, each once.
//
// It does not know what is written.
//
// # Design
//
// Readers of JSON differ. Given a key twice one takes the first and another the last;
// to encoding/json "To" is "to"; some read on behind the end of a value, take null for
// nothing, or large numbers for near ones. What is checked by one and believed by
// another must have one reading. To look for each difference would be to know them
// all. So the value is written again, and the bytes are compared.
//
// What the type of a value allows and the program never writes, such as a null in
// place of an empty list, is for its reader to refuse.
package canonical

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// NewEncoder returns what writes values to w, one a line.
func NewEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// NewIndented returns what writes values to w for people, too, on many lines each.
func NewIndented(w io.Writer) *json.Encoder {
	enc := NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc
}

// A Reader reads values that were written one a line, or indented. It is used by one
// at a time.
type Reader struct {
	again bytes.Buffer // what was read, written again
	enc   *json.Encoder
}

// NewReader returns a reader of what [NewEncoder] writes.
func NewReader() *Reader {
	r := new(Reader)
	r.enc = NewEncoder(&r.again)
	return r
}

// NewIndentedReader returns a reader of what [NewIndented] writes.
func NewIndentedReader() *Reader {
	r := new(Reader)
	r.enc = NewIndented(&r.again)
	return r
}

// A mismatch tells of the first byte that is not as it would be written.
type mismatch struct {
	Byte        int // from 1
	Found, Want string
	Cause       error // of what is not JSON, or not of this type; else nil
}

func (e *mismatch) Error() string {
	s := fmt.Sprintf("at byte %d found %s, want %s", e.Byte, e.Found, e.Want)
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

func (e *mismatch) Unwrap() error { return e.Cause }

// Read reads b into v, which points to a zero value. The line feed at the end may be
// missing. An error is a mismatch.
func (r *Reader) Read(b []byte, v any) error {
	if err := json.Unmarshal(b, v); err != nil {
		return &mismatch{1, excerpt(b, 0), "one JSON value", err}
	}
	r.again.Reset()
	if err := r.enc.Encode(v); err != nil {
		return &mismatch{1, excerpt(b, 0), "what can be written", err}
	}
	want := r.again.Bytes()
	if bytes.Equal(b, want) || bytes.Equal(b, want[:len(want)-1]) {
		return nil
	}
	return difference(b, want)
}

// difference tells where found is not as it would be written.
func difference(found, want []byte) *mismatch {
	at := 0
	for at < min(len(found), len(want)) && found[at] == want[at] {
		at++
	}
	from := at
	for at < len(found) && found[at] != ',' && from > 0 && at-from < 24 && found[from-1] != ',' && found[from-1] != '{' { // the beginning of a field
		from--
	}
	return &mismatch{at + 1, excerpt(found, from), excerpt(want, from), nil}
}

// excerpt returns a few bytes of b, quoted.
func excerpt(b []byte, from int) string {
	const most = 48
	if from >= len(b) {
		return "the end"
	}
	return fmt.Sprintf("%q", b[from:min(from+most, len(b))])
}
