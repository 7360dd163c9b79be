package swf

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"bourse/workloadgen/csvtest"
)

// FuzzRead checks that no file makes the reader panic, that the accounting always adds up, that
// a second reader finds the same records, and that the log is the same and clean after it is
// written and read again.
func FuzzRead(f *testing.F) {
	f.Add([]byte("; Version: 2.2\n   15   599850 192180   3477    4     -1    -1    4  53940    -1  1  12  12  -1 -1 -1 -1 -1\n"))
	f.Add([]byte("1 2 3\n1 2 3 4 5 6.5 1e3 -7 x\n\n;late\n1 2 3 4 5"))
	f.Add([]byte("1 -1 3 4 5\n-1 1 3 4 5\n1 1e99 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"))
	f.Add([]byte("\ufeff; MaxProcs: 8\r\n;MaxProcs: 9\r\n1 2 3 4 5\r\n1 2 3 4 5\r1 2 3 4 5\r"))
	f.Add([]byte("1\t0x2 3 4 5\n1 1_0 3 4 5\n1 +2 .5 4. 5\n1.5 2 -0 -0.5 -1.0\n1 2 1,5 4 5\n1 1e400 3 4 5\n9007199254740993 1 1 1 1\n"))
	files, err := filepath.Glob("testdata/malformed/*")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, name := range files {
		if text, err := os.ReadFile(name); err == nil && len(text) < 1<<12 {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1 && text[0] == 0x1f && text[1] == 0x8b || len(text) >= maxLine {
			return
		}
		trace, err := Read(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		checkSum(t, "fuzz", &trace.Accounting, text)
		if len(trace.Records) != trace.Accounting.Used+trace.Accounting.Repaired {
			t.Fatalf("%d records: %v", len(trace.Records), &trace.Accounting)
		}
		want, repaired := secondRead(string(text))
		if !slices.Equal(trace.Records, want) || trace.Accounting.Repaired != repaired {
			t.Fatalf("%q is\n%+v, %v, want\n%+v, %d repaired", text, trace.Records, &trace.Accounting, want, repaired)
		}
		var out bytes.Buffer
		trace.Header = nil
		trace.Write(&out)
		again, err := Read(&out)
		if err != nil || !again.Accounting.Clean() || !reflect.DeepEqual(again.Records, trace.Records) {
			t.Fatalf("read again: %v %v, want %v", again, err, trace.Records)
		}
	})
}

// secondRead returns the records of a log and the number of repaired ones, following the
// definition of the format. Fields are separated by blanks and tabs. A line is a record if each
// field is a decimal number. At least 5 fields are required, only the first 18 count, and the
// only valid negative value is -1.
func secondRead(text string) (records []Record, repaired int) {
	text = strings.TrimPrefix(text, "\ufeff")
	lines := strings.Split(text, "\n")
lines:
	for n, line := range lines {
		fields := strings.FieldsFunc(strings.TrimSuffix(line, "\r"), func(r rune) bool { return r == ' ' || r == '\t' })
		if len(fields) < 5 || fields[0][0] == ';' {
			continue
		}
		mended := n == len(lines)-1 || len(fields) != Fields
		var v [Fields]float64
		for i := range v {
			v[i] = Unknown
			if i >= len(fields) {
				continue
			}
			x, ok := csvtest.Number(fields[i])
			if !ok || len(fields[i]) > 64 || math.Abs(x) > 1e15 {
				continue lines
			}
			if i < 2 && x < 0 {
				continue lines
			}
			if x < 0 && x != Unknown {
				x, mended = Unknown, true
			}
			if slices.Contains([]int{0, 4, 7, 10, 11, 12, 13, 14, 15, 16}, i) && x != math.Floor(x) {
				x, mended = math.Floor(x), true
			}
			v[i] = x
		}
		if mended {
			repaired++
		}
		var r Record
		of := reflect.ValueOf(&r).Elem()
		for i, x := range v {
			if of.Field(i).CanInt() {
				of.Field(i).SetInt(int64(x))
			} else {
				of.Field(i).SetFloat(x)
			}
		}
		records = append(records, r)
	}
	return records, repaired
}

// FuzzParseFilters checks that no text makes the parser panic, and that accepted filters keep,
// and report, the same records as a second implementation.
func FuzzParseFilters(f *testing.F) {
	for _, s := range []string{
		"last:3000,ran", "date:2000-04-25..,user:1+2,not-user:3,procs:-8,id:3-", " submit:1e3-2e3 , whole", "first:9223372036854775807", "last:9223372036854775807",
		"id:1e-5-7,id:0x1-2", "date:2001-01-01..2000-01-01", "date:1-1-1..", "submit:0-1e-0", "user:+1", "user:-1", "id:-,procs:1.5-", "completed,,failed", "first:1_0", "id:1e400-", "id:-1e400", "submit:.-", "first:007",
	} {
		f.Add(s)
	}
	trace, err := Read(strings.NewReader(small))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		filters, err := ParseFilters(text)
		if err != nil {
			return
		}
		kept, steps, err := trace.Apply(filters...)
		if err != nil {
			t.Fatal(err)
		}
		n := len(trace.Records)
		for i, s := range steps {
			if s.In != n || s.Out > s.In || s.Filter != filters[i].String() {
				t.Fatalf("%q: step %+v after %d records", text, s, n)
			}
			n = s.Out
		}
		if len(kept.Records) != n {
			t.Fatalf("%q: %d records kept, %d said", text, len(kept.Records), n)
		}
		want := trace.Records
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			if want, err = secondFilter(part, want); err != nil {
				t.Fatalf("%q is read, want %v", text, err)
			}
		}
		if !slices.Equal(kept.Records, want) {
			t.Fatalf("%q keeps %v, want %v", text, kept.Records, want)
		}
		var again []string
		for _, f := range filters {
			again = append(again, f.String())
		}
		filters, err = ParseFilters(strings.Join(again, ","))
		if err != nil {
			t.Fatal(err)
		}
		if twice, _, err := trace.Apply(filters...); err != nil || !slices.Equal(twice.Records, want) {
			t.Fatalf("%q, printed as %q, keeps %v, want %v", text, again, twice, want)
		}
	})
}

