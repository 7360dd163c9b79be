package live

import (
	"math/rand/v2"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/owners/ownerstest"
	"bourse/bank/store"
	"bourse/experiments/live/usage"
)

// TestCosts checks the FOCUS rows of a month for random contracts, many of which have
// penalties. The rows of all accounts must add up, to the micro-dollar, to the payments to
// others in the settlements of that month, minus the penalties. A part of a penalty that is
// withheld from charges counts once.
func TestCosts(t *testing.T) {
	t.Parallel()
	const seed = 5
	rng := rand.New(rand.NewPCG(seed, 0))
	w := newTown(t, promising+"floor_per_hour: {cpu: 0.9}\n", 3)
	for i := range 3 {
		if _, err := w.bank.Do(t.Context(), ownerstest.Transfer(string(rune('a'+i)), "user:2", "market:lab", 200_000)); err != nil {
			t.Fatal(err)
		}
	}
	const february = 31 * 86400
	w.now = february - 300
	w.pass(5)
	for i := range w.agents {
		w.agents[i].Serves = func(int64) (float64, float64) { return rng.Float64(), rng.Float64() }
	}
	for n := range 60 {
		class := []string{"be", "cac", "sac"}[rng.IntN(3)]
		s := w.orderUntil("o"+string(rune('A'+n)), []string{"user:0", "user:1", "user:2"}[rng.IntN(3)], class, 1+rng.IntN(2), 1+20*rng.Float64(), 5+30*rng.Float64(), 0.001+0.02*rng.Float64(), w.now+600)
		w.turn(message{Submit: &s})
		w.pass(1 + rng.IntN(20))
	}
	w.pass(60)
	month := func(at float64) bool { return usage.Month(at) == "2000-01" }
	var all []usage.Settled
	penalties, withheld := 0, 0
	for _, c := range must(w.market.List(Filter{Ended: true})) {
		if c.Settlement == "" || !month(c.Booked()) {
			continue
		}
		all = append(all, usage.Settled{Contract: c.ID, Account: c.Account, Ended: c.Ended, Booked: c.Settled, Paid: c.Charged(), Penalty: c.Penalty})
		if c.Penalty.Sign() > 0 {
			penalties++
		}
		if c.Withheld.Sign() > 0 {
			withheld++
		}
	}
	var billed, booked bank.Amount
	for _, row := range usage.Focus("lab", all) {
		cost, minus := strings.CutPrefix(row[0], "-")
		if x := must(bank.Parse(cost)); minus {
			billed = must(billed.Sub(x))
		} else {
			billed = must(billed.Add(x))
		}
	}
	dir, opts := w.books()
	r := must(store.OpenReader(dir, opts))
	defer r.Close()
	later := 0
	for e := range r.Entries() {
		if !month(e.Time) {
			later++
			continue
		}
		for _, m := range e.Moves {
			switch user := strings.HasPrefix(m.To, "user:"); {
			case e.Kind == bank.Settle && !user:
				booked = must(booked.Add(m.Amount))
			case e.Kind == bank.Penalty && user:
				booked = must(booked.Sub(m.Amount))
			}
		}
	}
	if r.Err() != nil || billed != booked {
		t.Errorf("seed %d: FOCUS adds up to %v, the ledger to %v, %v", seed, billed, booked, r.Err())
	}
	if len(all) < 15 || penalties < 5 || withheld < 3 || later < 20 {
		t.Errorf("seed %d: %d contracts with %d penalties, of which %d withheld, and %d later entries: too few to tell", seed, len(all), penalties, withheld, later)
	}
	t.Logf("%d contracts, %d penalties, %d withheld: %v", len(all), penalties, withheld, billed)
}
