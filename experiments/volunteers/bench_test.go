package volunteers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"bourse/hosts/availability"
	"bourse/hosts/availability/models"
	"bourse/hosts/availability/predictors"
	"bourse/hosts/availability/sched"
)

// A raw is a predictor that recomputes a history from its records for each forecast.
type raw struct{ tde *predictors.TDE }

func (p raw) Predict(h *availability.History, now, length float64) predictors.Forecast {
	again, err := availability.NewHistory(h.Name, h.MIPS, h.Records(), availability.Gap)
	if err != nil {
		panic(err)
	}
	return p.tde.Predict(again, now, length)
}

// An unlimited is a predictor whose limits exclude no forecast.
type unlimited struct{ predictors.Judge }

// A counting is a predictor that counts forecasts.
type counting struct {
	*predictors.TDE
	n int
}

func (p *counting) AtLeast(past *predictors.Past, now, length, least float64) bool {
	p.n++
	return p.TDE.AtLeast(past, now, length, least)
}

// BenchmarkReplay replays 100,000 jobs on 1,000 hosts for 29 days, with a forecast over six
// days for every placement that is tried. It prints the number of forecasts that limits do
// not exclude. It also prints the ratio of the processor time if each forecast is
// recomputed from the records (200 jobs on the twentieth day), and if no forecast is
// excluded (all days with a quarter of the hosts and jobs).
func BenchmarkReplay(b *testing.B) {
	const n, days = 1000, 30
	m, err := models.Table().New("diurnal", func(o any) error {
		o.(*models.DiurnalOptions).LoadEvery = 0
		return nil
	})

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
	replay := func(p predictors.Predictor, threshold float64, n int, jobs []Job, to float64) *Outcome {
		match, err := sched.NewThreshold(threshold, "fifo", p)
		if err != nil {
			b.Fatal(err)
		}
		out, err := Replay(context.Background(), Config{
			Trace: &availability.Trace{Hosts: trace.Hosts[:n]}, Jobs: jobs, From: jobs[0].Submit, To: to, Interval: 60, Queue: sched.DefaultQueue(), Matchmaker: match,
		})
		if err != nil {
			b.Fatal(err)
		}
		return out
	}
	s := week()
	s.To = days * availability.Day
	s.Every = (s.To - s.From) / 100_000
	jobs, err := s.Jobs(rng)
	if err != nil {
		b.Fatal(err)
	}
	later := jobs
	for later[0].Submit < 19*availability.Day+10*3600 {
		later = later[1:]
	}
	var fourth []Job
	for i := 0; i < len(jobs); i += 4 {
		fourth = append(fourth, jobs[i])
	}
	for _, threshold := range []float64{0.5, 0.8, 1} {
		b.Run(fmt.Sprintf("T=%v", threshold), func(b *testing.B) {
			slower := func(p predictors.Predictor, n int, jobs []Job) float64 {
				timed := func(p predictors.Predictor) float64 {
					start := processor()
					replay(p, threshold, n, jobs, jobs[len(jobs)-1].Submit+1)
					return processor() - start
				}
				return timed(p) / timed(tde)
			}
			recomputed, asked := slower(raw{tde}, n, later[:200]), slower(unlimited{tde}, n/4, fourth)
			p := &counting{TDE: tde}
			var out *Outcome
			start := processor()
			for b.Loop() {
				p.n = 0
				out = replay(p, threshold, n, jobs, s.To)
			}
			b.ReportMetric((processor()-start)/float64(b.N), "cpu-s/op")
			b.ReportMetric(float64(p.n)/1e6, "Mforecasts")
			b.ReportMetric(out.Ratio(), "%processed")
			b.ReportMetric(recomputed, "x-recomputed")
			b.ReportMetric(asked, "x-without-limits")
		})
	}
}

// processor returns the processor time used so far in seconds.
func processor() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
