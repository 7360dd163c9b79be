package store

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/owners/ownerstest"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

var whole = flag.Bool("whole", false, "run fault injection in full, for hours")

// answers maps requests to the receipts that the bank returned.
type answers struct {
	mu       sync.Mutex
	receipts map[string]Receipt
	twice    atomic.Int64 // number of requests sent twice and not yet answered
}

func (a *answers) add(id string, r Receipt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.receipts[id] = r
}

func (a *answers) copy() map[string]Receipt {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.receipts)
}

// asked returns request n of the workload: first a mint, then transfers.
func asked(n int, owned bool) bank.Entry {
	if owned {
		return askedOwner(n)
	}
	e := bank.Entry{Kind: bank.Transfer, Contract: bank.NoContract, ID: fmt.Sprintf("req-%d", n)}
	if n < 3 {
		e.Kind = bank.Issue
		e.Moves = []bank.Move{{From: "mint", To: fmt.Sprintf("user:%d", n), Amount: bank.Micros(1e6)}}
	} else {
		e.Moves = []bank.Move{{From: fmt.Sprintf("user:%d", n%3), To: fmt.Sprintf("user:%d", (n+1)%3), Amount: bank.Micros(int64(n))}}
	}
	return e
}

// askedOwner returns request n for an owned ledger. The first requests set the owners. All
// other requests are signed, each only once.
func askedOwner(n int) bank.Entry {
	signed.Lock()
	defer signed.Unlock()
	e, ok := signed.requests[n]
	if ok {
		return e
	}
	id := fmt.Sprintf("req-%d", n)
	switch {
	case n < 3:
		e = ownerstest.Mint(id, fmt.Sprintf("user:%d", n), 1e6)
	case n%7 == 0:
		e = ownerstest.Says("operator", "enrol", id, "operator", "of", "user:"+id, "key", ownerstest.Public(id))
	default:
		e = ownerstest.Transfer(id, fmt.Sprintf("user:%d", n%3), fmt.Sprintf("user:%d", (n+1)%3), int64(n))
	}
	signed.requests[n] = e
	return e
}

var signed = struct {
	sync.Mutex
	requests map[int]bank.Entry
}{requests: make(map[int]bank.Entry)}

// workload opens the bank three times and sends it requests, some concurrently and some twice,
// until one is not answered.
func workload(fs vfs.FS, owned bool, fatal func(error), a *answers) error {
	opts := Options{FS: fs, BalancesEvery: 3, Fatal: fatal, memTable: 4 << 10}
	for n, life := 0, 0; life < 3; life++ {
		var s *Sequencer
		if life == 0 {
			j, err := Create("bank", opts)
			if err != nil {
				return err
			}
			s = NewSequencer(j, bank.New(j))
			if err := begin(s, owned); err != nil {
				return err
			}
		} else {
			var err error
			if s, err = OpenSequencer("bank", opts); err != nil {
				return err
			}
		}
		var failed atomic.Pointer[error]
		for range 8 {
			var wg sync.WaitGroup
			for k := range 5 {
				e := asked(n+k%4, owned) // The first request is sent twice.
				again := k == 0 || k == 4
				wg.Go(func() {
					if again {
						a.twice.Add(1)
						defer a.twice.Add(-1)
					}
					r, err := s.Do(context.Background(), e)
					if err != nil && !errors.Is(err, bank.ErrInsufficientFunds) {
						failed.Store(&err)
					} else if err == nil {
						a.add(e.ID, r)
					}
				})
				if n < 3 {
					wg.Wait()
				}
			}
			n += 4
			wg.Wait()
		}
		err := s.Close()
		if f := failed.Load(); f != nil {
			return *f
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// begin makes the ledger of s owned, if the workload requires it.
func begin(s *Sequencer, owned bool) error {
	if !owned {
		return nil
	}
	for _, e := range ownerstest.Begin() {
		if _, err := s.Do(context.Background(), e); err != nil {
			return err
		}
	}
	return nil
}

// recovered checks a file system after a fault. An audit must find no damage. The bank must
// open, contain every acknowledged request once with the original receipt, conserve money, and
// accept new requests.
func recovered(fs vfs.FS, owned bool, acked map[string]Receipt) error {
	if r, err := audit.Audit("bank", audit.Options{FS: fs}); len(acked) > 0 && (err != nil || !r.Clean()) {
		return fmt.Errorf("audited: %+v, %v", r, err)
	}
	opts := Options{FS: fs, Fatal: func(err error) { panic(err) }}
	s, err := OpenSequencer("bank", opts)
	if errors.Is(err, ErrNone) && len(acked) == 0 {
		j, err := Create("bank", opts)
		if err != nil {
			return fmt.Errorf("make it again: %w", err)
		}
		s = NewSequencer(j, bank.New(j))
		if err := begin(s, owned); err != nil {
			return fmt.Errorf("make it owned: %w", err)
		}
	} else if err != nil {
		return err
	}
	ctx := context.Background()
	var sum int64
	if err := s.Look(ctx, func(l *bank.Ledger) {
		for _, b := range l.Balances() {
			sum += b.Micros()
		}
	}); err != nil || sum != 0 {
		return fmt.Errorf("balances sum to %d, %v", sum, err)
	}
	before := s.ledger.Entries()
	for id, want := range acked {
		var n int
		fmt.Sscanf(id[strings.Index(id, "req-"):], "req-%d", &n)
		if got, err := s.Do(ctx, asked(n, owned)); err != nil || got != want {
			return fmt.Errorf("%s was answered %v, is now %v, %v", id, want, got, err)
		}
	}
	if after := s.ledger.Entries(); after != before {
		return fmt.Errorf("%d entries were booked again", after-before)
	}
	if err := s.Close(); err != nil {
		return err
	}
	r, err := OpenReader("bank", opts)
	if err != nil {
		return err
	}
	defer r.Close()
	ids := make(map[string]bool)
	for e, hash := range r.Entries() {
		if ids[e.ID] {
			return fmt.Errorf("%s is booked twice", e.ID)
		}
		ids[e.ID] = true
		if want, ok := acked[e.ID]; ok && (want != Receipt{e.Seq, hash}) {
			return fmt.Errorf("%s stands as %v, want %v", e.ID, Receipt{e.Seq, hash}, want)
		}
	}
	return r.Err()
}

// TestPowerCut checks that answered requests survive a power cut. The power is cut before file
// operations of a workload, and none, some or all of the unsynced data survives. Some requests
// are sent twice concurrently. The power is cut again while the bank recovers.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*cutter{"open": {every: 9}, "owned": {every: 31, owned: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.t, c.seed = t, rand.Uint64()
			c.powerCut()
		})
	}
}

