package traces

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bourse/hosts/availability"
)

// golden calls f with each golden case of a kind, in the folder that BOURSE_GOLDEN_VOLUNTEERS
// names, by default the project's own copy.
func golden(t *testing.T, kind string, f func(t *testing.T, input, expect json.RawMessage)) {
	t.Helper()
	folder := os.Getenv("BOURSE_GOLDEN_VOLUNTEERS")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "experiments", "volunteers", "testdata", "golden")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden cases in %s (%v)", folder, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cases struct {
			Cases []struct {
				ID, Kind      string
				Input, Expect json.RawMessage
			}
		}
		if err := json.Unmarshal(data, &cases); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range cases.Cases {
			if c.Kind == kind {
				t.Run(c.ID, func(t *testing.T) { f(t, c.Input, c.Expect) })
			}
		}
	}
}

// TestGoldenGaps checks the gap_merge cases.
func TestGoldenGaps(t *testing.T) {
	t.Parallel()
	golden(t, "gap_merge", func(t *testing.T, input, expect json.RawMessage) {
		in := struct {
			Trace jsonTrace
			Gap   *float64
		}{}
		var want struct {
			Available [][][3]any
		}
		unmarshal(t, input, &in)
		unmarshal(t, expect, &want)
		gap := availability.Gap
		if in.Gap != nil {
			gap = *in.Gap
		}
		for i, records := range in.Trace {
			h, err := availability.NewHistory("h", 1, records, gap)
			if err != nil {
				t.Fatal(err)
			}
			if len(h.Intervals()) != len(want.Available[i]) {
				t.Fatalf("host %d: %v, want %v", i, h.Intervals(), want.Available[i])
			}
			for k, got := range h.Intervals() {
				exit := availability.Unknown
				if letter, ok := want.Available[i][k][2].(string); ok {
					exit, _ = availability.ParseState(letter)
				}
				if w := want.Available[i][k]; got.Start != w[0] || got.End != w[1] || got.Exit != exit {
					t.Errorf("host %d, interval %d: %v, want %v", i, k, got, w)
				}
			}
		}
	})
}

// TestGoldenUCB checks the ucb_convert cases.
func TestGoldenUCB(t *testing.T) {
	t.Parallel()
	golden(t, "ucb_convert", func(t *testing.T, input, expect json.RawMessage) {
		var in struct {
			Peak  float64
			Files []string
		}
		var want struct{ Intervals jsonTrace }
		unmarshal(t, input, &in)
		unmarshal(t, expect, &want)
		var files []File
		for _, text := range in.Files {
			files = append(files, File{"host", strings.NewReader(text)})
		}
		trace, acc, err := ReadUCB(files, in.Peak, availability.Gap)
		if err != nil {
			t.Fatal(err)
		}
		if acc.Skipped > 0 {
			t.Error(acc)
		}
		for i, records := range want.Intervals {
			got := trace.Hosts[i].Records()
			if len(got) != len(records) {
				t.Fatalf("host %d: %v, want %v", i, got, records)
			}
			for k := range got {
				load := math.Abs(got[k].Load - records[k].Load)
				if got[k].Load = records[k].Load; got[k] != records[k] || load > 1e-9 {
					t.Errorf("host %d, record %d: %v, want %v", i, k, got[k], records[k])
				}
			}
		}
	})
}

// jsonTrace is a trace as golden cases write it: [start, end, state, load].
type jsonTrace [][]availability.Record

// UnmarshalJSON implements [json.Unmarshaler].
func (t *jsonTrace) UnmarshalJSON(data []byte) error {
	var raw [][][]any
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	for _, host := range raw {
		var records []availability.Record
		for _, r := range host {
			state, err := availability.ParseState(r[2].(string))
			if err != nil {
				return err
			}
			rec := availability.Record{Start: r[0].(float64), End: r[1].(float64), State: state}
			if len(r) > 3 {
				rec.Load = r[3].(float64)
			}
			records = append(records, rec)
		}
		*t = append(*t, records)
	}
	return nil
}

func unmarshal(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}
