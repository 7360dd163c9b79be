package predictors

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"bourse/hosts/availability"
	"bourse/workloadgen/config"
)

func make1(t *testing.T, name, options string) Predictor {
	t.Helper()
	p, err := Table().New(name, func(o any) error { return config.Read("", []byte(options), o) })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestNaive checks the available fraction of the last days, within the trace.
func TestNaive(t *testing.T) {
	t.Parallel()
	const day = availability.Day
	h := history(t, []availability.Record{
		{Start: 0, End: day, State: availability.Unavailable},
		{Start: day, End: 1.5 * day, State: availability.Available},
		{Start: 1.5 * day, End: 2 * day, State: availability.UserPresent},
		{Start: 2 * day, End: 4 * day, State: availability.Available},
	})
	for _, c := range []struct {
		days string
		now  float64
		want float64
	}{
		{"days: 1", 2 * day, 0.5},
		{"days: 1", 2.25 * day, 0.5},
		{"days: 2", 2.5 * day, 0.5},
		{"days: 6", 3 * day, 0.5},
		{"days: 6", 4 * day, 2.5 / 4},
		{"days: 6", 0, 0},
		{"days: 1", 9 * day, 0},
	} {
		f := make1(t, "naive", c.days).Predict(h, c.now, 1000)
		if f.Completes != c.want || f.sum() != 1 {
			t.Errorf("%s at %v: %+v, want %v", c.days, c.now, f, c.want)
		}
	}
}

// TestRenewal checks that the fit to many intervals of a known law is close to the law's own
// S(a+L)/S(a), at any age, and that exit states have their observed frequencies.
func TestRenewal(t *testing.T) {
	t.Parallel()
	for name, law := range map[string]interface {
		Quantile(float64) float64
		Survival(float64) float64
	}{
		"weibull":     distuv.Weibull{K: 0.6, Lambda: 3000},
		"lognormal":   distuv.LogNormal{Mu: 7, Sigma: 1.5},
		"exponential": distuv.Exponential{Rate: 1.0 / 2000},
	} {
		rng := rand.New(rand.NewPCG(3, 3))
		var records []availability.Record
		at := 0.0
		for i := range 20_000 {
			length := law.Quantile(rng.Float64())
			records = append(records, availability.Record{Start: at, End: at + length, State: availability.Available})
			at += length
			exit := availability.UserPresent
			if i%4 == 0 {
				exit = availability.Evicted
			}
			records = append(records, availability.Record{Start: at, End: at + 200, State: exit})
			at += 200
		}
		records = append(records, availability.Record{Start: at, End: at + 1e5, State: availability.Available})
		h := history(t, records)
		p := make1(t, "renewal", "law: "+name)
		for _, age := range []float64{0, 500, 5000} {
			for _, length := range []float64{100, 1000, 10_000} {
				f := p.Predict(h, at+age, length)
				want := law.Survival(age+length) / law.Survival(age)
				if !(math.Abs(f.Completes-want) <= 0.02) {
					t.Errorf("%s: age %v, length %v: %.4f, want %.4f", name, age, length, f.Completes, want)
				}
				if !(math.Abs(f.sum()-1) <= 1e-12) || !(math.Abs(f.UserPresent-3*f.Unavailable) <= 1e-12) {
					t.Errorf("%s: %+v does not share the ways out", name, f)
				}
			}
		}
	}
}

// plainRenewal fits the law to the intervals that ended in the last days (0 means all), by the
// moments of the logarithms of their lengths.
func plainRenewal(law string, days, least int, h *availability.History, now, length float64) Forecast {
	var logs []float64
	age, time := 0.0, 0.0
	exits := map[availability.State]float64{}
	for _, v := range h.Intervals() {
		if v.Start <= now && now < v.End {
			age = now - v.Start
		}
		if v.End <= now && (days == 0 || v.End > now-float64(days)*availability.Day) {
			logs = append(logs, math.Log(v.End-v.Start))
			time += v.End - v.Start
			exits[v.Exit]++
		}
	}
	mean, variance := stat.MeanVariance(logs, nil)
	var log func(float64) float64 // S's logarithm
	switch sd := math.Sqrt(variance); {
	case law == "exponential" || len(logs) < least:
		log = func(x float64) float64 { return -x * float64(len(logs)) / (time + age) }
	case law == "weibull":
		k := math.Pi / (sd * math.Sqrt(6))
		log = distuv.Weibull{K: k, Lambda: math.Exp(mean + 0.5772156649015329/k)}.LogSurvival
	default:
		log = func(x float64) float64 { return math.Log(distuv.LogNormal{Mu: mean, Sigma: sd}.Survival(x)) }
	}
	stays := 0.0
	if time+age > 0 {
		stays = math.Exp(log(age+length) - log(age))
	}
	known := exits[availability.UserPresent] + exits[availability.Busy] + exits[availability.Evicted] + exits[availability.Unavailable]
	if known == 0 {
		return Forecast{Completes: stays, Unavailable: 1 - stays}
	}
	leaves := (1 - stays) / known
	return Forecast{stays, leaves * exits[availability.UserPresent], leaves * exits[availability.Busy],
		leaves * (exits[availability.Evicted] + exits[availability.Unavailable])}
}

// TestRenewalIsItsDefinition compares the predictor with a simple fit to the relevant
// intervals, on random histories.
func TestRenewalIsItsDefinition(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 13))
		h := history(t, drawDays(rng, 0.2+rng.Float64()*4))
		law := []string{"weibull", "lognormal", "exponential"}[seed%3]
		days, least := rng.IntN(4), 2+rng.IntN(6)
		p := make1(t, "renewal", fmt.Sprintf("{law: %s, days: %d, least: %d}", law, days, least))
		for range 10 {
			now, length := rng.Float64()*5*availability.Day, math.Pow(10, 5*rng.Float64())
			got, want := p.Predict(h, now, length), plainRenewal(law, days, least, h, now, length)
			for i, d := range []float64{got.Completes - want.Completes, got.UserPresent - want.UserPresent, got.Busy - want.Busy, got.Unavailable - want.Unavailable} {
				if !(math.Abs(d) <= 1e-7) { // variances are differences of sums
					t.Fatalf("seed %d, %s of %d days, least %d, now %v, length %v: field %d of %+v, want %+v", seed, law, days, least, now, length, i, got, want)
				}
			}
		}
	}
}

