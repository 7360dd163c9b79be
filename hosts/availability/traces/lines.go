package traces

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

const maxLine = 64 << 10

// eachLine calls f with each line of r, plain or gzip, without its newline. It counts and omits
// blank lines, lines that are too long and lines that start with #.
func eachLine(r io.Reader, file string, a *Accounting, f func(at place, line string)) error {
	in := bufio.NewReaderSize(r, maxLine)
	if magic, _ := in.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(in)
		if err != nil {
			return fmt.Errorf("availability: %s: %w", naming(file), err)
		}
		in = bufio.NewReaderSize(z, maxLine)
	}
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
		in.Discard(3)
	}
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		at := place{file, n}
		if errors.Is(err, bufio.ErrBufferFull) {
			a.Lines++
			a.skip(lineTooLong, at, string(line[:40]))
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = in.ReadSlice('\n')
			}
			line = nil
		} else if len(line) > 0 {
			a.Lines++
			switch text := bytes.TrimSpace(line); {
			case len(text) == 0:
				a.skip(blank, at, "")
			case text[0] == '#':
				a.skip(comment, at, "")
			case bytes.ContainsAny(bytes.TrimRight(line, "\r\n"), "\r\v\f"):
				a.skip(loneReturn, at, string(text))
			default:
				f(at, strings.TrimRight(string(line), "\r\n"))
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("availability: %s, line %d: %w", naming(file), n, err)
		}
	}
}

func naming(file string) string {
	if file == "" {
		return "trace"
	}
	return file
}

// maxInstant limits times, so that their sums are exact to a microsecond.
const maxInstant = 1e12

// number parses a time or a quantity: a finite number whose absolute value is at most
// maxInstant.
func number(s string) (float64, reason, bool) {
	s = strings.TrimSpace(s)
	x, err := strconv.ParseFloat(s, 64)
	switch {
	case strings.ContainsAny(s, "xX_"): // hexadecimal
		return 0, notNumber, false
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, notNumber, false
	case math.IsNaN(x):
		return 0, notNumber, false
	case !(math.Abs(x) <= maxInstant):
		return 0, outOfRange, false
	}
	return x, 0, true
}
