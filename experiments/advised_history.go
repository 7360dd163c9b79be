package experiments

import (
	"fmt"
	"io"

	"bourse/experiments/advise"
	"bourse/experiments/live"
)

// AdviseLive weighs budgets for a job by the prices that the log in dir has, of a live market:
// the mean of all hosts, each of which is shared in proportion to bids. A budget is bid
// over the time until the deadline.
func AdviseLive(dir string, ask AdviseAsk, guarantee float64) (*advise.Plan, error) {
	p, err := live.PricesOf(dir, nil)
	if err != nil {
		return nil, err
	}
	at, cpus := make([]float64, len(p.Hosts)), 0.0
	for _, h := range p.Hosts {
		cpus += h.CPUs / float64(len(p.Hosts))
	}
	var all advise.Prices
	for _, s := range p.Steps {
		at[s.Host] = s.Price.Price
		sum := 0.0
		for _, x := range at {
			sum += x
		}
		all.Steps = append(all.Steps, advise.Step{At: s.At, Price: sum / float64(len(at))})
	}
	all.End = p.End
	h := &advise.History{Prices: all, Rule: advise.Shared(cpus), Guarantee: guarantee}
	return weigh(h, ask, fmt.Sprintf("the mean price of %d hosts of %.3g processors", len(p.Hosts), cpus))
}

// AdvisePrices weighs budgets for a job by a price file, of hosts that one has to oneself
// while their price is no more than the bid, for that price. A budget is bid over the
// seconds of work.
func AdvisePrices(r io.Reader, file string, wanted advise.Wanted, ask AdviseAsk, guarantee float64) (*advise.Plan, error) {
	p, read, err := advise.ReadPrices(r, file, wanted)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{wanted.Series, wanted.Zone} {
		if name != "" {
			file += ", " + name
		}
	}
	return weigh(&advise.History{Prices: p, Rule: advise.Exclusive, Held: true, Guarantee: guarantee}, ask, file+" ("+read.String()+")")
}

// weigh weighs budgets by a history of prices.
func weigh(h *advise.History, ask AdviseAsk, of string) (*advise.Plan, error) {
	j := &ask.Job
	lo, hi := ask.Budgets[0], ask.Budgets[1]
	if hi == 0 {
		lo, hi = h.Ends(j)
	}
	budgets := advise.Budgets(lo, hi, budgetsTried)
	units, batch, err := h.Units(j, budgets)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("stretches of %.6g s", j.Deadline)
	if batch > 1 {
		what = fmt.Sprintf("batches of %d stretches of %.6g s", batch, j.Deadline)
	}
	return advise.Planned(*j, of, what, ask.Probability, budgets, units), nil
}
