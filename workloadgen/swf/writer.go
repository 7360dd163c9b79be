package swf

import (
	"bufio"
	"io"
	"strconv"
)

// Write writes the log. A record is a line of 18 numbers separated by single spaces, each in
// the shortest form that reads back exactly.
func (t *Trace) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, line := range t.Header {
		out.WriteString(line + "\n")
	}
	var line []byte
	for i := range t.Records {
		line = line[:0]
		for i, x := range t.Records[i].values() {
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
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}
