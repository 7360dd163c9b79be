package swf

import (
	"bufio"
	"io"
	"strconv"
)

// A Writer writes a log. Call Flush at the end.
type Writer struct {
	out  *bufio.Writer
	line []byte
}

// NewWriter returns a writer to w that has written the header.
func NewWriter(w io.Writer, h Header) *Writer {
	out := &Writer{out: bufio.NewWriterSize(w, maxLine)}
	for _, line := range h {
		out.out.WriteString(line)
		out.out.WriteByte('\n')
	}
	return out
}

// Write writes a record: 18 numbers separated by single spaces, each in the shortest form that
// reads back exactly.
func (w *Writer) Write(r *Record) error {
	line := w.line[:0]
	for i, x := range r.values() {
		if i > 0 {
			line = append(line, ' ')
		}
		switch n := int64(x); {
		case float64(n) == x:
			line = strconv.AppendInt(line, n, 10)
		case x < 1e-6:
			line = strconv.AppendFloat(line, x, 'e', -1, 64)
		default:
			line = strconv.AppendFloat(line, x, 'f', -1, 64)
		}
	}
	w.line = append(line, '\n')
	_, err := w.out.Write(w.line)
	return err
}

// WriteText writes a line unchanged.
func (w *Writer) WriteText(line []byte) error {
	w.out.Write(line)
	return w.out.WriteByte('\n')
}

// Flush writes buffered data.
func (w *Writer) Flush() error { return w.out.Flush() }

// Copy writes the records of r for which keep returns true, or all records if keep is nil.
// Keep may change the record. A record that was neither repaired nor changed is written as the
// original line, so a clean file is copied byte for byte. Blank lines, and comments after the
// first record, are omitted.
func Copy(w *Writer, r *Reader, keep func(*Record) bool) error {
	for {
		repaired := r.acc.Repaired
		rec, err := r.Next()
		if err == io.EOF {
			return w.Flush()
		}
		if err != nil {
			return err
		}
		was := *rec
		if keep != nil && !keep(rec) {
			continue
		}
		if *rec == was && r.acc.Repaired == repaired {
			err = w.WriteText(r.Text())
		} else {
			err = w.Write(rec)
		}
		if err != nil {
			return err
		}
	}
}

// Write writes the complete log.
func (t *Trace) Write(w io.Writer) error {
	out := NewWriter(w, t.Header)
	for i := range t.Records {
		if err := out.Write(&t.Records[i]); err != nil {
			return err
		}
	}
	return out.Flush()
}
