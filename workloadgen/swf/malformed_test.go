package swf

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// TestMalformed checks the accounting of each invalid file in testdata/malformed, which must
// add up, and the first problem of each kind. The .want file next to each file is written with
// -rewrite.
func TestMalformed(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/malformed/*.swf")
	if err != nil || len(names) < 40 {
		t.Fatalf("%d files, want at least 40 (%v)", len(names), err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		trace, err := Read(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkSum(t, name, &trace.Accounting, text)
		got := trace.Accounting.String()
		want := strings.TrimSuffix(name, ".swf") + ".want"
		if *rewrite {
			if err := os.WriteFile(want, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if text, err := os.ReadFile(want); err != nil || string(text) != got {
			t.Errorf("%s:\n%swant (%v):\n%s", name, got, err, text)
		}
	}
}

// TestLongBlankLine checks that a line of blanks that exceeds the maximum length, above the
// first record, is skipped as too long.
func TestLongBlankLine(t *testing.T) {
	t.Parallel()
	log, err := Read(strings.NewReader("; MaxProcs: 4\n" + strings.Repeat(" ", maxLine+1) + "\n1 0 0 1 1 -1 -1 1 1 -1 1 1 1 -1 1 1 -1 -1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if a := &log.Accounting; len(log.Records) != 1 || a.Count(LineTooLong) != 1 {
		t.Errorf("%d records: %s", len(log.Records), a)
	}
}