// secondFilter returns the records that a filter keeps, by its documentation.
func secondFilter(part string, records []Record) ([]Record, error) {
	name, arg, _ := strings.Cut(part, ":")
	lo, hi := 0.0, math.Inf(1)
	between := func() error {
		ways := 0
		for i := range arg {
			if arg[i] != '-' {
				continue
			}
			a, okA := csvtest.Number(arg[:i])
			b, okB := csvtest.Number(arg[i+1:])
			if (okA || arg[:i] == "") && (okB || arg[i+1:] == "" || tooLarge(arg[i+1:])) {
				ways++
				if okA {
					lo = a
				}
				if okB {
					hi = b
				}
			}
		}
		if ways != 1 || lo > hi {
			return fmt.Errorf("%q is an interval in %d ways", arg, ways)
		}
		return nil
	}
	var keep func(r Record) bool
	var err error
	switch name {
	case "ran":
		keep = func(r Record) bool { return r.Run > 0 && (r.Procs > 0 || r.ReqProcs > 0) }
	case "completed":
		keep = func(r Record) bool { return r.Status == 1 }
	case "failed":
		keep = func(r Record) bool { return r.Status == 0 }
	case "cancelled":
		keep = func(r Record) bool { return r.Status == 5 }
	case "has-estimate":
		keep = func(r Record) bool { return r.ReqTime > 0 }
	case "whole":
		keep = func(r Record) bool { return r.Status < 2 || r.Status > 4 }
	case "id":
		err = between()
		keep = func(r Record) bool { return lo <= float64(r.Job) && float64(r.Job) <= hi }
	case "submit":
		err = between()
		keep = func(r Record) bool { return lo <= r.Submit && r.Submit <= hi }
	case "procs":
		err = between()
		keep = func(r Record) bool {
			width := r.Procs
			if width <= 0 {
				width = r.ReqProcs
			}
			return width > 0 && lo <= float64(width) && float64(width) <= hi
		}
	case "user", "not-user":
		users := map[int64]bool{}
		for _, word := range strings.Split(arg, "+") {
			n, e := strconv.ParseInt(word, 10, 64)
			if e != nil {
				err = e
			}
			users[n] = true
		}
		keep = func(r Record) bool { return users[r.User] == (name == "user") }
	case "date":
		from, to, found := strings.Cut(arg, "..")
		if !found {
			return nil, fmt.Errorf("%q has no ..", arg)
		}
		day := func(s string, or float64) float64 {
			if s == "" {
				return or
			}
			at, e := time.ParseInLocation("2006-01-02", s, time.UTC)
			if e != nil {
				err = e
			}
			return float64(at.Unix())
		}
		lo, hi = day(from, 0), day(to, math.Inf(1))
		if lo >= hi {
			return nil, fmt.Errorf("%q is no span", arg)
		}
		keep = func(r Record) bool { return lo <= 956700003+r.Submit && 956700003+r.Submit < hi }
	case "first", "last":
		n, e := strconv.ParseUint(strings.TrimPrefix(arg, "+"), 10, 63)
		if err = e; n < 1 {
			return nil, fmt.Errorf("%q records", arg)
		}
		if len(records) == 0 {
			return nil, err
		}
		least, most := records[0].Job, records[0].Job
		for _, r := range records {
			least, most = min(least, r.Job), max(most, r.Job)
		}
		keep = func(r Record) bool {
			if name == "first" {
				return uint64(r.Job-least) < n
			}
			return uint64(most-r.Job) < n
		}
	default:
		return nil, fmt.Errorf("no filter %q", name)
	}
	if err != nil {
		return nil, err
	}
	var out []Record
	for _, r := range records {
		if keep(r) {
			out = append(out, r)
		}
	}
	return out, nil
}

// tooLarge reports whether a text is a number beyond every float64.
func tooLarge(s string) bool {
	x, err := strconv.ParseFloat(s, 64)
	return err != nil && math.IsInf(x, 1) && strings.Trim(s, "0123456789+-.eE") == ""
}
