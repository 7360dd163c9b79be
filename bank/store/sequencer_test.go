package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
	n, clients, every := 4000, 100, 10
	if *whole {
		n, clients, every = 1_000_000, 400, 64
	}
	j := create(t, "bank", Options{FS: vfs.NewMem(), BalancesEvery: every})
	c := &counted{Keep: j.keep}
	j.keep = c
	s := NewSequencer(j, bank.New(j))
	t.Cleanup(func() { s.Close() })
	for i := range 10 {
		do(t, s, transfer("", "mint", fmt.Sprintf("user:%d", i), 1000))
	}
	ctx := context.Background()
	var wg sync.WaitGroup
	var booked, reads atomic.Int64
	for w := range clients {
		src := rand.New(rand.NewPCG(1, uint64(w)))
		wg.Go(func() {
			for i := range n / clients {
				from, to := src.IntN(10), src.IntN(9)
				if to >= from {
					to++
				}
				e := transfer(fmt.Sprintf("%d-%d", w, i), fmt.Sprintf("user:%d", from), fmt.Sprintf("user:%d", to), 1+src.Int64N(100))
				if _, err := s.Do(ctx, e); err == nil {
					booked.Add(1)
				} else if !errors.Is(err, bank.ErrInsufficientFunds) {
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
	if got := s.ledger.Entries(); got != booked.Load()+10 {
		t.Errorf("%d entries, %d transfers were answered", got, booked.Load())
	}
	t.Logf("%d transfers asked for by %d clients, %d booked in %d groups, %d reads: each saw all the money", n, clients, booked.Load(), c.groups, reads.Load())
}

// A counted keep counts the groups that are written to another, and fails when it is
// told to.
type counted struct {
	Keep
	groups int
	fail   func() error // nil for never
}

func (c *counted) Batch() Batch { return countedBatch{c.Keep.Batch(), c} }

type countedBatch struct {
	Batch
	c *counted
}

func (b countedBatch) Commit(head Head, w Write) error {
	if b.c.groups++; b.c.fail != nil {
		if err := b.c.fail(); err != nil {
			return err
		}
	}
	return b.Batch.Commit(head, w)
}

// TestFailed promises that nobody waits for ever when the journal fails, or what it
// tells of a failure ends the loop: who was in the group that failed is told that its
// answer is unknown, who came later that the bank is closed, and everything that was
// answered is there when the ledger is opened again.
func TestFailed(t *testing.T) {
	t.Parallel()
	for name, failed := range map[string]func() error{
		"error": func() error { return errors.New("no room") },
		"end":   func() error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := vfs.NewMem()
			j := create(t, "bank", Options{FS: fs})
			c := &counted{Keep: j.keep}
			c.fail = func() error {
				if c.groups < 20 {
					return nil
				}
				return failed()
			}
			j.keep = c
			s := NewSequencer(j, bank.New(j))
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var wg sync.WaitGroup
			var answered, unknown, late atomic.Int64
			for w := range 200 {
				wg.Go(func() {
					ctx := ctx
					if w%2 == 0 {
						ctx = context.Background()
					}
					for i := 0; ; i++ {
						switch _, err := s.Do(ctx, transfer(fmt.Sprintf("%d-%d", w, i), "mint", "user:a", 1)); {
						case err == nil:
							answered.Add(1)
							continue
						case errors.Is(err, ErrUnknown):
							unknown.Add(1)
						case errors.Is(err, ErrClosed):
							late.Add(1)
						default:
							t.Error(err)
						}
						return
					}
				})
			}
			told := make(chan struct{})
			go func() {
				wg.Wait()
				close(told)
			}()
			select {
			case <-told:
			case <-time.After(hang):
				t.Fatal("some are never told")
			}
			s.Close()
			j.release()
			if unknown.Load() == 0 || unknown.Load()+late.Load() != 200 {
				t.Errorf("%d are told that they cannot know, %d that they came late; want 200 in all", unknown.Load(), late.Load())
			}
			again, l, err := Open("bank", Options{FS: fs})
			if err != nil {
				t.Fatal(err)
			}
			if n := l.Entries(); n < answered.Load() || n > answered.Load()+unknown.Load() {
				t.Errorf("%d entries, %d were answered and %d were not told", n, answered.Load(), unknown.Load())
			}
			closeJournal(t, again)
		})
	}
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
