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
	sums  []float64 // by interval: of what changes in it, $
	steps []int64   // by interval: what has changed before it, nano-dollars per second
	moved []float64 // by interval: what changes in it, without signs, $/s
}

// change adds a bid at an instant, in nano-dollars per second, or takes it off.
func (p *prices) change(at float64, bid int64) {
	if at >= bin*maxBins {
		return
	}
	k := int(at / bin)
	if more := k + 2 - len(p.sums); more > 0 {
		p.sums = append(p.sums, make([]float64, more)...)
		p.steps = append(p.steps, make([]int64, more)...)
		p.moved = append(p.moved, make([]float64, more)...)
	}
	x := float64(bid) / 1e9
	p.sums[k] += x * (float64(k+1)*bin - at)
	p.steps[k+1] += bid
	p.moved[k] += math.Abs(x)
}

// means returns the averages until end, at which the last interval is cut off, and how
// far off each may be: instants are known to a moment, which counts where an interval is
// cut off soon, or bids stood for a moment only. What stood before an interval began is
// known exactly.
func (p *prices) means(end float64) (means, fuzz []float64) {
	level := int64(0)
	for k := 0; float64(k)*bin < end; k++ {
		sum, off, until := 0.0, 0.0, float64(k+1)*bin
		if k < len(p.sums) {
			level += p.steps[k]
			sum = p.sums[k] + float64(level)/1e9*bin
			off = (2*moment(until) + bin*0x1p-52) * p.moved[k]
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
	for i := range t.run.Jobs {
		end = max(end, t.run.Jobs[i].Arrival)
		if j := &t.run.Jobs[i]; !math.IsNaN(j.End) {
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
