package experiments

import (
	"fmt"
	"io"

	"bourse/experiments/advise"
)

// AdvisePrices evaluates budgets for a job against a price file. It assumes that the user has
// a host exclusively while the price is at most the bid, and pays that price. A bid is the
// budget divided by the seconds of work.
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

// AdviseHistory evaluates budgets for a job against the price history h. The parameter of
// names that history.
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
