package volunteers

import (
	"math"
	"math/rand/v2"
	"testing"

	"bourse/experiments/metrics"
	"bourse/hosts/availability"
	"bourse/hosts/availability/models"
	"bourse/hosts/availability/predictors"
)

// TestQuantile compares the bounds of a band with sums of binomial terms.
func TestQuantile(t *testing.T) {
	t.Parallel()
	for _, n := range []float64{1, 2, 10, 137} {
		for _, p := range []float64{0, 0.001, 0.3, 0.5, 0.97, 1} {
			for _, u := range []float64{0.025, 0.4, 0.975} {
				term, sum, want := math.Pow(1-p, n), 0.0, 0.0
				for k := 0.0; ; k++ {
					if sum += term; sum >= u-1e-12 || k == n {
						want = k
						break
					}
					term *= (n - k) / (k + 1) * p / (1 - p)
				}
				if p == 1 {
					want = n
				}
				if got := quantile(n, p, u); got != want {
					t.Errorf("quantile(%v, %v, %v) = %v, want %v", n, p, u, got, want)
				}
			}
		}
	}
}

// TestHonest checks that the 95 % bands contain about this fraction of honest promises, and
// reject promises that are 0.1 too high.
func TestHonest(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 2))
	inside, bins, rejected := 0, 0, 0
	for range 200 {
		var honest, boastful []metrics.Promise
		for range 3000 {
			p := rng.Float64()
			kept := rng.Float64() < p
			honest = append(honest, metrics.Promise{Promised: p, Kept: kept})
			boastful = append(boastful, metrics.Promise{Promised: min(p+0.1, 1), Kept: kept})
		}
		for _, b := range reliability(honest, 10, 0.95).Bins {
			bins++
			if b.honest() {
				inside++
			}
		}
		for _, b := range reliability(boastful, 10, 0.95).Bins {
			if b.Count > 100 && !b.honest() {
				rejected++
			}
		}
	}
	if share := float64(inside) / float64(bins); share < 0.94 || share > 0.985 {
		t.Errorf("%v of honest bins are in their band, want about 0.95", share)
	}
	if rejected < 1700 {
		t.Errorf("%d of 1800 boastful bins are out of their band", rejected)
	}
}

// TestDiagram checks a diagram computed by hand.
func TestDiagram(t *testing.T) {
	t.Parallel()
	d := reliability([]metrics.Promise{{Promised: 1, Kept: true}, {Promised: 0.9}, {Promised: 0.8, Kept: true}, {Promised: 0.2}}, 2, 0.95)
	low, high := d.Bins[0], d.Bins[1]
	if low.Count != 1 || low.Promised != 0.2 || low.Kept != 0 || high.Count != 3 || math.Abs(high.Promised-0.9) > 1e-15 || high.Kept != 2.0/3 {
		t.Errorf("bins are %+v", d.Bins)
	}
	if want := (0 + 0.81 + 0.04 + 0.04) / 4; math.Abs(d.Brier-want) > 1e-15 || d.Base != 0.5 {
		t.Errorf("Brier score %v of base %v, want %v of 0.5", d.Brier, d.Base, want)
	}
	if d := reliability(nil, 3, 0.95); !math.IsNaN(d.Brier) || !math.IsNaN(d.Bins[0].Low) || !d.Bins[0].honest() {
		t.Errorf("of no probes: %+v", d)
	}
}

// TestPredictorsJudged checks theoretical results about the rivals on memoryless hosts: the
// renewal predictor is honest and has the best Brier score, and the fraction of available
// time promises too much for long jobs.
func TestPredictorsJudged(t *testing.T) {
	t.Parallel()
	m, err := models.Table().New("intervals", func(o any) error {
		i := o.(*models.IntervalsOptions)
		i.Site, i.Law = "overnet03", "exp"
		return nil
	})

	if err != nil {
		t.Fatal(err)
	}
	trace, err := m.Trace(rand.New(rand.NewPCG(1, 1)), 100, 60*availability.Day)
	if err != nil {
		t.Fatal(err)
	}
	diagrams := map[string]Diagram{}
	for _, name := range predictors.Table().Names() {
		p, err := predictors.Table().New(name, func(o any) error {
			if r, ok := o.(*predictors.RenewalOptions); ok {
				r.Law = "exponential"
			}
			return nil
		})

		if err != nil {
			t.Fatal(err)
		}
		lengths := func(rng *rand.Rand) float64 { return 1 + math.Floor(20_000*rng.Float64()) }
		probes := Probes(rand.New(rand.NewPCG(3, 3)), p, trace, lengths, 30*availability.Day, 59*availability.Day, 20_000)
		if len(probes) != 20_000 {
			t.Fatalf("%d probes", len(probes))
		}
		diagrams[name] = reliability(probes, 10, 0.95)
		d := diagrams[name]
		t.Logf("%s: Brier score %.4f, kept %.3f", name, d.Brier, d.Base)
		for _, b := range d.Bins {
			if b.Count > 0 {
				t.Logf("  %5d promised %.3f kept %.3f band %.3f..%.3f", b.Count, b.Promised, b.Kept, b.Low, b.High)
			}
		}
	}
	for _, b := range diagrams["renewal"].Bins {
		if b.Count > 200 && math.Abs(b.Kept-b.Promised) > 0.05 {
			t.Errorf("renewal promised %.3f and kept %.3f", b.Promised, b.Kept)
		}
	}
	for _, name := range []string{"naive", "tde"} {
		if diagrams["renewal"].Brier >= diagrams[name].Brier {
			t.Errorf("renewal's Brier score %v is not below that of %s, %v", diagrams["renewal"].Brier, name, diagrams[name].Brier)
		}
	}
}
