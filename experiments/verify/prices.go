package verify

import (
	"fmt"
	"math"
	"slices"

	"bourse/bank/audit"
)

const (
	bin     = 300     // s: the width of the intervals of the table of prices
	maxBins = 1 << 24 // 160 years
)

// prices is the sum of all bids on all hosts, averaged by interval. Changes may
// come in any order.
type prices struct {
	bins []interval

	at   float64 // of the change that came last, and
	k    int     // its interval
	left float64 // of that after it
}

// An interval is what changes in it.
type interval struct {
	sum    float64 // by its end, $
	moved  float64 // without signs, $/s
	before int64   // what changes in the one before it, nano-dollars per second
}

// change adds a bid at an instant, in nano-dollars per second, or takes it off.
func (p *prices) change(at float64, bid int64) {
	if at >= bin*maxBins {
		return
	}
	if at != p.at || len(p.bins) == 0 { // many change at once
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

// means returns the averages until end, at which the last interval is cut off, and how
// far off each may be: instants are known to a moment, which counts where an interval is
// cut off soon, or bids stood for a moment only. What stood before an interval began is
// known exactly.
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

// prices holds the table of prices, if there is one, against what was bid.
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
		t.beyond = "prices, which were not computed again: there are too many"
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
				Found: fmt.Sprintf("a mean price of $%v/s", found), Want: fmt.Sprintf("$%v/s, by the bids", want/float64(t.run.Rules.Hosts)),
			})
			return
		}
	}
}
