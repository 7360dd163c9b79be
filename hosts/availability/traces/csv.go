package traces

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/hosts/availability"
)

// columns are the columns of a trace in CSV.
const columns = "resource,start,end,state,load,mips"

// ReadCSV reads a trace, plain or gzip, with the columns resource, start, end, state, load and
// mips. The header and the last two columns are optional. Hosts are in order of first
// appearance, and times are unchanged. Gap is as for [availability.NewHistory]. An error means
// that the file cannot be read further; the accounting describes the outcome of each line.
func ReadCSV(r io.Reader, gap float64) (*availability.Trace, *Accounting, error) {
	a := new(Accounting)
	f := newFleet(a)
	var wrong error // error in the header
	err := eachLine(r, "", a, func(at place, text string) {
		fields, err := splitCSV(text)
		if err != nil {
			a.skip(badQuotes, at, text)
			return
		}
		if fields[0] == "resource" {
			a.skip(header, at, "")
			if wrong == nil {
				wrong = checkHeader(at, fields)
			}
			return
		}
		if len(fields) < 4 {
			a.skip(tooFewFields, at, text)
			return
		}
		if fields[0] == "" {
			a.skip(nameMissing, at, text)
			return
		}
		l := line{at: at}
		if !l.spans(a, fields[1], fields[2], text) {
			return
		}
		if l.State, err = availability.ParseState(fields[3]); err != nil {
			a.skip(badState, at, fields[3])
			return
		}
		if len(fields) > 4 && fields[4] != "" {
			var ok bool
			if l.Load, _, ok = number(fields[4]); !ok {
				l.verdict.repair(loadMissing)
			}
		}
		l.clamp()
		d := f.host(fields[0])
		if len(fields) > 5 && fields[5] != "" {
			switch mips, _, ok := number(fields[5]); {
			case !ok || mips <= 0:
				l.verdict.repair(mipsMissing)
			case d.mips == 0:
				d.mips = mips
			case d.mips != mips:
				l.verdict.repair(mipsChanged)
			}
		}
		if len(fields) > 6 {
			l.verdict.repair(fieldsBeyond)
		}
		d.records = append(d.records, l)
	})
	if err == nil {
		err = wrong
	}
	if err != nil {
		return nil, a, err
	}
	t, err := f.trace(0, gap)
	return t, a, err
}

// checkHeader requires the columns in their order, because rows do not name them.
func checkHeader(at place, fields []string) error {
	want := strings.Split(columns, ",")
	n := min(len(fields), len(want))
	if n < 4 || !slices.Equal(fields[:n], want[:n]) {
		return fmt.Errorf("availability: line %d: found the columns %.80q, want %s; the last two may be missing", at.line, strings.Join(fields, ","), columns)
	}
	return nil
}

// splitCSV splits a line into fields and removes the space around them.
func splitCSV(text string) ([]string, error) {
	fields := strings.Split(text, ",")
	if strings.Contains(text, `"`) {
		c := csv.NewReader(strings.NewReader(text))
		var err error
		if fields, err = c.Read(); err != nil {
			return nil, err
		}
	}
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	return fields, nil
}

// clamp restricts the load to [0,1].
func (l *line) clamp() {
	if c := min(max(l.Load, 0), 1); c != l.Load {
		l.Load = c
		l.verdict.repair(loadClamped)
	}
}

// WriteCSV writes the recorded states such that [ReadCSV] returns the same trace. It refuses
// values that CSV cannot represent: times beyond 10^12 s, and names that are empty, contain a
// line break, start with # or have space around them.
func WriteCSV(w io.Writer, t *availability.Trace) error {
	c := csv.NewWriter(w)
	c.Write(strings.Split(columns, ","))
	float := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	for _, h := range t.Hosts {
		if h.Name == "" || h.Name == "resource" || h.Name[0] == '#' || strings.ContainsAny(h.Name, "\r\n\v\f") || strings.TrimSpace(h.Name) != h.Name {
			return fmt.Errorf("availability: host %q: CSV cannot represent the name", h.Name)
		}
		for _, r := range h.Records() {
			if math.Abs(r.Start) > maxInstant || math.Abs(r.End) > maxInstant {
				return fmt.Errorf("availability: host %q: CSV cannot represent the record from %v to %v", h.Name, r.Start, r.End)
			}
			c.Write([]string{h.Name, float(r.Start), float(r.End), r.State.String(), float(r.Load), float(h.MIPS)})
		}
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return fmt.Errorf("availability: %w", err)
	}
	return nil
}
