package models

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestSites checks the fits typed in here against the collected ones.
func TestSites(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../../../shared/traces/models.json")
	if err != nil {
		t.Skip("no collected models beside the project: ", err)
	}
	var all struct {
		FTA map[string]json.RawMessage `json:"fta_fits_hours"`
	}
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for name, text := range all.FTA {
		if name == "source" {
			continue
		}
		var laws map[string][2][]float64
		if err := json.Unmarshal(text, &laws); err != nil {
			t.Fatal(err)
		}
		s, ok := sites()[strings.Fields(name)[0]]
		if !ok {
			t.Errorf("no site %s", name)
		}
		for law, got := range map[string]fit{"exp": s.exp, "weibull": s.weibull, "lognormal": s.lognormal, "gamma": s.gamma} {
			for i, side := range [][2]float64{got.available, got.unavailable} {
				for j, want := range laws[law][i] {
					seen++
					if side[j] != want {
						t.Errorf("%s, %s: parameter %d of side %d is %v, want %v", name, law, j, i, side[j], want)
					}
				}
			}
		}
	}
	if seen != 7*(2+4+4+4) {
		t.Errorf("compared %d numbers", seen)
	}
}