func (c *cutter) powerCut() {
	least := cuts{1, 1, 1}
	if *whole {
		c.every, least = 1, cuts{50_000, 5_000, 5_000}
	}
	for c.all < least.all || c.recovering < least.recovering || c.racing < least.racing {
		c.run()
		c.seed++
		if c.t.Failed() {
			break
		}
	}
	c.t.Logf("%d power cuts, %d of them during recovery and %d while a request sent twice was not answered", c.all, c.recovering, c.racing)
}

// cuts contains the numbers of all power cuts, of cuts during recovery, and of cuts while a
// request sent twice was not answered.
type cuts struct{ all, recovering, racing int }

// A cutter cuts the power at regular intervals of file operations of a workload.
type cutter struct {
	t     *testing.T
	seed  uint64
	every int64
	owned bool
	cuts
}

func (c *cutter) run() {
	mem := vfs.NewCrashableMem()
	a := &answers{receipts: make(map[string]Receipt)}
	var ops atomic.Int64
	var mu sync.Mutex
	fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if n := ops.Add(1); op.Kind.ReadOrWrite() == errorfs.OpIsWrite && (n%c.every == 0 || strings.Contains(op.Path, "marker.")) {
			mu.Lock()
			defer mu.Unlock()
			racing := a.twice.Load() > 0
			acked := a.copy()
			for level := 0; level <= 100; level += 25 {
				c.cut(mem, n, level, acked)
				if racing {
					c.racing++
				}
			}
		}
		return nil
	}))
	if err := workload(fs, c.owned, func(err error) { panic(err) }, a); err != nil {
		c.t.Errorf("seed %d: %v", c.seed, err)
	}
}

// cut checks the state after a power cut before operation op, after which level percent of the
// unsynced data survives. Sometimes it cuts the power again during recovery.
func (c *cutter) cut(mem *vfs.MemFS, op int64, level int, acked map[string]Receipt) {
	cfg := vfs.CrashCloneCfg{UnsyncedDataPercent: level, RNG: rand.New(rand.NewPCG(c.seed, uint64(op)<<8|uint64(level)))}
	clone := mem.CrashClone(cfg)
	c.all++
	again := op%(9*c.every) == 0
	var first *vfs.MemFS
	if again {
		first = clone.CrashClone(vfs.CrashCloneCfg{})
	}
	if err := recovered(clone, c.owned, acked); err != nil {
		c.t.Errorf("power cut before operation %d, %d %% surviving (seed %d): %v", op, level, c.seed, err)
	}
	if !again {
		return
	}
	var n atomic.Int64
	at := cfg.RNG.Int64N(60)
	var second *vfs.MemFS
	func() {
		defer func() { recover() }() // the power is gone
		recovered(errorfs.Wrap(first, errorfs.InjectorFunc(func(errorfs.Op) error {
			if n.Add(1) == at {
				second = first.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: level, RNG: cfg.RNG})
			}
			return nil
		})), c.owned, acked)
	}()
	if second == nil {
		return
	}
	c.all++
	c.recovering++
	if err := recovered(second, c.owned, acked); err != nil {
		c.t.Errorf("power cut before operation %d and again in recovery (seed %d): %v", op, c.seed, err)
	}
}
