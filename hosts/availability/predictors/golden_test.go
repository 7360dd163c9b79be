package predictors

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"bourse/hosts/availability"
	"bourse/workloadgen/config"
)

// TestGoldenTDE checks the tde cases in the folder that BOURSE_GOLDEN_VOLUNTEERS names, by
// default the project's own copy. Fractions must be exact, and floats must agree to 1e-12.
func TestGoldenTDE(t *testing.T) {
	t.Parallel()
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
				ID, Kind string
				Options  json.RawMessage
				Input    struct {
					Trace       [][][]any
					Resource    int
					Now, Length float64
					Days        int
				}
				Expect map[string]json.RawMessage
			}
		}
		if err := json.Unmarshal(data, &cases); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range cases.Cases {
			if c.Kind != "tde" {
				continue
			}
			t.Run(c.ID, func(t *testing.T) {
				o := DefaultTDE()
				if len(c.Options) > 0 {
					if err := config.Read("", c.Options, &o); err != nil {
						t.Fatal(err)
					}
				}
				o.Days = c.Input.Days
				p, err := NewTDE(o)
				if err != nil {
					t.Fatal(err)
				}
				var records []availability.Record
				for _, r := range c.Input.Trace[c.Input.Resource] {
					state, err := availability.ParseState(r[2].(string))
					if err != nil {
						t.Fatal(err)
					}
					records = append(records, availability.Record{Start: r[0].(float64), End: r[1].(float64), State: state})
				}
				h := history(t, records)
				exact := p.Exact(h, c.Input.Now, c.Input.Length)
				f := p.Predict(h, c.Input.Now, c.Input.Length)
				for letter, got := range map[string]struct {
					exact *big.Rat
					float float64
				}{"A": {exact[0], f.Completes}, "P": {exact[1], f.UserPresent}, "C": {exact[2], f.Busy}, "U": {exact[3], f.Unavailable}} {
					text, ok := c.Expect[letter]
					if !ok {
						continue
					}
					want, ok := new(big.Rat).SetString(string(bytes.Trim(text, `"`)))
					if !ok {
						t.Fatalf("expectation %s", text)
					}
					if got.exact.Cmp(want) != 0 {
						t.Errorf("%s = %v, want %v", letter, got.exact.RatString(), want.RatString())
					}
					if w, _ := want.Float64(); math.Abs(got.float-w) > 1e-12 {
						t.Errorf("%s = %v, want %v", letter, got.float, w)
					}
				}
			})
		}
	}
}
