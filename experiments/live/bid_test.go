package live

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/store"
	"bourse/contracts"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestBid checks that a new budget immediately changes the bid of a contract, its share of the
// host and its escrow. The market must refuse a budget below the amount owed, a budget that the
// owner cannot pay, and a budget for a contract that belongs to another account or has ended.
// Two contracts with shares of 3:1 have equal shares after the second bids as much as the
// first.
func TestBid(t *testing.T) {
	t.Parallel()
	w := newTown(t, file, 1)
	a, b := w.order("a", "user:0", "be", 1, 300, 100, 0.3), w.order("b", "user:1", "be", 1, 300, 100, 0.1)
	r := w.turn(message{Submit: &a}, message{Submit: &b})
	first, second := r[0].answer.Contract, r[1].answer.Contract
	w.pass(10)
	share := func(id int64) float64 { return must(w.market.Status(id)).Places[0].Share }
	if got := share(first) / share(second); math.Abs(got-3) > 0.02 {
		t.Errorf("shares are %v to 1, want 3", got)
	}
	left := (0.3 - 0.03 + 0.01) // approximate budget with which the second contract bids as much as the first
	got := w.turn(message{Bid: w.bid("more", "user:1", second, left)})[0]
	if got.err != nil || got.answer.Verdict != "accept" || got.answer.Receipt == "" || len(got.answer.Places) != 1 {
		t.Fatalf("%+v, %v", got.answer, got.err)
	}
	w.pass(2)
	if got := share(first) / share(second); math.Abs(got-1) > 0.1 {
		t.Errorf("shares are %v to 1, want 1", got)
	}
	bid := must(w.market.Status(first)).Places[0].Bid
	if again := must(w.market.Status(second)); math.Abs(again.Places[0].Bid/bid-1) > 0.1 || again.Budget.Float64() != left {
		t.Errorf("%+v, want about %v", again.Places, bid)
	}
	if held := must(w.bank.Balance(t.Context(), "escrow:"+"12884901890")); held.Float64() != left {
		t.Errorf("%v in escrow, want %v", held, left)
	}
	for name, c := range map[string]struct {
		account  string
		contract int64
		budget   float64
		reason   contracts.Reason
		err      error
	}{
		"spent":    {"user:1", second, 0.000001, contracts.SpentAlready, nil},
		"unfunded": {"user:1", second, 100, contracts.Unfunded, nil},
		"another":  {"user:0", second, 1, "", ErrNoContract},
		"nobody":   {"user:0", second + 7, 1, "", ErrNoContract},
	} {
		got := w.turn(message{Bid: w.bid(name, c.account, c.contract, c.budget)})[0]
		if !errors.Is(got.err, c.err) || c.err == nil && (got.answer.Verdict != "reject" || got.answer.Reason != string(c.reason)) {
			t.Errorf("%s: %+v, %v, want %q %v", name, got.answer, got.err, c.reason, c.err)
		}
	}
	w.pass(100)
	if again := w.turn(message{Bid: w.bid("late", "user:1", second, 0.5)})[0]; !errors.Is(again.err, ErrNoContract) {
		t.Errorf("%+v, %v", again.answer, again.err)
	}
	is := must(w.market.Status(second))
	if sum := must(is.Paid.Add(is.Back)); sum != is.Budget || is.Budget.Float64() != left {
		t.Errorf("%v of %v", sum, is.Budget)
	}
	w.check(5)
	dir, opts := w.books()
	reader := must(store.OpenReader(dir, opts))
	defer reader.Close()
	found := must(Check("market", w.disk.CrashClone(vfs.CrashCloneCfg{}), func(yield func(*bank.Entry) bool) {
		for e := range reader.Entries() {
			if e.Kind == bank.Adjust { // moves one micro-dollar more than the budget in the order
				e.Moves = slices.Clone(e.Moves)
				e.Moves[0].Amount = must(e.Moves[0].Amount.Add(bank.Micros(1)))
			}
			if !yield(e) {
				return
			}
		}
	}))
	if len(found.Differences) != 1 || !strings.Contains(found.Differences[0], "adjust") {
		t.Errorf("%q, want the changed budget that moves another amount", found.Differences)
	}
	if x := must(Export("market", w.disk.CrashClone(vfs.CrashCloneCfg{}))); !slices.ContainsFunc(x.Notes, func(n string) bool { return strings.HasPrefix(n, "number of orders that changed a budget") }) {
		t.Errorf("%q, want a note on changed budgets", x.Notes)
	}
}
