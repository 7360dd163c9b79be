package readings

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/experiments/misuse"
)

// A Number is printed of a metric under a policy in a configuration.
type Number struct {
	Case
	Lo, Hi float64  // they are the same, but of a range
	Error  *float64 // its standard error; nil: not known
	Source string   // where it is printed
	at     string   // in which file and line it stands
}

// A Case is what a number is of.
type Case struct{ Configuration, Admission, Metric string }

// text names it.
func (c Case) text() string { return c.Configuration + " " + c.Admission + " " + c.Metric }

// columns of a table of printed numbers; the first four must be there.
var columns = []string{"configuration", "admission", "metric", "value", "to", "error", "source"}

// ReadNumbers reads a table of printed numbers (CSV), which errors call source: a line a
// number, under a header of configuration, admission, metric and value, and, where they
// are known, to (the other end of a range), error (the standard error) and source.
func ReadNumbers(source string, text []byte) (all []Number, err error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	r.TrimLeadingSpace, r.Comment = true, '#'
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, misuse.Errorf("%s: found no header, want %s", source, strings.Join(columns, ","))
	}
	if err != nil {
		return nil, misuse.Of(fmt.Errorf("%s: %w", source, err))
	}
	for i, name := range header {
		if !slices.Contains(columns, name) || slices.Contains(header[:i], name) {
			return nil, misuse.Errorf("%s:1: found column %.40q, want each of %s once at most", source, name, strings.Join(columns, ","))
		}
	}
	for _, name := range columns[:4] {
		if !slices.Contains(header, name) {
			return nil, misuse.Errorf("%s:1: found no column %s", source, name)
		}
	}
	seen := make(map[Case]bool)
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, misuse.Of(fmt.Errorf("%s: %w", source, err))
		}
		line, _ := r.FieldPos(0)
		n := Number{at: fmt.Sprintf("%s:%d", source, line)}
		if err := n.read(header, row); err != nil {
			return nil, err
		}
		if seen[n.Case] {
			return nil, n.Fail("metric", "found %s twice", n.text())
		}
		seen[n.Case] = true
		all = append(all, n)
	}
	if len(all) == 0 {
		return nil, misuse.Errorf("%s: found no number", source)
	}
	return all, nil
}

// read fills in n from a line.
func (n *Number) read(header, row []string) error {
	given := make(map[string]string)
	for i, name := range header {
		given[name] = strings.TrimSpace(row[i])
	}
	number := func(name string, least float64) (x float64, err error) {
		if x, err = strconv.ParseFloat(given[name], 64); err != nil || math.IsNaN(x) || math.IsInf(x, 0) || x < least {
			want := "a number"
			if least == 0 {
				want = "a number, at least 0"
			}
			return 0, n.Fail(name, "found %.40q, want %s", given[name], want)
		}
		return x, nil
	}
	for _, name := range columns[:3] {
		if given[name] == "" {
			return n.Fail(name, "missing")
		}
	}
	n.Configuration, n.Admission, n.Metric, n.Source = given["configuration"], given["admission"], given["metric"], given["source"]
	var err error
	if n.Lo, err = number("value", math.Inf(-1)); err != nil {
		return err
	}
	if n.Hi = n.Lo; given["to"] != "" {
		if n.Hi, err = number("to", math.Inf(-1)); err != nil {
			return err
		}
		if n.Hi < n.Lo {
			return n.Fail("to", "found %v, want at least the value, %v", n.Hi, n.Lo)
		}
	}
	if given["error"] != "" {
		x, err := number("error", 0)
		n.Error = &x
		return err
	}
	return nil
}

// Fail says what is wrong with a column of n.
func (n *Number) Fail(column, format string, args ...any) error {
	at := n.at
	if at == "" {
		at = n.text()
	}
	return misuse.Errorf("%s: %s: %s", at, column, fmt.Sprintf(format, args...))
}

// off returns how far x is from n: less than 0 below it, 0 within a range.
func (n *Number) off(x float64) float64 {
	switch {
	case x < n.Lo:
		return x - n.Lo
	case x > n.Hi:
		return x - n.Hi
	}
	return 0
}

// printed writes n.
func (n *Number) printed() string {
	s := strconv.FormatFloat(n.Lo, 'g', -1, 64)
	if n.Hi > n.Lo {
		s += " to " + strconv.FormatFloat(n.Hi, 'g', -1, 64)
	}
	return s
}
