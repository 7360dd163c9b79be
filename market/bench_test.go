package market

import (
	"testing"
	"time"
)

// BenchmarkBid bids in the manner of a paper replication: a few bidders a host,
// an arrival or a withdrawal every 20 s, far from the start of the run.
func BenchmarkBid(b *testing.B) {
	var a Auctioneer
	now := 0.0
	b.ReportAllocs()
	for i := range b.N {
		now += 20
		a.Bid(now, BidderID(i%5), Rate(1e7+i%7)*Rate(i/5%2))
	}
}

// BenchmarkMoments asks for the moments after each change of price, by the
// history and by adding up the steps of the window at every question, and
// reports how many times longer the second takes.
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
			var stays []stay
			start := time.Now()
			for i := range b.N {
				now := float64(i) * c.dt
				plain.Observe(now, Rate(i%7))
				stays = plain.stays(now, stays[:0])
				length, sum, squares := 0.0, 0.0, 0.0
				for _, s := range stays {
					p := float64(s.price)
					length += s.seconds
					sum += s.seconds * p
					squares += s.seconds * p * p
				}
				sink = squares/length - sum/length*sum/length
			}
			b.ReportMetric(float64(time.Since(start))/float64(took), "recomputed/x")
		})
	}
}

var sink float64
