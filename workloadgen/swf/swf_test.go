package swf

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// plain returns the text of a gzip file.
func plain(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var files = []string{
	"KTH-SP2-1996-2.1-cln.swf.gz",
	"LANL-CM5-1994-4.1-cln.swf.gz",
	"SDSC-BLUE-2000-4.1-cln.valid.swf.gz",
	"SDSC-BLUE-first60days-queues1-4.haizea.swf.gz",
	"SDSC-SP2-1998-4.1-cln.valid.swf.gz",
	"lublin_256.synthetic.swf.gz",
}

// TestArchive checks that the lines of every recorded trace are accounted for, that each record
// is used unchanged, and that a written log reads back as the same log.
func TestArchive(t *testing.T) {
	t.Parallel()
	for _, name := range files {
		text := plain(t, traceFile(t, name))
		trace, err := Read(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		a := &trace.Accounting
		if checkSum(t, name, a, text); a.Used == 0 || a.Used != len(trace.Records) || a.Repaired+a.Skipped > 0 {
			t.Errorf("%s: %v", name, a)
		}
		var out bytes.Buffer
		if err := trace.Write(&out); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&out)
		if err != nil || !reflect.DeepEqual(again.Records, trace.Records) || !slices.Equal(again.Header, trace.Header) {
			t.Errorf("%s: another log was read from what was written: error %v", name, err)
		}
	}
}

// checkSum checks that the accounting adds up to the lines of the file.
func checkSum(t interface {
	Helper()
	Errorf(string, ...any)
}, name string, a *Accounting, text []byte) {
	t.Helper()
	lines := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		lines++
	}
	if a.Lines != lines || a.Lines != a.Comments+a.Blank+a.Used+a.Repaired+a.Skipped {
		t.Errorf("%s: %d lines; accounting %v", name, lines, a)
	}
	repairs, skips := 0, 0
	for _, r := range a.Reasons() {
		if r.First.Reason.Skips() {
			skips += r.Count
		} else {
			repairs += r.Count
		}
	}
	if skips != a.Skipped || repairs < a.Repaired || a.Repaired == 0 && repairs > 0 {
		t.Errorf("%s: reasons do not add up: %v", name, a)
	}
}

// records draws any record that the format can hold.
func records(t *rapid.T) Record {
	whole := rapid.OneOf(rapid.Just(int64(-1)), rapid.Int64Range(0, maxNumber))
	span := rapid.OneOf(rapid.Just(-1.0), rapid.Float64Range(0, maxNumber), rapid.Custom(func(t *rapid.T) float64 {
		return float64(rapid.Int64Range(0, maxNumber).Draw(t, "whole"))
	}))
	w := func(name string) int64 { return whole.Draw(t, name) }
	s := func(name string) float64 { return span.Draw(t, name) }
	return Record{
		Job: rapid.Int64Range(0, maxNumber).Draw(t, "job"), Submit: math.Abs(s("submit")), Wait: s("wait"), Run: s("run"),
		Procs: w("procs"), CPU: s("cpu"), Memory: s("memory"), ReqProcs: w("reqprocs"), ReqTime: s("reqtime"),
		ReqMemory: s("reqmemory"), Status: w("status"), User: w("user"), Group: w("group"), Application: w("app"),
		Queue: w("queue"), Partition: w("partition"), Preceding: w("preceding"), Think: s("think"),
	}
}

// TestRoundTrip checks that a written log is read back unchanged, plain and compressed, and
// that writing it again gives the same text.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := Trace{Header: Header{"; Version: 2.2", ";", "; MaxProcs: 7"}}
		for range rapid.IntRange(1, 5).Draw(t, "records") {
			want.Records = append(want.Records, records(t))
		}
		var file, packed, again bytes.Buffer
		if err := want.Write(&file); err != nil {
			t.Fatal(err)
		}
		z := gzip.NewWriter(&packed)
		z.Write(file.Bytes())
		z.Close()
		for _, text := range []*bytes.Buffer{&packed, bytes.NewBuffer(file.Bytes())} {
			got, err := Read(text)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.Records, want.Records) || !reflect.DeepEqual(got.Header, want.Header) {
				t.Fatalf("read %+v, want %+v", got, want)
			}
			again.Reset()
			got.Write(&again)
			if !bytes.Equal(again.Bytes(), file.Bytes()) {
				t.Fatalf("written again:\n%s\nfirst:\n%s", &again, &file)
			}
		}
	})
}

// TestHeader checks keys of a real header.
func TestHeader(t *testing.T) {
	t.Parallel()
	h := Header{"; Version: 2.2", ";", ";   UnixStartTime: 843480031 ", "; MaxNodes: 100", "; Note: a: b"}
	if v, ok := h.Int("unixstarttime"); v != 843480031 || !ok {
		t.Errorf("UnixStartTime %v %v", v, ok)
	}
	if n, ok := h.Processors(); n != 100 || !ok {
		t.Errorf("processors %v %v", n, ok)
	}
	if v, _ := h.Get("Note"); v != "a: b" {
		t.Errorf("Note %q", v)
	}
	if _, ok := h.Get("MaxProcs"); ok {
		t.Error("a key that is not there is found")
	}
}

// TestReadErrors checks that a file cut in the middle of its gzip is an error,
// not a shorter log.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for i := range 10000 {
		fmt.Fprintf(z, "%d %d 0 16 1 -1 -1 1 60 -1 1 17 17 -1 -1 -1 -1 -1\n", i, i*i)
	}
	z.Close()
	if _, err := Read(bytes.NewReader(packed.Bytes()[:packed.Len()/2])); err == nil || !strings.Contains(err.Error(), "unexpected EOF") {
		t.Errorf("error %v, want unexpected EOF", err)
	}
	if _, err := Read(strings.NewReader("\x1f\x8bnot gzip at all")); err == nil {
		t.Error("a file that only starts like gzip is read")
	}
	if _, err := ReadFile("testdata/none.swf"); !os.IsNotExist(err) {
		t.Errorf("error %v, want that there is no file", err)
	}
}

// BenchmarkRead compares the time of reading with that of scanning the same lines, using the
// fastest run of each.
func BenchmarkRead(b *testing.B) {
	text := plain(b, traceFile(b, "SDSC-BLUE-2000-4.1-cln.valid.swf.gz"))
	ours, bare := math.Inf(1), math.Inf(1)
	for range b.N {
		start := b.Elapsed()
		if _, err := Read(bytes.NewReader(text)); err != nil {
			b.Fatal(err)
		}
		middle := b.Elapsed()
		in := bufio.NewScanner(bytes.NewReader(text))
		in.Buffer(make([]byte, maxLine), maxLine)
		for in.Scan() {
		}
		ours = min(ours, (middle - start).Seconds())
		bare = min(bare, (b.Elapsed() - middle).Seconds())
	}
	b.ReportMetric(ours/bare, "x-bare-scan")
	b.ReportMetric(float64(len(text))/1e6/ours, "MB/s")
}
