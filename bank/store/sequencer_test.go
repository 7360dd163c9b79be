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
	return Order{ID: id, From: from, To: to, Amount: bank.Micros(micros)}.Entry(0)
}

func do(t testing.TB, s *Sequencer, e bank.Entry) Receipt {
	t.Helper()
	r, err := s.Do(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func closeSequencer(t testing.TB, s *Sequencer) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestReaders checks that the balances read by every reader add up to all the money, even
// during concurrent transfers.
func TestReaders(t *testing.T) {
	t.Parallel()
	n, clients, every := 4000, 100, 10
	if *whole {
		n, clients, every = 1_000_000, 400, 64
	}
	j := create(t, "bank", Options{FS: vfs.NewMem(), BalancesEvery: every})
	c := &counted{Backend: j.backend}
	j.backend = c
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

// A counted backend counts the groups written to the wrapped backend, and fails on request.
type counted struct {
	Backend
	groups int
	fail   func() error // returns the error of the next commit; nil means that no commit fails
}

func (c *counted) Batch() Batch { return countedBatch{c.Backend.Batch(), c} }

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

// TestFailed checks that no request waits forever if the journal fails or the handler of the
// failure ends the loop. Requests in the failed group get ErrUnknown, and later requests
// ErrClosed. When the ledger is opened again, it must contain every answered request.
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
			c := &counted{Backend: j.backend}
			c.fail = func() error {
				if c.groups < 20 {
					return nil
				}
				return failed()
			}
			j.backend = c
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
