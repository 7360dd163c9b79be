package experiments

import (
	"fmt"
	"io"

	"bourse/experiments/advise"
)

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
	return AdviseHistory(&advise.History{Prices: p, Rule: advise.Exclusive, Held: true, Guarantee: guarantee}, ask, file+" ("+read.String()+")")
}

// AdviseHistory weighs budgets for a job by h, a history of the prices of what it is called.
func AdviseHistory(h *advise.History, ask AdviseAsk, of string) (*advise.Plan, error) {
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
