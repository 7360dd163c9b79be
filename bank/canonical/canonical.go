// Package canonical parses JSON and accepts only texts with a single interpretation. It reads
// two kinds of input. Values written by this program must consist of exactly the bytes that it
// would write. JSON objects from other programs must contain each wanted key at most once.
//
// The package is independent of the meaning of the values.
//
// # Design
//
// JSON readers differ. If a key occurs twice, some JSON parsers use the first value and others
// the last. Package encoding/json treats "To" like "to". Some parsers ignore bytes after the
// end of a value, treat null like a missing value, or round large numbers. If one parser
// verifies a text and another one uses it, both must interpret it in the same way. It would be
// difficult to list all differences, so this package writes the value again and compares the
// bytes.
//
// The caller must reject values that their type permits but that the program never writes,
// such as null instead of an empty list.
package canonical

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// NewEncoder returns an encoder that writes each value to w on one line.
func NewEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// NewIndented returns an encoder that writes values to w in an indented form for people.
func NewIndented(w io.Writer) *json.Encoder {
	enc := NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc
}

// A Reader reads values that were written on one line each, or indented. It is not safe for
// concurrent use.
type Reader struct {
	again bytes.Buffer // encoding of the value that was read
	enc   *json.Encoder
}

// NewReader returns a reader of the format of [NewEncoder].
func NewReader() *Reader {
	r := new(Reader)
	r.enc = NewEncoder(&r.again)
	return r
}

// NewIndentedReader returns a reader of the format of [NewIndented].
func NewIndentedReader() *Reader {
	r := new(Reader)
	r.enc = NewIndented(&r.again)
	return r
}

// A mismatch describes the first byte that differs from the form in which the value would be
// written.
type mismatch struct {
	Byte        int // counted from 1
	Found, Want string
	Cause       error // error if the input is not JSON or not of this type; nil otherwise
}

func (e *mismatch) Error() string {
	s := fmt.Sprintf("at byte %d found %s, want %s", e.Byte, e.Found, e.Want)
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

func (e *mismatch) Unwrap() error { return e.Cause }

// Read parses b into v, which must point to a zero value. The line feed at the end may be
// missing. The error is a mismatch.
func (r *Reader) Read(b []byte, v any) error {
	if err := json.Unmarshal(b, v); err != nil {
		return &mismatch{1, excerpt(b, 0), "one JSON value", err}
	}
	r.again.Reset()
	if err := r.enc.Encode(v); err != nil {
		return &mismatch{1, excerpt(b, 0), "a value that JSON can represent", err}
	}
	want := r.again.Bytes()
	if bytes.Equal(b, want) || bytes.Equal(b, want[:len(want)-1]) {
		return nil
	}
	return difference(b, want)
}

// difference returns the first position at which found differs from want.
func difference(found, want []byte) *mismatch {
	at := 0
	for at < min(len(found), len(want)) && found[at] == want[at] {
		at++
	}
	from := at
	for at < len(found) && found[at] != ',' && from > 0 && at-from < 24 && found[from-1] != ',' && found[from-1] != '{' { // show the excerpt from the beginning of the field
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
