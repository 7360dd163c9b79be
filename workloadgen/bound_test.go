package workloadgen

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// zeros is a reader that returns zeros without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestBounds checks that an endless text, plain or compressed, is rejected at the limit and not
// before.
func TestBounds(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{99: "", 100: "", 101: "more than 100 bytes of text"} {
		for _, wrap := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.DataErrReader, iotest.HalfReader} {
			got, err := io.ReadAll(atMost(wrap(strings.NewReader(strings.Repeat("a", n))), 100))
			if len(got) != min(n, 100) || (err == nil) != (want == "") || err != nil && err.Error() != want {
				t.Errorf("%d bytes: read %d, %v, want %q", n, len(got), err, want)
			}
		}
	}
	if _, err := io.Copy(io.Discard, atMost(zeros{}, 1<<20)); err == nil {
		t.Error("zeros without end: no error")
	}
	if _, err := ReadCSV(zeros{}, "zero.csv"); err == nil || !strings.Contains(err.Error(), "zero.csv:1: found a line of more than 16777216 bytes") {
		t.Errorf("a plan of zeros: %v", err)
	}
	plan := "id,arrival,runtime,nodes,value\n" + strings.Repeat("#"+strings.Repeat("a", 1<<23)+"\n", 3) + "1,0,1,1,1\n"
	if got, err := ReadCSV(bytes.NewReader([]byte(plan)), "plan.csv"); err != nil || len(got) != 1 {
		t.Errorf("a plan with long comments: %d jobs, %v", len(got), err)
	}
}
