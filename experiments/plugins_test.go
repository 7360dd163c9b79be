package experiments

import (
	"strings"
	"testing"
)

// TestOptions checks that every plug-in and every option of one has a line that
// says what it is, and a default that a file could hold.
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
