package settlement

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"bourse/bank"
)

// TestVerdictsGolden checks causes and penalties against the cases in the folder that
// BOURSE_GOLDEN_RESOURCES names, testdata by default. An independent model computed the cases.
func TestVerdictsGolden(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(cmp.Or(os.Getenv("BOURSE_GOLDEN_RESOURCES"), "testdata"), "verdict.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			ID    string
			Input struct {
				Class                    string
				Work, Away, Posted, Most float64
				Budget                   int64
				Nodes                    []struct {
					End                    string
					Entitled, Used, Waited float64
				}
			}
			Expect struct {
				Cause   string
				Penalty int64
			}
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Cases) < 9 {
		t.Fatalf("%d cases, %v", len(file.Cases), err)
	}
	for _, c := range file.Cases {
		var nodes []Served
		used := 0.0
		for _, n := range c.Input.Nodes {
			nodes = append(nodes, Served{n.Entitled, n.Used, n.Waited, n.End == "failed" || n.End == "unstarted"})
			used += n.Used
		}
		work := c.Input.Work * float64(len(nodes))
		cause := CauseOf(nodes, work, c.Input.Away, c.Input.Class != "be" && c.Input.Class != "rac")
		owed := bank.Amount{}
		if cause == byHost || cause == byMarket {
			if owed, err = (Promise{c.Input.Posted, c.Input.Most}).Owed(bank.Micros(c.Input.Budget), used, work); err != nil {
				t.Fatal(err)
			}
		}
		if cause != c.Expect.Cause || owed.Micros() != c.Expect.Penalty {
			t.Errorf("%s: %q, %d micro-dollars, want %q, %d", c.ID, cause, owed.Micros(), c.Expect.Cause, c.Expect.Penalty)
		}
	}
}

// TestCauseBe checks that under be, no promise is broken if a bid buys too little, and that a
// penalty is bounded.
func TestCauseBe(t *testing.T) {
	t.Parallel()
	node := []Served{{Entitled: 30, Used: 30}}
	if got := CauseOf(node, 60, 0, false); got != byPrice {
		t.Errorf("half of the work bought: %q, want %q", got, byPrice)
	}
	most := Promise{Penalty: 3, Most: 1.5}
	if got, err := most.Owed(bank.Micros(100), 10, 60); err != nil || got.Micros() != 150 {
		t.Errorf("a penalty of %v, %v, want 150 micro-dollars", got, err)
	}
}
