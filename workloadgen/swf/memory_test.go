package swf

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMemory checks the memory of a node and the notes in the accounting, with the files in the
// folder that BOURSE_GOLDEN_RESOURCES names, testdata/resources by default.
func TestMemory(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(cmp.Or(os.Getenv("BOURSE_GOLDEN_RESOURCES"), "testdata/resources"), "swf.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			ID     string
			Input  struct{ Line, Memory string }
			Expect struct {
				Bytes float64
				Notes []string
			}
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		trace, err := Read(strings.NewReader(c.Input.Line + "\n"))
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		plan, acc := trace.Plan(Memory(c.Input.Memory))
		bytes, notes := 0.0, []string{}
		if plan[0].Needs != nil {
			bytes = plan[0].Needs.Memory
		}
		for _, tally := range acc.Reasons() {
			if text := tally.First.Reason.String(); strings.HasPrefix(text, "memory") {
				notes = append(notes, text)
			}
		}
		if bytes != c.Expect.Bytes || !slices.Equal(notes, c.Expect.Notes) {
			t.Errorf("%s: %v bytes, notes %q, want %v and %q", c.ID, bytes, notes, c.Expect.Bytes, c.Expect.Notes)
		}
	}
	if len(file.Cases) == 0 {
		t.Error("no cases")
	}
}
