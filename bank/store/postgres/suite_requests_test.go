package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"bourse/bank"
	"bourse/bank/store"
)

// once checks that a request is applied once even if it is sent repeatedly, concurrently, or
// after reopening. The same id and body give the same receipt; another body is refused. Every
// answered request is in the ledger.
func once(t *testing.T, p Place) {
	s := sequencer(t, p)
	var want store.Receipt
	for life := range 3 {
		var wg sync.WaitGroup
		got := make([]store.Receipt, 50)
		for i := range got {
			e := order("a", "mint", "user:a", 5)
			e.Time = float64(i)
			wg.Go(func() {
				r, err := s.Do(context.Background(), e)
				if err != nil {
					t.Error(err)
				}
				got[i] = r
			})
		}
		wg.Wait()
		if life == 0 {
			want = got[0]
		}
		for _, r := range got {
			if r != want || r.Seq != 1 {
				t.Fatalf("receipts %v and %v for one request", r, want)
			}
		}
		for _, other := range []bank.Entry{order("a", "mint", "user:a", 6), order("a", "mint", "user:b", 5), {ID: "a", Kind: bank.Reject, Contract: 1}} {
			if _, err := s.Do(context.Background(), other); !errors.Is(err, store.ErrOtherBody) {
				t.Errorf("another body: %v", err)
			}
		}
		if all := kept(t, p); len(all) != 1 || all["a"] != want {
			t.Errorf("answered, and read as %v", all)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = reopenAt(t, p)
	}
}

// drains checks that no interleaving causes an overdraft: of N clients that concurrently
// withdraw from an account, exactly floor(balance/amount) succeed.
func drains(t *testing.T, p Place) {
	s := sequencer(t, p)
	do(t, s, order("m", "mint", "user:a", 1000))
	var won, refused atomic.Int64
	var wg sync.WaitGroup
	for n := range 200 {
		wg.Go(func() {
			switch _, err := s.Do(context.Background(), order(fmt.Sprint(n), "user:a", "user:b", 7)); {
			case err == nil:
				won.Add(1)
			case errors.Is(err, bank.ErrInsufficientFunds):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1000/7 || refused.Load() != 200-1000/7 {
		t.Errorf("%d drains won and %d were refused, want %d and %d", won.Load(), refused.Load(), 1000/7, 200-1000/7)
	}
	if b, err := s.Balance(context.Background(), "user:a"); err != nil || b != bank.Micros(1000%7) {
		t.Errorf("%v is left, %v; want %v", b, err, bank.Micros(1000%7))
	}
	if all := kept(t, p); len(all) != 1+1000/7 {
		t.Errorf("%d entries are read, want %d", len(all), 1+1000/7)
	}
}

// readers checks that the balances read by every reader add up to all the money during
// concurrent transfers, whether the reader asks the bank or reads the ledger in use.
func readers(t *testing.T, p Place) {
	const money, transfers = 5000, 800
	s := sequencer(t, p)
	for i := range 5 {
		do(t, s, order(fmt.Sprintf("m%d", i), "mint", fmt.Sprintf("user:%d", i), money/5))
	}
	var wg sync.WaitGroup
	for w := range 8 {
		src := rand.New(rand.NewPCG(1, uint64(w)))
		wg.Go(func() {
			for i := range transfers / 8 {
				from := src.IntN(5)
				e := order(fmt.Sprintf("%d-%d", w, i), fmt.Sprintf("user:%d", from), fmt.Sprintf("user:%d", (from+1+src.IntN(4))%5), 1+src.Int64N(100))
				if _, err := s.Do(context.Background(), e); err != nil && !errors.Is(err, bank.ErrInsufficientFunds) {
					t.Error(err)
				}
				if src.IntN(10) > 0 {
					continue
				}
				var sum int64
				if err := s.Look(context.Background(), func(l *bank.Ledger) { sum = held(l) }); err != nil || sum != money {
					t.Errorf("a reader sees %d, %v; want %d", sum, err, money)
				}
			}
		})
	}
	for range 5 {
		r, err := p.Reader()
		if err != nil {
			t.Fatal(err)
		}
		l := bank.New(nil)
		for e := range r.Entries() {
			if err := l.Replay(e); err != nil {
				t.Error(err)
			}
		}
		if sum := held(l); r.Err() != nil || sum != money {
			t.Errorf("the ledger in use holds %d, %v; want %d", sum, r.Err(), money)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	clean(t, p, "")
}

// held returns the sum of all accounts except the mint, in micro-dollars.
func held(l *bank.Ledger) (sum int64) {
	for name, b := range l.Balances() {
		if name != "mint" {
			sum += b.Micros()
		}
	}
	return sum
}

// givenUp checks that a canceled request is either answered or reported as not applied.
func givenUp(t *testing.T, p Place) {
	s := sequencer(t, p)
	do(t, s, order("m", "mint", "user:a", 1e6))
	var applied atomic.Int64
	var wg sync.WaitGroup
	for i := range 300 {
		wg.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			wg.Go(func() {
				for range i * 100 {
					if ctx.Err() != nil {
						return
					}
				}
				cancel()
			})
			switch _, err := s.Do(ctx, order(fmt.Sprint(i), "user:a", "user:b", 1)); {
			case err == nil:
				applied.Add(1)
			case !errors.Is(err, store.ErrNotApplied) || !errors.Is(err, context.Canceled):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if b, err := s.Balance(context.Background(), "user:b"); err != nil || b.Micros() != applied.Load() {
		t.Errorf("user:b has %v, %v; %d were told that they paid", b, err, applied.Load())
	}
}

// closing checks that a closed bank reports to late and to waiting clients that it is closed,
// and that the ledger contains every answered request.
func closing(t *testing.T, p Place) {
	s := sequencer(t, p)
	var wg sync.WaitGroup
	var applied atomic.Int64
	for n := range 100 {
		wg.Go(func() {
			switch _, err := s.Do(context.Background(), order(fmt.Sprint(n), "mint", "user:a", 1)); {
			case err == nil:
				applied.Add(1)
			case !errors.Is(err, store.ErrClosed):
				t.Error(err)
			}
		})
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if _, err := s.Do(context.Background(), order("late", "mint", "user:a", 1)); !errors.Is(err, store.ErrClosed) {
		t.Errorf("after close: %v", err)
	}
	if n := len(kept(t, p)); int64(n) != applied.Load() {
		t.Errorf("%d entries, %d were told", n, applied.Load())
	}
}

// second checks that a second writer is refused with a one-line error and changes nothing, and
// that the ledger can be opened once it is closed.
func second(t *testing.T, p Place) {
	s := sequencer(t, p)
	do(t, s, order("a", "mint", "user:a", 1))
	for range 2 {
		if _, _, err := p.Open(store.Options{}); !errors.Is(err, store.ErrLocked) || strings.Contains(err.Error(), "\n") {
			t.Errorf("a second writer: %v, want one line with %v", err, store.ErrLocked)
		}
	}
	do(t, s, order("b", "mint", "user:a", 1))
	clean(t, p, "")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = reopenAt(t, p)
	if r := do(t, s, order("c", "mint", "user:a", 1)); r.Seq != 3 {
		t.Errorf("receipt %v, want entry 3", r)
	}
}

// lost checks that if the writer dies under load, no answered request is lost, no request is
// applied twice, and a repeated request gets its original receipt.
func lost(t *testing.T, p Place) {
	var mu sync.Mutex
	answered := make(map[string]store.Receipt)
	s := sequencer(t, p)
	for life := range 3 {
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		enough := make(chan struct{})
		var n atomic.Int64
		got := 0
		for range 16 {
			wg.Go(func() {
				for ctx.Err() == nil {
					i := n.Add(1)
					id := fmt.Sprintf("%d-%d", life, i)
					r, err := s.Do(ctx, order(id, "mint", "user:a", i))
					if err != nil {
						return
					}
					mu.Lock()
					answered[id] = r
					if got++; got == 200 {
						close(enough)
					}
					mu.Unlock()
				}
			})
		}
		<-enough
		mu.Lock()
		before := maps.Clone(answered)
		mu.Unlock()
		if err := p.Lose(); err != nil {
			t.Fatal(err)
		}
		cancel()
		wg.Wait()
		s.Close() // may return an error, because its ledger is lost
		s = reopenAt(t, p)
		all := kept(t, p)
		for id, r := range before {
			if all[id] != r {
				t.Errorf("%s was answered %v, is %v", id, r, all[id])
			}
			var i int64
			if _, err := fmt.Sscanf(id, fmt.Sprintf("%d-%%d", life), &i); err != nil {
				continue // from an earlier iteration
			}
			if again := do(t, s, order(id, "mint", "user:a", i)); again != r {
				t.Errorf("%s was answered %v, now %v", id, r, again)
			}
		}
		answered = before
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	clean(t, p, "")
}
