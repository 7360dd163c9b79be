package workloadgen

import (
	"bytes"
	"fmt"
	"io"
)

// A text of jobs is read whole. The bounds are many times what the largest recorded logs
// have, and what a line of a plan can need.
const (
	maxText = 8 << 30
	maxLine = 1 << 24
)

// bounded reads at most so many bytes, and then fails: a device, or what gzip packed out
// of zeros, would be read without end.
type bounded struct {
	io.Reader
	left, most int64
}

func atMost(r io.Reader, most int64) *bounded { return &bounded{r, most, most} }

func (b *bounded) Read(p []byte) (int, error) {
	if b.left == 0 {
		var one [1]byte
		if n, err := b.Reader.Read(one[:]); n == 0 {
			return 0, err
		}
		return 0, fmt.Errorf("more than %d bytes of text", b.most)
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.Reader.Read(p)
	b.left -= int64(n)
	return n, err
}

// lines fails where a line is longer than most: what reads a line whole would fill the
// memory with it.
type lines struct {
	io.Reader
	most   int // bytes of a line
	long   int // bytes of the line at hand
	before int // lines before it
}

// A longLine is a line with too many bytes.
type longLine struct{ line, most int }

func (l longLine) Error() string { return fmt.Sprintf("a line of more than %d bytes", l.most) }

func (l *lines) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			i = len(rest)
		}
		if l.long += i; l.long > l.most {
			return 0, longLine{l.before + 1, l.most}
		}
		if i < len(rest) {
			l.long, l.before, i = 0, l.before+1, i+1
		}
		rest = rest[i:]
	}
	return n, err
}
