package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"bourse/bank"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func newSequencer(t testing.TB, fs vfs.FS) *Sequencer {
	t.Helper()
	j := create(t, "bank", Options{FS: fs, BalancesEvery: 10})
	s := NewSequencer(j, bank.New(j))
	t.Cleanup(func() { s.Close() })
	return s
}

func transfer(id, from, to string, micros int64) bank.Entry {
	e := bank.Entry{Kind: bank.Transfer, Contract: bank.NoContract, ID: id, Moves: []bank.Move{{From: from, To: to, Amount: bank.Micros(micros)}}}
	if from == "mint" {
		e.Kind = bank.Issue
	}
	return e
}

func do(t testing.TB, s *Sequencer, e bank.Entry) Receipt {
	t.Helper()
	r, err := s.Do(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestDrains promises no overdraft under any interleaving: of N that race to
// drain an account exactly floor(balance/amount) succeed.
func TestDrains(t *testing.T) {
	t.Parallel()
	s := newSequencer(t, vfs.NewMem())
	do(t, s, transfer("", "mint", "user:a", 1000))
	var won, refused atomic.Int64
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			switch _, err := s.Do(context.Background(), transfer("", "user:a", "user:b", 7)); {
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
}

// TestOnce promises that a request is applied once however often it is sent, also
// at once and after opening again: same id and body, same receipt; another body,
// ErrOtherBody.
func TestOnce(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	s := newSequencer(t, fs)
	var want Receipt
	for life := range 3 {
		var wg sync.WaitGroup
		receipts := make([]Receipt, 50)
		for i := range receipts {
			e := transfer("a", "mint", "user:a", 5)
			e.Time = float64(i)
			wg.Go(func() { receipts[i] = do(t, s, e) })
		}
		wg.Wait()
		if life == 0 {
			want = receipts[0]
		}
		for _, r := range receipts {
			if r != want || r.Seq != 1 {
				t.Fatalf("receipts %v and %v for one request", r, want)
			}
		}
		for _, other := range []bank.Entry{transfer("a", "mint", "user:a", 6), transfer("a", "mint", "user:b", 5), {ID: "a", Kind: bank.Reject, Contract: 1}} {
			if _, err := s.Do(context.Background(), other); !errors.Is(err, ErrOtherBody) {
				t.Errorf("another body: %v", err)
			}
		}
		if b, _ := s.Balance(context.Background(), "user:a"); b != bank.Micros(5) {
			t.Errorf("user:a has %v, want %v", b, bank.Micros(5))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		var err error
		if s, err = OpenSequencer("bank", Options{FS: fs}); err != nil {
			t.Fatal(err)
		}
	}
	closeSequencer(t, s)
}

func closeSequencer(t testing.TB, s *Sequencer) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestReaders promises that every reader sees all the money, while transfers race.
func TestReaders(t *testing.T) {
	t.Parallel()
	n, every := 2000, 10
	if *whole {
		n, every = 1_000_000, 1000
	}
	j := create(t, "bank", Options{FS: vfs.NewMem(), BalancesEvery: every})
	s := NewSequencer(j, bank.New(j))
	t.Cleanup(func() { s.Close() })
	for i := range 10 {
		do(t, s, transfer("", "mint", fmt.Sprintf("user:%d", i), 1000))
	}
	ctx := context.Background()
	var wg sync.WaitGroup
	var reads atomic.Int64
	for w := range 8 {
		src := rand.New(rand.NewPCG(1, uint64(w)))
		wg.Go(func() {
			for i := range n / 8 {
				from, to := src.IntN(10), src.IntN(9)
				if to >= from {
					to++
				}
				e := transfer(fmt.Sprintf("%d-%d", w, i), fmt.Sprintf("user:%d", from), fmt.Sprintf("user:%d", to), 1+src.Int64N(100))
				if _, err := s.Do(ctx, e); err != nil && !errors.Is(err, bank.ErrInsufficientFunds) {
					t.Error(err)
				}
				if src.IntN(20) > 0 {
					continue
				}
				reads.Add(1)
				var sum int64
				if err := s.Look(ctx, func(l *bank.Ledger) {
					for name, b := range l.Balances() {
						if name != "mint" {
							sum += b.Micros()
						}
					}
				}); err != nil || sum != 10_000 {
					t.Errorf("a reader sees %d, %v; want 10000", sum, err)
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d transfers asked for, %d reads", n, reads.Load())
}

// TestGivenUp promises that a request given up is either not applied and said to
// be, or answered.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	s := newSequencer(t, vfs.NewMem())
	do(t, s, transfer("", "mint", "user:a", 1e6))
	var applied, not atomic.Int64
	var wg sync.WaitGroup
	for i := range 500 {
		wg.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			wg.Go(func() {
				for range i {
					if ctx.Err() != nil {
						return
					}
				}
				cancel()
			})
			switch _, err := s.Do(ctx, transfer("", "user:a", "user:b", 1)); {
			case err == nil:
				applied.Add(1)
			case errors.Is(err, ErrNotApplied) && errors.Is(err, context.Canceled):
				not.Add(1)
			default:
				t.Error(err)
			}
			cancel()
		})
	}
	wg.Wait()
	if b, err := s.Balance(context.Background(), "user:b"); err != nil || b.Micros() != applied.Load() {
		t.Errorf("user:b has %v, %v; %d were told that they paid, %d that they did not", b, err, applied.Load(), not.Load())
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	full := &Sequencer{queue: make(chan *request), closing: make(chan struct{})}
	if _, err := full.Do(done, transfer("", "user:a", "user:b", 1)); !errors.Is(err, ErrNotApplied) {
		t.Errorf("given up at a full queue: %v", err)
	}
}

// TestAfterClose promises that a closed bank says so, to those who come late and
// to those who wait.
func TestAfterClose(t *testing.T) {
	t.Parallel()
	s := newSequencer(t, vfs.NewMem())
	var wg sync.WaitGroup
	var applied atomic.Int64
	for range 100 {
		wg.Go(func() {
			switch _, err := s.Do(context.Background(), transfer("", "mint", "user:a", 1)); {
			case err == nil:
				applied.Add(1)
			case !errors.Is(err, ErrClosed):
				t.Error(err)
			}
		})
	}
	closeSequencer(t, s)
	wg.Wait()
	if _, err := s.Do(context.Background(), transfer("", "mint", "user:a", 1)); !errors.Is(err, ErrClosed) {
		t.Errorf("after close: %v", err)
	}
	if n := s.ledger.Entries(); n != applied.Load() {
		t.Errorf("%d entries, %d were told", n, applied.Load())
	}
}

// BenchmarkTransfers reports durable transfers a second of 256 clients, and how
// many times that is what one client alone gets: what a group saves.
func BenchmarkTransfers(b *testing.B) {
	rate := func(clients, n int) float64 {
		j := create(b, b.TempDir(), Options{})
		s := NewSequencer(j, bank.New(j))
		do(b, s, transfer("", "mint", "user:a", 1e12))
		start := b.Elapsed()
		var wg sync.WaitGroup
		for range clients {
			wg.Go(func() {
				for range n / clients {
					do(b, s, transfer("", "user:a", "user:b", 1))
				}
			})
		}
		wg.Wait()
		rate := float64(n) / (b.Elapsed() - start).Seconds()
		closeSequencer(b, s)
		return rate
	}
	for b.Loop() {
		many, one := rate(256, 20_000), rate(1, 200)
		b.ReportMetric(many, "transfers/s")
		b.ReportMetric(many/one, "x-one-client")
	}
}
