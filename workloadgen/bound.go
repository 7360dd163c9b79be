package workloadgen

import (
	"fmt"
	"io"
)

// maxText is the maximum size, in bytes, of a text of jobs, because readers load the whole text
// into memory. The largest recorded logs are far smaller.
const maxText = 8 << 30

// bounded is a reader that fails after a given number of bytes. Without this limit, reading a
// device or a gzip file full of zeros would not end.
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
