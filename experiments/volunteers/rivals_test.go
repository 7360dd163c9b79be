package volunteers

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"bourse/hosts/availability"
	"bourse/hosts/availability/models"
	"bourse/hosts/availability/predictors"
)

// A seer knows the future, and a constant always promises the same.
type seer struct{}

func (seer) Predict(h *availability.History, now, length float64) predictors.Forecast {
	if v, ok := h.At(now); ok && now+length <= v.End {
		return predictors.Forecast{Completes: 1}
	}
	return predictors.Forecast{Unavailable: 1}
}

type constant float64

func (c constant) Predict(*availability.History, float64, float64) predictors.Forecast {
	return predictors.Forecast{Completes: float64(c), Unavailable: 1 - float64(c)}
}

// TestTrial checks that rivals get the same questions, on the traces and with the random
// source of the replication. A rival that knows the future has Brier score 0. One that
// promises the fraction kept has p(1-p) and is honest. No predictor may be better than the
// first.
func TestTrial(t *testing.T) {
	t.Parallel()
	trial := Trial{
		Replications: 3, Probes: 1000, Last: availability.Day, Bins: 10, Band: 0.95,
		Trace: func(rep int) (*availability.Trace, error) {
			m, err := models.Table().New("diurnal", nil)
			if err != nil {
				return nil, err
			}
			return m.Trace(rand.New(rand.NewPCG(uint64(rep), 1)), 30, 7*availability.Day)
		},
		Chance: func(rep int) rand.Source { return rand.NewPCG(uint64(rep), 2) },
	}
	first, err := trial.Run([]Rival{{"seer", 0, seer{}}})
	if err != nil {
		t.Fatal(err)
	}
	base := first[0].Base
	rivals := append(rivals(2), Rival{"seer", 0, seer{}}, Rival{"constant", 0, constant(base)})
	all, err := trial.Run(rivals)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 4*2+2 {
		t.Fatalf("%d rivals", len(all))
	}
	for _, s := range all {
		mean := 0.0
		for _, b := range s.Briers {
			mean += b / 3
		}
		if s.Probes != 3000 || s.Base != base || math.Abs(mean-s.Brier) > 1e-12 {
			t.Errorf("%s, %d days: %d probes, %v kept, Brier %v by replication, %v of all; want 3000 and %v kept", s.Name, s.Days, s.Probes, s.Base, mean, s.Brier, base)
		}
		switch s.Name {
		case "seer":
			if s.Brier != 0 {
				t.Errorf("who sees the future has Brier %v", s.Brier)
			}
		case "constant":
			if !(math.Abs(s.Brier-base*(1-base)) <= 1e-12) {
				t.Errorf("who promises %v always has Brier %v, want %v", base, s.Brier, base*(1-base))
			}
			for i := range s.Bins {
				if !s.Bins[i].honest() {
					t.Errorf("bin %+v, want it honest", s.Bins[i])
				}
			}
		default:
			if s.Brier <= 0 || s.Brier >= 1 {
				t.Errorf("%s, %d days: Brier %v", s.Name, s.Days, s.Brier)
			}
		}
	}
	again, err := trial.Run(rivals)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if !reflect.DeepEqual(all[i].Briers, again[i].Briers) {
			t.Errorf("%s: the same chance, other scores", all[i].Name)
		}
	}
	trial.Trace = func(int) (*availability.Trace, error) { return new(availability.Trace), nil }
	if _, err := trial.Run(rivals); err == nil || !strings.Contains(err.Error(), "no host") {
		t.Errorf("without hosts: %v", err)
	}
}
