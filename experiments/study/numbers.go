package study

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
	"bourse/experiments/papers"
)

// A Case identifies the configuration, policy and metric of a printed number.
type Case struct {
	Configuration string `json:"configuration"`
	Admission     string `json:"admission"`
	Metric        string `json:"metric"`
}

// text returns the configuration, policy and metric of the case.
func (c Case) text() string { return c.Configuration + " " + c.Admission + " " + c.Metric }

// A printed is a number that a paper prints for a metric under a policy in a configuration.
type printed struct {
	Case
	lo, hi float64  // the two differ if the number is a range
	err    *float64 // standard error of the number; nil if unknown
	source string   // section or table in which it is printed
	at     string   // file and line from which it was read
}

// printedBy returns the numbers printed in the paper of a preset.
func printedBy(preset string) (all []printed) {
	paper := papers.Of(preset)
	for _, p := range paper.Printed {
		for _, c := range p.Configuration {
			for _, a := range p.Admission {
				for _, m := range p.Metric {
					n := printed{Case: Case{c, a, m}, lo: p.Value[0].Float64(), hi: p.Value[len(p.Value)-1].Float64(), source: p.Source}
					if e, ok := paper.Error(c, a, m); ok {
						n.err = &e
					}
					all = append(all, n)
				}
			}
		}
	}
	return all
}

// The columns of a table of printed numbers; the first four are required.
var columns = []string{"configuration", "admission", "metric", "value", "to", "error", "source"}

// readNumbers reads a CSV table of printed numbers. Errors state source as the name of the
// table. Each line contains one number. The header consists of configuration, admission,
// metric and value. It may also contain to (the other end of a range), error (the standard
// error) and source.
func readNumbers(source string, text []byte) (all []printed, err error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	r.TrimLeadingSpace, r.Comment = true, '#'
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, misuse.Errorf("%s: found no header, want %s", source, strings.Join(columns, ","))
	}
	for i, name := range header {
		if !slices.Contains(columns, name) || slices.Contains(header[:i], name) {
			return nil, misuse.Errorf("%s:1: found column %.40q, want each of %s at most once", source, name, strings.Join(columns, ","))
		}
	}
	for _, name := range columns[:4] {
		if err == nil && !slices.Contains(header, name) {
			return nil, misuse.Errorf("%s:1: found no column %s", source, name)
		}
	}
	for err == nil {
		var row []string
		if row, err = r.Read(); err != nil {
			break
		}
		line, _ := r.FieldPos(0)
		n := printed{at: fmt.Sprintf("%s:%d", source, line)}
		if err := n.read(header, row); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(o printed) bool { return o.Case == n.Case }) {
			return nil, n.fail("metric", "found %s twice", n.text())
		}
		all = append(all, n)
	}
	if !errors.Is(err, io.EOF) {
		return nil, misuse.Errorf("%s: %w", source, err)
	}
	if len(all) == 0 {
		return nil, misuse.Errorf("%s: found no number", source)
	}
	return all, nil
}

// read sets n from one line.
func (n *printed) read(header, row []string) (err error) {
	given := make(map[string]string)
	for i, name := range header {
		given[name] = strings.TrimSpace(row[i])
	}
	number := func(name, want string, least float64) (x float64) {
		x, wrong := strconv.ParseFloat(given[name], 64)
		if err == nil && (wrong != nil || math.IsNaN(x) || math.IsInf(x, 0) || x < least) {
			err = n.fail(name, "found %.40q, want %s", given[name], want)
		}
		return x
	}
	for _, name := range columns[:3] {
		if given[name] == "" {
			return n.fail(name, "missing")
		}
	}
	n.Case, n.source = Case{given["configuration"], given["admission"], given["metric"]}, given["source"]
	n.lo = number("value", "a number", math.Inf(-1))
	if n.hi = n.lo; given["to"] != "" {
		if n.hi = number("to", "a number", math.Inf(-1)); err == nil && n.hi < n.lo {
			err = n.fail("to", "found %v, want at least %v, the value", n.hi, n.lo)
		}
	}
	if given["error"] != "" {
		n.err = new(number("error", "a number, at least 0", 0))
	}
	return err
}

// fail returns an error about one column of n.
func (n *printed) fail(column, format string, args ...any) error {
	at := n.at
	if at == "" {
		at = n.text()
	}
	return misuse.Errorf("%s: %s: %s", at, column, fmt.Sprintf(format, args...))
}

// off returns the difference of x from n. It is negative if x is below n, and 0 if x is
// within the range.
func (n *printed) off(x float64) float64 { return min(0, x-n.lo) + max(0, x-n.hi) }

// String returns the value or the range of n.
func (n *printed) String() string {
	s := strconv.FormatFloat(n.lo, 'g', -1, 64)
	if n.hi > n.lo {
		s += " to " + strconv.FormatFloat(n.hi, 'g', -1, 64)
	}
	return s
}
