package experiments

import (
	"bytes"
	"compress/gzip"
	"io"
)

// plainText returns the text that a file begins with, plain or gzip.
func plainText(head []byte) string {
	z, err := gzip.NewReader(bytes.NewReader(head))
	if err != nil {
		return string(head)
	}
	text, _ := io.ReadAll(io.LimitReader(z, 1<<16)) // what can be read of what is there
	return string(text)
}
