package verify

import (
	"fmt"
	"math"
	"slices"

	"bourse/bank/audit"
)

const (
	bin     = 300     // width of an interval of the price table in seconds
	maxBins = 1 << 24 // 160 years
)

// A prices is the sum of all bids on all hosts, averaged over each interval. Changes may be
// added in any order.
type prices struct {
	bins []interval

	at   float64 // time of the last change
	k    int     // index of the interval that contains at
	left float64 // time left in this interval, in seconds
}

// An interval contains the changes of bids within it.
type interval struct {
	sum    float64 // amount that these changes add by the end of the interval, in dollars
	moved  float64 // sum of the absolute changes in $/s
	before int64   // sum of the changes before the interval, in nano-dollars per second
}

// change adds a bid at the given time, in nano-dollars per second. A negative bid removes a
// bid of the same size.
func (p *prices) change(at float64, bid int64) {
	if at >= bin*maxBins {
		return
	}
	if at != p.at || len(p.bins) == 0 { // fast path, because many changes have the same time
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

// means returns the averages until end and the maximum error of each. The last interval may be
// shorter than the others. Times have rounding errors. These errors matter if the last
// interval is short or if bids were in force only briefly. The level at the start of an
// interval is exact.
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
		t.beyond = "prices, which were not recomputed because there are too many"
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
