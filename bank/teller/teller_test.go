package teller

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"bourse/bank"
	. "bourse/bank/owners/ownerstest"
	"bourse/bank/store"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// away is a bank that fails a number of calls, before or after booking them.
type away struct {
	*store.Sequencer
	before, after int
}

func (a *away) Do(ctx context.Context, e bank.Entry) (store.Receipt, error) {
	if a.before--; a.before >= 0 {
		return store.Receipt{}, store.ErrNotApplied
	}
	r, err := a.Sequencer.Do(ctx, e)
	if a.after--; a.after >= 0 {
		return store.Receipt{}, store.ErrUnknown
	}
	return r, err
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newTeller returns a teller of market:lab. At its bank, user:0 has a dollar and the market has
// half a dollar. user:0 has signed an order over 0.4 dollars for each of the market's contracts
// 0 to 9.
func newTeller(t *testing.T) (*Teller, *away) {
	t.Helper()
	j, err := store.Create("books", store.Options{FS: vfs.NewMem()})
	check(t, err)
	b := &away{Sequencer: store.NewSequencer(j, bank.New(j))}
	for _, e := range append(Begin(), Mint("more", "market:lab", 500_000)) {
		_, err := b.Do(t.Context(), e)
		check(t, err)
	}
	return New(t.Context(), Config{Bank: b, Ledger: Ledger, Market: "lab", Key: Private("market:lab"), Order: func(contract int64) []byte {
		return Note([]string{"user:0"}, "order", "o"+string(rune('0'+contract-Contract(0))), "user:0", "market", "lab", "budget", "0.400000")
	}}), b
}

// TestTeller checks that a market's request is booked once even if messages are lost and the
// request is repeated, and that a repeated request gets the original reply.
func TestTeller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tell, b := newTeller(t)
		defer b.Close()
		ann, lab, host := tell.Account("user:0"), tell.Account(tell.Own()), tell.Account("host:0")
		balance := func(name string, want int64) {
			t.Helper()
			if has, err := b.Balance(t.Context(), name); err != nil || has.Micros() != want {
				t.Errorf("%s has %v, %v, want %v", name, has, err, bank.Micros(want))
			}
		}
		budget := bank.Micros(400_000)
		again := func(what string, ask func() error) {
			t.Helper()
			b.before, b.after = 2, 2
			check(t, ask())
			at := tell.Receipt
			if err := ask(); err != nil || what != "penalty" && tell.Receipt != at {
				t.Errorf("%s again: %v, receipt %v, want %v", what, err, tell.Receipt, at)
			}
		}
		for n := range int64(2) {
			again("hold", func() error { return tell.Hold(20, Contract(n), ann, budget, []byte("{}")) })
		}
		balance("user:0", 200_000)
		again("settle", func() error {
			back, err := tell.Settle(30, Contract(0), []bank.Payment{{To: host, Amount: bank.Micros(100_000)}, {To: host}}, nil)
			if back.Micros() != 300_000 {
				t.Errorf("%v goes back", back)
			}
			return err
		})
		balance("host:0", 100_000)
		for n, want := range []int64{300_000, 200_000, 0} {
			again("penalty", func() error {
				paid, err := tell.Penalty(40, Contract(int64(n%2)), lab, ann, bank.Micros(300_000), nil)
				if n == 2 {
					want = 300_000 // the order has already been decided
				}
				if paid.Micros() != want {
					t.Errorf("penalty %d: %v, want %v", n, paid, bank.Micros(want))
				}
				return err
			})
		}
		balance("market:lab", 0)
		balance("user:0", 1_000_000)
		again("return", func() error { return tell.Return(50, Contract(1), "user:0", budget, nil) })
		balance("user:0", 1_400_000)
		again("reject", func() error { return tell.Reject(60, Contract(2), []byte(`{"decision":"reject"}`)) })
	})
}

// TestRefusals checks the replies to requests that are not booked: for a contract with
// insufficient funds, which stays rejected after the rejection was recorded, and for orders
// that the owner did not sign.
func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tell, b := newTeller(t)
		defer b.Close()
		ann, bob := tell.Account("user:0"), tell.Account("user:1")
		for name, err := range map[string]error{
			"more than was signed": tell.Hold(20, Contract(0), ann, bank.Micros(500_000), nil),
			"of another":           tell.Hold(20, Contract(0), bob, bank.Micros(400_000), nil),
			"another market's":     tell.Hold(20, Contract(0)+1<<32-Contract(0), ann, bank.Micros(400_000), nil),
		} {
			if !errors.Is(err, bank.ErrRefused) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for n := range int64(2) {
			check(t, tell.Hold(20, Contract(n), ann, bank.Micros(400_000), nil))
		}
		for range 2 {
			var short *bank.Shortfall
			if err := tell.Hold(20, Contract(2), ann, bank.Micros(400_000), nil); !errors.As(err, &short) || short.Has.Micros() != 200_000 || short.Needs.Micros() != 400_000 {
				t.Errorf("without money: %v", err)
			}
			check(t, tell.Reject(20, Contract(2), []byte(`{"decision":"reject","reason":"unfunded","balance":"0.200000","budget":"0.400000"}`)))
			if _, err := b.Do(t.Context(), Mint("later", "user:0", 1_000_000)); err != nil {
				t.Fatal(err)
			}
		}
		check(t, tell.Reject(20, Contract(3), []byte(`{"decision":"reject","reason":"refused by the bank"}`)))
		if err := tell.Hold(20, Contract(3), ann, bank.Micros(400_000), nil); !errors.Is(err, bank.ErrRefused) {
			t.Errorf("refused before the market was killed: %v", err)
		}
		if err := tell.Hold(20, Contract(0), ann, bank.Micros(400_000), []byte("{}")); err == nil || errors.Is(err, bank.ErrRefused) {
			t.Errorf("decided otherwise: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		waits := New(ctx, tell.Config)
		waits.Account("user:0")
		b.before = 1e9
		if err := waits.Hold(20, Contract(3), 0, bank.Micros(400_000), nil); !errors.Is(err, context.DeadlineExceeded) || waits.Away() {
			t.Errorf("a bank that stays away: %v", err)
		}
	})
}

// slow is a bank that takes a long time to reply, like a remote bank whose client retries until
// it gets a reply.
type slow struct {
	*away
	takes time.Duration
}

func (s *slow) Do(ctx context.Context, e bank.Entry) (store.Receipt, error) {
	time.Sleep(s.takes)
	return s.away.Do(ctx, e)
}

// TestSilent checks that a bank that does not reply counts as unavailable after a second, even
// before its call fails, and as available once it has replied.
func TestSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tell, b := newTeller(t)
		defer b.Close()
		s := &slow{b, 5 * time.Minute}
		tell.Bank = s
		done := make(chan error, 1)
		go func() {
			done <- tell.Hold(1, Contract(0), tell.Account("user:0"), bank.Micros(400_000), nil)
		}()
		for _, c := range []struct {
			after time.Duration
			away  bool
		}{{900 * time.Millisecond, false}, {200 * time.Millisecond, true}, {4 * time.Minute, true}, {time.Minute, false}} {
			time.Sleep(c.after)
			synctest.Wait()
			if got := tell.Away(); got != c.away {
				t.Errorf("after another %v: away %v, want %v", c.after, got, c.away)
			}
		}
		check(t, <-done)
		s.takes = 900 * time.Millisecond
		check(t, tell.Reject(2, Contract(1), []byte("no")))
		time.Sleep(time.Hour)
		if tell.Away() {
			t.Error("a bank that has answered in time is away")
		}
	})
}
