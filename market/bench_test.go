package market

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// BenchmarkBid measures Bid under the load of a replication of the paper: a few bidders per
// host, and a new or withdrawn bid every 20 s, at times far from the start of the run.
func BenchmarkBid(b *testing.B) {
	var a Auctioneer
	now := 0.0
	b.ReportAllocs()
	for i := range b.N {
		now += 20
		rate := Rate(1e7 + i%5)
		a.Bid(now, rate*Rate(i/5%2), rate*Rate(1-i/5%2))
	}
}

// BenchmarkMoments computes the moments after each price change, with the history and by adding
// up the steps of the window each time. It reports how many times longer the second method
// takes.
func BenchmarkMoments(b *testing.B) {
	for _, c := range []struct {
		name string
		dt   float64
	}{{"15-steps", 20}, {"300-steps", 1}} {
		b.Run(c.name, func(b *testing.B) {
			var h History
			for i := range b.N {
				h.Observe(float64(i)*c.dt, Rate(i%7))
				h.Moments(float64(i) * c.dt)
			}
			b.StopTimer()
			took := b.Elapsed()

			var plain History
			var stays []Stay
			start := time.Now()
			for i := range b.N {
				now := float64(i) * c.dt
				plain.Observe(now, Rate(i%7))
				stays = plain.Stays(now, stays[:0])
				length, sum, squares := 0.0, 0.0, 0.0
				for _, s := range stays {
					p := float64(s.Price)
					length += s.Seconds
					sum += s.Seconds * p
					squares += s.Seconds * p * p
				}
				sink = squares/length - sum/length*sum/length
			}
			b.ReportMetric(float64(time.Since(start))/float64(took), "recomputed/x")
		})
	}
}

// BenchmarkRankingSet measures the change of one price.
func BenchmarkRankingSet(b *testing.B) {
	for _, size := range []int{15, 1000, 100_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			r, rng := busyRanking(size)
			b.ReportAllocs()
			for b.Loop() {
				r.Set(int32(rng.IntN(size)), Rate(rng.IntN(1e6)))
			}
		})
	}
}

// BenchmarkRankingJob finds the 7 cheapest hosts for a job of 7 nodes and changes their prices.
// It also sorts all hosts for each job, and reports how many times longer this takes.
func BenchmarkRankingJob(b *testing.B) {
	const nodes = 7
	for _, size := range []int{15, 1000, 100_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			r, rng := busyRanking(size)
			var out []int32
			b.ReportAllocs()
			for b.Loop() {
				out = r.Cheapest(nodes, rng, nil, out[:0])
				for _, item := range out {
					r.Set(item, Rate(rng.IntN(1e6)))
				}
			}
			took := float64(b.Elapsed()) / float64(b.N)

			var keys []key
			for i := range r.items {
				p := r.items[i].price
				keys = append(keys, key{p, int32(i)})
			}
			rounds := max(10, 1_000_000/size)
			start := time.Now()
			for range rounds {
				slices.SortFunc(keys, compare)
				for i := range nodes {
					keys[i].price = Rate(rng.IntN(1e6))
				}
			}
			b.ReportMetric(float64(time.Since(start))/float64(rounds)/took, "sorted/x")
		})
	}
}

// BenchmarkRankingIdle finds 7 hosts when all hosts have the same price.
func BenchmarkRankingIdle(b *testing.B) {
	for _, size := range []int{15, 1000, 100_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			r, rng := NewRanking(size), rand.New(rand.NewPCG(1, 1))
			var out []int32
			b.ReportAllocs()
			for b.Loop() {
				out = r.Cheapest(7, rng, nil, out[:0])
			}
		})
	}
}

// busyRanking returns a ranking whose prices have changed many times.
func busyRanking(size int) (*Ranking, *rand.Rand) {
	r, rng := NewRanking(size), rand.New(rand.NewPCG(1, 1))
	for range 10 * size {
		r.Set(int32(rng.IntN(size)), Rate(rng.IntN(1e6)))
	}
	return r, rng
}

var sink float64
