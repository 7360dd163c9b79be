package verify

import (
	"container/heap"
	"math"
)

// A renewal is the time at which a contract renews its bids. It is ignored if the contract has
// ended by then or if the contract's memory has been reused.
type renewal struct {
	at float64
	id int64
	of *contract
}

// renewals is a heap ordered by time.
type renewals []renewal

// Len implements [heap.Interface].
func (r renewals) Len() int { return len(r) }

// Less implements [heap.Interface].
func (r renewals) Less(i, j int) bool { return r[i].at < r[j].at }

// Swap implements [heap.Interface].
func (r renewals) Swap(i, j int) { r[i], r[j] = r[j], r[i] }

// Push implements [heap.Interface].
func (r *renewals) Push(x any) { *r = append(*r, x.(renewal)) }

// Pop implements [heap.Interface].
func (r *renewals) Pop() any {
	last := len(*r) - 1
	x := (*r)[last]
	*r = (*r)[:last]
	return x
}

// renewLater schedules the next renewal of d one renewal period after the given time, unless
// that is after the deadline.
func (m *market) renewLater(d *contract, after float64) {
	d.renew = 0
	if at := after + m.rules.Renew; m.rules.Renew > 0 && !d.terms.OnDemand && at < d.terms.due() {
		d.renew = at
		heap.Push(&m.again, renewal{at, d.id, d})
	}
}

// renew sets the bid of a contract to its remaining value divided by its remaining time. Each
// task receives the same fraction of this bid as before, in whole nano-dollars per second, but
// at least one.
func (m *market) renew(r renewal) {
	d := r.of
	if d.id != r.id || d.renew != r.at {
		return
	}
	left, bids := float64(d.value)*1e3, 0.0 // the remaining value is in nano-dollars, and the bid in nano-dollars per second
	for i := range d.tasks {
		n := &d.tasks[i]
		m.advance(n.host, r.at)
		m.bring(n)
		if left -= n.owed; n.on {
			bids += float64(n.bid)
		}
	}
	if bids == 0 { // the contract's money is spent
		return
	}
	rate := max(0, left) / (d.terms.due() - r.at)
	for i := range d.tasks {
		n := &d.tasks[i]
		bid := math.Floor(float64(n.bid)*(rate/bids) + 0.01)
		if !n.on || bid >= 1<<53 {
			continue
		}
		h := n.host
		m.takeOff(n)
		m.rebid(n, r.at, int64(max(1, bid)))
		m.weigh(n)
		m.stand(n)
		m.allocate(h)
	}
	m.renewLater(d, r.at)
	m.lasts(d, r.at)
}