// TestRenewalAges checks two ages: one as long as the whole history, and one so long that the
// survival function of the log-normal is 0, although its hazard approaches 0.
func TestRenewalAges(t *testing.T) {
	t.Parallel()
	h := history(t, []availability.Record{
		{Start: 0, End: 300, State: availability.Available}, {Start: 300, End: 600, State: availability.Busy},
		{Start: 600, End: 10_000, State: availability.Available},
	})
	if got, want := make1(t, "renewal", "law: exponential").Predict(h, 900, 60).Completes, math.Exp(-60.0/600); math.Abs(got-want) > 1e-12 {
		t.Errorf("at the age of 300, after 300: %v, want %v", got, want)
	}
	h = history(t, []availability.Record{
		{Start: 0, End: 300, State: availability.Available}, {Start: 300, End: 600, State: availability.Busy},
		{Start: 600, End: 901, State: availability.Available}, {Start: 901, End: 1200, State: availability.Busy},
		{Start: 1200, End: 1e6, State: availability.Available},
	})
	if got := make1(t, "renewal", "{law: lognormal, least: 2}").Predict(h, 9e5, 60).Completes; got != 1 {
		t.Errorf("log-normal lives of 300 s, at the age of ten days: %v, want 1", got)
	}
}

// TestForecasts checks that the probabilities of every predictor sum to 1 on any history,
// including an empty one, under any law.
func TestForecasts(t *testing.T) {
	t.Parallel()
	named := map[string]Predictor{
		"tde": make1(t, "tde", "{days: 3, count: frac}"), "naive": make1(t, "naive", "days: 2"),
		"weibull": make1(t, "renewal", "{least: 2, days: 1}"), "lognormal": make1(t, "renewal", "{law: lognormal, least: 2}"),
		"exponential": make1(t, "renewal", "law: exponential"),
	}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 4))
		h := history(t, drawDays(rng, rng.Float64()*rng.Float64()*5))
		for range 20 {
			now, length := rng.Float64()*7*availability.Day-5000, math.Pow(10, 6*rng.Float64())
			for name, p := range named {
				f := p.Predict(h, now, length)
				for _, x := range []float64{f.Completes, f.UserPresent, f.Busy, f.Unavailable} {
					if !(x >= 0 && x <= 1) {
						t.Fatalf("seed %d, %s at %v for %v: %+v", seed, name, now, length, f)
					}
				}
				if !(math.Abs(f.sum()-1) <= 1e-12) {
					t.Fatalf("seed %d, %s: sum %v", seed, name, f.sum())
				}
			}
		}
	}
}

// TestRefuses checks that wrong options and names are errors.
func TestRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{{"naive", "days: 0"}, {"renewal", "law: pareto"}, {"renewal", "days: -1"}, {"renewal", "least: 1"}, {"oracle", ""}} {
		if _, err := Table().New(c[0], func(o any) error { return config.Read("", []byte(c[1]), o) }); err == nil {
			t.Errorf("%s, %s: no error", c[0], c[1])
		}
	}
	for _, name := range Table().Names() {
		if Table().Doc(name) == "" {
			t.Errorf("%s has no doc", name)
		}
	}
}
