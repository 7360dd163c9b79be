package catalog

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"bourse/experiments/report"
)

// TestOptions checks that every plug-in and every option has a one-line description and a
// default that a file could contain.
func TestOptions(t *testing.T) {
	t.Parallel()
	all := Plugins("")
	options := 0
	for _, p := range all {
		if p.Doc == "" {
			t.Errorf("%s %s: no line", p.Family, p.Name)
		}
		for _, o := range p.Options {
			options++
			if o.Doc == "" {
				t.Errorf("%s %s: option %s has no line", p.Family, p.Name, o.Name)
			}
			if s := written(o.Default); strings.Contains(s, "nil") || strings.Contains(s, "{ ") || strings.Contains(s, "0xc") {
				t.Errorf("%s %s: option %s has default %s", p.Family, p.Name, o.Name, s)
			}
		}
	}
	if options < 50 {
		t.Errorf("found %d options", options)
	}
}

// TestListPlugins checks that descriptions of plug-ins fit lines of any width from 60
// columns and that their text does not depend on the width.
func TestListPlugins(t *testing.T) {
	t.Parallel()
	said := func(width int) string {
		return ListPlugins(Plugins(""), report.Terminal{UTF8: true, Width: width}, true).Notes[0]
	}
	want := said(0)
	for _, width := range []int{60, 80, 120} {
		got := said(width)
		for line := range strings.Lines(got) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("at %d columns: a line of %d: %s", width, n, line)
			}
		}
		if !slices.Equal(strings.Fields(got), strings.Fields(want)) {
			t.Errorf("at %d columns other words:\n%s", width, got)
		}
	}
}
