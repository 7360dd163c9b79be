package volunteers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"bourse/hosts/availability"
	"bourse/hosts/availability/models"
	"bourse/hosts/availability/predictors"
	"bourse/hosts/availability/sched"
)

// raw recomputes a history from its records for each forecast.
type raw struct{ *predictors.TDE }

func (p raw) Predict(h *availability.History, now, length float64) predictors.Forecast {
	again, err := availability.NewHistory(h.Name, h.MIPS, h.Records(), availability.Gap)
	if err != nil {
		panic(err)
	}
	return p.TDE.Predict(again, now, length)
}

func (p raw) AtLeast(h *availability.History, now, length, least float64) bool {
	return p.Predict(h, now, length).Completes >= least
}

// counting counts forecasts.
type counting struct {
	*predictors.TDE
	n int
}

func (p *counting) AtLeast(h *availability.History, now, length, least float64) bool {
	p.n++
	return p.TDE.AtLeast(h, now, length, least)
}

// BenchmarkReplay replays 100,000 jobs over 1,000 hosts for 29 days, forecasting
// by six days for every placement tried. It prints how many forecasts that takes
// and, of a fiftieth of the jobs, how many times longer if each is recomputed
// from the records.
func BenchmarkReplay(b *testing.B) {
	const n, days = 1000, 30
	m, err := models.New("diurnal", func(o any) error {
		o.(*models.DiurnalOptions).LoadEvery = 0
		return nil
	}, nil)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	trace, err := m.Trace(rng, n, days*availability.Day)
	if err != nil {
		b.Fatal(err)
	}
	o := predictors.DefaultTDE()
	tde, err := predictors.NewTDE(o)
	if err != nil {
		b.Fatal(err)
	}
	replay := func(p predictors.Predictor, threshold float64, jobs []Job, to float64) *Outcome {
		match, err := sched.NewThreshold(threshold, "fifo", p)
		if err != nil {
			b.Fatal(err)
		}
		out, err := Replay(context.Background(), Config{
			Trace: trace, Jobs: jobs, From: availability.Day, To: to, Interval: 60, Queue: sched.DefaultQueue(), Matchmaker: match,
		})
		if err != nil {
			b.Fatal(err)
		}
		return out
	}
	s := Week()
	s.To = days * availability.Day
	s.Every = (s.To - s.From) / 100_000
	jobs, err := s.Jobs(rng)
	if err != nil {
		b.Fatal(err)
	}
	few := jobs[:2000]
	early := few[len(few)-1].Submit + 1
	for _, threshold := range []float64{0.5, 0.7, 0.8} {
		b.Run(fmt.Sprintf("T=%v", threshold), func(b *testing.B) {
			timed := func(p predictors.Predictor) float64 {
				start := time.Now()
				replay(p, threshold, few, early)
				return time.Since(start).Seconds()
			}
			ratio := timed(raw{tde}) / timed(tde)
			p := &counting{TDE: tde}
			var out *Outcome
			for b.Loop() {
				p.n = 0
				out = replay(p, threshold, jobs, s.To)
			}
			b.ReportMetric(float64(p.n)/1e6, "Mforecasts")
			b.ReportMetric(out.Ratio(), "%processed")
			b.ReportMetric(ratio, "times-faster-than-raw")
		})
	}
}
