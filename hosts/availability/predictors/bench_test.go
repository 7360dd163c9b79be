package predictors

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"bourse/hosts/availability"
)

// BenchmarkTDE predicts for random hosts among 1,000 with 30 days of history, at random times
// of the last day. It prints how many times longer a recomputation from the records takes.
func BenchmarkTDE(b *testing.B) {
	const n = 1000
	hosts := make([]*availability.History, n)
	raw := make([][]availability.Record, n)
	for i := range hosts {
		raw[i] = drawDays(rand.New(rand.NewPCG(uint64(i), 1)), 30)
		hosts[i] = history(b, raw[i])
	}
	for _, days := range []int{1, 6, 29} {
		b.Run(fmt.Sprintf("days=%d", days), func(b *testing.B) {
			o := DefaultTDE()
			o.Days = days
			p, err := NewTDE(o)
			if err != nil {
				b.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			next := func() (int, float64, float64) {
				return rng.IntN(n), 30*availability.Day + float64(rng.IntN(40_000)), 1 + math.Floor(rng.ExpFloat64()*1000)
			}
			const recomputed = 2000
			start := time.Now()
			for range recomputed {
				i, now, length := next()
				h, err := availability.NewHistory("", 1, raw[i], availability.Gap)
				if err != nil {
					b.Fatal(err)
				}
				p.Predict(h, now, length)
			}
			plain := time.Since(start).Seconds() / recomputed
			b.ReportAllocs()
			for b.Loop() {
				i, now, length := next()
				p.Predict(hosts[i], now, length)
			}
			b.ReportMetric(plain*float64(b.N)/b.Elapsed().Seconds(), "times-faster-than-raw")
		})
	}
}
