package main

import (
	"flag"
	"strings"
	"testing"
)

var wholeStudy = flag.Bool("findings", false, "run the fixed study, which takes minutes, in TestFindings")

// TestFindings checks that the page on findings says what the study finds.
func TestFindings(t *testing.T) {
	t.Parallel()
	if !*wholeStudy {
		t.Skip("it takes minutes: -findings runs it")
	}
	status, out, errs := bourse(t, t.Context(), "findings", "--out", t.TempDir(), "--no-progress")
	if status != 0 {
		t.Fatalf("exit status %d: %s", status, errs)
	}
	page, err := docs.ReadFile("docs/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	said, n := words(string(page)), 0
	for line := range strings.Lines(out) {
		if line = words(line); line == "" {
			continue
		}
		if n++; !strings.Contains(said, line) {
			t.Errorf("the page does not say: %s", line)
		}
	}
	if n < 40 {
		t.Errorf("the study says %d lines", n)
	}
}
