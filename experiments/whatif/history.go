package whatif

import (
	"math"

	"bourse/experiments/misuse"
)

// A PriceRule returns the number of processors that a bid buys on a host at price c, and
// the payment for them in $/s.
type PriceRule func(bid, c float64) (processors, pays float64)

// exclusive is the rule for exclusive hosts. While the price of a host is at most the bid,
// the user pays that price.
func exclusive(bid, c float64) (processors, pays float64) {
	if c > bid {
		return 0, 0
	}
	return 1, c
}

// SharedHost returns the rule for a host with the given number of processors. A task uses
// at most one processor. The host is shared in proportion to bids (eq. 4), and c is the sum
// of the other bids. Usage is charged at the price that includes the bid.
func SharedHost(cpus float64) PriceRule {
	return func(bid, c float64) (processors, pays float64) {
		if bid <= 0 {
			return 0, 0
		}
		share := min(bid/(bid+c), 1/cpus)
		return share * cpus, share * (bid + c)
	}
}

// A PriceHistory is a series of past prices with the rule for the processors that a bid buys.
type PriceHistory struct {
	Prices
	Rule      PriceRule
	Held      bool    // whether a bid is per second of work; if not, it is per second until the deadline
	Guarantee float64 // g in [0,1]: a reservation is admitted if its bid is at least the price that was not exceeded for this fraction of the past
}

// bid returns the bid per second that a budget allows on one node.
func (h *PriceHistory) bid(j *AdviceJob, budget float64) float64 {
	if h.Held {
		return budget / j.total()
	}
	return budget / (j.Deadline * float64(j.Nodes))
}

// mostUnits is the maximum number of observations from a history. Each observation is a batch
// of consecutive stretches, so that a price that lasts longer than one stretch does not count
// as several observations.
const mostUnits = 40

// units cuts the history into consecutive stretches as long as the deadline. The first stretch
// is used only as the past of the second. For each of at most 40 batches of equally many
// stretches, units returns the mean outcome of the job with each budget. It assumes that the
// job is too small to affect prices.
func (h *PriceHistory) units(j *AdviceJob, budgets []float64) (units []unit, batch int, err error) {
	begin := h.Steps[0].At
	n := int((h.End - begin) / j.Deadline)
	if n < 3 {
		return nil, 0, misuse.Errorf("job: deadline: found %.6g s with a history of %.6g s, want a history at least three times as long", j.Deadline, h.End-begin)
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

// mostPast is the length of the past that a reservation uses, in multiples of the deadline.
const mostPast = 20

// run returns the outcome of the job with the given bid at the given prices.
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

// ends returns two budgets, based on a sample of stretches. Below lo, the job is done in no
// stretch. Above hi, the job is done in every stretch in which some budget is sufficient.
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

// least returns the lowest budget with which the job is done, or +Inf if no budget is
// sufficient.
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
