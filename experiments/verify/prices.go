package verify

import (
	"fmt"
	"math"
	"slices"

	"bourse/bank/audit"
)

const (
	bin     = 300     // width in seconds of the intervals of the price table
	maxBins = 1 << 24 // 160 years
)

// prices holds the sum of all bids on all hosts, averaged by interval. Changes may come in any
// order.
type prices struct {
	bins []interval

	at   float64 // time of the last change,
	k    int     // its interval,
	left float64 // and the time left in that interval
}

// An interval holds the changes within it.
type interval struct {
	sum    float64 // its contribution by the end of the interval, $
	moved  float64 // sum of absolute changes, $/s
	before int64   // changes in the previous interval, nano-dollars per second
}

// change adds a bid at a time, or removes it if negative, in nano-dollars per second.
func (p *prices) change(at float64, bid int64) {
	if at >= bin*maxBins {
		return
	}
	if at != p.at || len(p.bins) == 0 { // many changes have the same time
		k := int(at / bin)
		p.at, p.k, p.left = at, k, float64(k+1)*bin-at
		if more := k + 2 - len(p.bins); more > 0 {
			p.bins = append(p.bins, make([]interval, more)...)
		}
	}
	x := float64(bid) / 1e9
	b := &p.bins[p.k]
	b.sum += x * p.left
	b.moved += math.Abs(x)
	p.bins[p.k+1].before += bid
}

// means returns the averages until end, where the last interval is cut off, and the largest
// error of each. Times have a rounding error, which matters if an interval is cut off early or
// bids lasted very briefly. The level at the start of an interval is exact.
func (p *prices) means(end float64) (means, fuzz []float64) {
	level := int64(0)
	for k := 0; float64(k)*bin < end; k++ {
		sum, off, until := 0.0, 0.0, float64(k+1)*bin
		if k < len(p.bins) {
			b := &p.bins[k]
			level += b.before
			sum = b.sum + float64(level)/1e9*bin
			off = (2*moment(until) + bin*0x1p-52) * b.moved
		}
		width := min(bin, end-float64(k)*bin)
		means, fuzz = append(means, sum/width), append(fuzz, off/width)
	}
	return means, fuzz
}

// prices compares the table of prices, if there is one, with the bids.
func (t *trail) prices() {
	if t.market == nil || t.run.Prices == nil {
		return
	}
	end := 0.0
	for _, j := range t.run.Jobs.all() {
		if end = max(end, j.Arrival); !math.IsNaN(j.End) {
			end = max(end, j.End)
		}
	}
	if end >= bin*maxBins {
		t.beyond = "prices, which were not recomputed: there are too many"
		return
	}
	means, fuzz := t.market.prices.means(end)
	if found, want := len(t.run.Prices), len(means); found != want {
		t.found = append(t.found, audit.Finding{File: "prices.parquet", Found: fmt.Sprintf("%d intervals", found), Want: fmt.Sprint(want)})
		return
	}
	within := 1e-9 * max(0, slices.Max(append(means, 0)))
	for k, found := range t.run.Prices {
		if want := means[k]; !near(found*float64(t.run.Rules.Hosts), want, within+fuzz[k]) {
			t.found = append(t.found, audit.Finding{
				File:  fmt.Sprintf("prices.parquet, time %d", k*bin),
				Found: fmt.Sprintf("a mean price of $%v/s", found), Want: fmt.Sprintf("$%v/s, computed from the bids", want/float64(t.run.Rules.Hosts)),
			})
			return
		}
	}
}
