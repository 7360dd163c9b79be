package models

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
)

// TestSites compares the fits in the code with the collected ones.
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

// TestMedians checks that the laws of a site agree: the medians of its Weibull, λ (ln 2)^(1/k),
// and of its log-normal, e^μ, are within a factor of 2. OurGrid has only a log-normal; its
// median is 2,856 s up and 1,397 s down.
func TestMedians(t *testing.T) {
	t.Parallel()
	for name, s := range sites() {
		for i, pair := range [][2][2]float64{{s.weibull.available, s.lognormal.available}, {s.weibull.unavailable, s.lognormal.unavailable}} {
			want := pair[0][1] * math.Pow(math.Ln2, 1/pair[0][0])
			if name == "ourgrid" {
				want = []float64{2856, 1397}[i] / 3600
			}
			if got := math.Exp(pair[1][0]); !(got < 2*want && got > want/2) {
				t.Errorf("%s, side %d: median %v h by the log-normal, want about %v", name, i, got, want)
			}
		}
	}
}
