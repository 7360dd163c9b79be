package workloadgen

import "io"

// A LineCounter is a reader that finds the line of an offset. It is for decoders whose errors
// contain only offsets.
type LineCounter struct {
	In   io.Reader
	read int64
	line int     // line of the last offset requested, from 0
	ends []int64 // ends of the lines from there on
}

// Read implements [io.Reader].
func (l *LineCounter) Read(b []byte) (int, error) {
	n, err := l.In.Read(b)
	for i, c := range b[:n] {
		if c == '\n' {
			l.ends = append(l.ends, l.read+int64(i))
		}
	}
	l.read += int64(n)
	return n, err
}

// At returns the line of an offset, from 1. Offsets must not decrease from one call to the
// next.
func (l *LineCounter) At(offset int64) int {
	for len(l.ends) > 0 && l.ends[0] < offset {
		l.ends = l.ends[1:]
		l.line++
	}
	return l.line + 1
}
