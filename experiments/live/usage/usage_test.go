package usage

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"bourse/bank"
)

// TestFocusGolden checks the columns and rows of FOCUS against the cases of the folder that
// BOURSE_GOLDEN_RESOURCES names, testdata by default, which are none of this code's.
func TestFocusGolden(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(cmp.Or(os.Getenv("BOURSE_GOLDEN_RESOURCES"), "testdata"), "usage.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			ID    string
			Input struct {
				Market  string
				Settled []struct {
					Contract, Paid, Penalty                     int64
					Account, Project, Name, Class, State, Cause string
					Admitted, Ended, Done                       float64
				}
			}
			Expect struct {
				Columns []string
				Rows    [][]string
			}
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Cases) < 2 {
		t.Fatalf("%d cases, %v", len(file.Cases), err)
	}
	for _, c := range file.Cases {
		var all []Settled
		for _, s := range c.Input.Settled {
			all = append(all, Settled{s.Contract, s.Account, s.Project, s.Name, s.Class, s.State, s.Cause, s.Admitted, s.Ended, 0, s.Done, bank.Micros(s.Paid), bank.Micros(s.Penalty)})
		}
		rows := Focus(c.Input.Market, all)
		if !slices.Equal(Columns, c.Expect.Columns) {
			t.Errorf("%s: columns %q, want %q", c.ID, Columns, c.Expect.Columns)
		}
		if !slices.EqualFunc(rows, c.Expect.Rows, slices.Equal) {
			t.Errorf("%s: %q, want %q", c.ID, rows, c.Expect.Rows)
		}
	}
}

// TestSums checks that contracts with the same key are added, to the micro-dollar.
func TestSums(t *testing.T) {
	t.Parallel()
	all := []Settled{
		{Contract: 12, Ended: 848400000, Done: 3600, Paid: bank.Micros(1)},
		{Contract: 9, Ended: 848400001, Done: 1800, Paid: bank.Micros(2), Project: "project:film"},
		{Contract: 13, Ended: 848500000, Paid: bank.Micros(4), Penalty: bank.Micros(8)},
	}
	for by, want := range map[string][]Sum{
		"contract": {{"9", 1, 0.5, bank.Micros(2), bank.Amount{}}, {"12", 1, 1, bank.Micros(1), bank.Amount{}}, {"13", 1, 0, bank.Micros(4), bank.Micros(8)}},
		"project":  {{"-", 2, 1, bank.Micros(5), bank.Micros(8)}, {"project:film", 1, 0.5, bank.Micros(2), bank.Amount{}}},
		"day":      {{"2026-11-19", 2, 1.5, bank.Micros(3), bank.Amount{}}, {"2026-11-20", 1, 0, bank.Micros(4), bank.Micros(8)}},
	} {
		if got, err := Sums(all, Keys[by]); err != nil || !slices.Equal(got, want) {
			t.Errorf("by %s: %v, %v, want %v", by, got, err, want)
		}
	}
	if m := Month(848400000); m != "2026-11" {
		t.Errorf("month %s", m)
	}
}
