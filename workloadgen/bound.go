package workloadgen

import (
	"fmt"
	"io"
)

// maxText is the most bytes of a text of jobs, which is read whole: many times what the
// largest recorded logs have.
const maxText = 8 << 30

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
