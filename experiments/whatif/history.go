package whatif

import (
	"math"

	"bourse/experiments/misuse"
)

// A PriceRule says what a bid buys of a host while its price is c, in processors, and what is paid
// for that, $/s.
type PriceRule func(bid, c float64) (processors, pays float64)

// exclusive is the rule of hosts that one has to oneself, for their price, while that is no
// more than the bid.
func exclusive(bid, c float64) (processors, pays float64) {
	if c > bid {
		return 0, 0
	}
	return 1, c
}

// SharedHost is the rule of a host of so many processors, of which a task uses one at most, that is
// shared in proportion to bids (eq. 4): c is the sum of the others'. What is used is paid
// for at the price with the bid in it.
func SharedHost(cpus float64) PriceRule {
	return func(bid, c float64) (processors, pays float64) {
		if bid <= 0 {
			return 0, 0
		}
		share := min(bid/(bid+c), 1/cpus)
		return share * cpus, share * (bid + c)
	}
}

// A PriceHistory is what prices were, and what they buy.
type PriceHistory struct {
	Prices
	Rule      PriceRule
	Held      bool    // a bid is for seconds of work, else for those until the deadline
	Guarantee float64 // g: a reservation is admitted if its bid does at the price that was not exceeded for that part of the time before
}

// bid returns what a budget bids a second, on one node.
func (h *PriceHistory) bid(j *AdviceJob, budget float64) float64 {
	if h.Held {
		return budget / j.total()
	}
	return budget / (j.Deadline * float64(j.Nodes))
}

// mostUnits is how many observations are made of a history, at most: batches of stretches one
// after another, so that prices which last longer than a stretch do not count as news in each.
const mostUnits = 40

// units cuts the history in stretches as long as the deadline, one after another, of which the
// first is the past of the next alone, and returns what would have become of the job, with each
// budget: the mean over each of at most 40 batches of stretches, all of so many. The job is too
// small to move prices.
func (h *PriceHistory) units(j *AdviceJob, budgets []float64) (units []unit, batch int, err error) {
	begin := h.Steps[0].At
	n := int((h.End - begin) / j.Deadline)
	if n < 3 {
		return nil, 0, misuse.Errorf("job: deadline: found %.6g s, and a history of %.6g s: want one that is three times as long or more", j.Deadline, h.End-begin)
	}
	batch = (n - 1 + mostUnits - 1) / mostUnits
	for i := 1; i+batch <= n; i += batch {
		u := unit{make([]meanOutcome, len(budgets)), make([]meanOutcome, len(budgets))}
		for k := range batch {
			from := begin + float64(i+k)*j.Deadline
			ahead := h.within(from, from+j.Deadline)
			past := pricePercentile(h.within(max(begin, from-mostPast*j.Deadline), from), h.Guarantee)
			for b, budget := range budgets {
				bid := h.bid(j, budget)
				f := h.run(j, ahead, bid)
				u.Spot[b].plus(f, 1/float64(batch))
				if p, _ := h.Rule(bid, past); p*j.Deadline >= j.Work*(1-1e-9) {
					u.Reservation[b].plus(f, 1/float64(batch))
				}
			}
		}
		units = append(units, u)
	}
	return units, batch, nil
}

// mostPast is how much of the past a reservation looks at, in deadlines.
const mostPast = 20

// run returns what becomes of the job with that bid while prices are so.
func (h *PriceHistory) run(j *AdviceJob, ahead []stretch, bid float64) meanOutcome {
	f, left := meanOutcome{Admitted: 1}, j.Work
	for _, s := range ahead {
		rate, pays := h.Rule(bid, s.price)
		if rate <= 0 {
			continue
		}
		lasts := min(s.lasts, left/rate)
		f.Paid += pays * lasts * float64(j.Nodes)
		if left -= rate * lasts; left <= 1e-9*j.Work {
			f.Done = 1
			break
		}
	}
	return f
}

// ends returns budgets below which the job is done in none of the stretches, and above which it
// is done in all in which any budget does, of a sample of them.
func (h *PriceHistory) ends(j *AdviceJob) (lo, hi float64) {
	begin := h.Steps[0].At
	n := int((h.End - begin) / j.Deadline)
	lo, hi = math.Inf(1), 0
	every := max(1, n/200)
	for i := 1; i < n; i += every {
		from := begin + float64(i)*j.Deadline
		ahead := h.within(from, from+j.Deadline)
		least := h.least(j, ahead)
		if !math.IsInf(least, 1) {
			lo, hi = min(lo, least), max(hi, least)
		}
	}
	if hi == 0 {
		return 1, 100
	}
	return max(1e-6, lo/1.5), max(2e-6, hi*1.5)
}

// least returns the least budget with which the job is done, +Inf if none does.
func (h *PriceHistory) least(j *AdviceJob, ahead []stretch) float64 {
	lo, hi := 0.0, 1e-6
	for h.run(j, ahead, h.bid(j, hi)).Done == 0 {
		if lo, hi = hi, 2*hi; hi > 1e9 {
			return math.Inf(1)
		}
	}
	for range 30 {
		if mid := (lo + hi) / 2; h.run(j, ahead, h.bid(j, mid)).Done > 0 {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
