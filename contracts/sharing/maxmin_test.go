package sharing

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"bourse/contracts"
	"bourse/hosts"
	"bourse/market"
)

// TestGoldenMaxMin checks max-min fairness on cases of an independent model, in the folder that
// BOURSE_GOLDEN_MECHANISMS names or in testdata.
func TestGoldenMaxMin(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("BOURSE_GOLDEN_MECHANISMS")
	if folder == "" {
		folder = filepath.Join("testdata", "golden")
	}
	text, err := os.ReadFile(filepath.Join(folder, "maxmin.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			ID    string
			Input struct {
				Capacity float64
				Tasks    []struct{ Limit, Weight float64 }
			}
			Expect struct{ Rates []float64 }
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Cases) == 0 {
		t.Fatal(len(file.Cases), err)
	}
	for _, c := range file.Cases {
		weight, alike := "bid", true
		for _, task := range c.Input.Tasks {
			alike = alike && task.Weight == 1
		}
		if alike {
			weight = "equal"
		}
		r, err := newMaxMin(func(o any) error { return json.Unmarshal([]byte(`{"weight":"`+weight+`"}`), o) })
		if err != nil {
			t.Fatal(err)
		}
		var shares []hosts.Share
		for _, task := range c.Input.Tasks {
			k := new(contracts.Contract)
			k.Needs.Max.CPU = task.Limit
			shares = append(shares, r.(FixedShares).Share(k, &contracts.Placement{Bid: market.Rate(math.Round(task.Weight * 1e6))}, nil))
		}
		rates := make([]float64, len(shares))
		hosts.Divide(c.Input.Capacity, 0, shares, rates)
		for i, want := range c.Expect.Rates {
			if math.Abs(rates[i]-want) > 1e-9*max(1, want) {
				t.Errorf("%s: task %d gets %v, want %v", c.ID, i, rates[i], want)
			}
		}
	}
}
