// Package audits audits several ledgers at the same time, compares each ledger with the
// files published with it, and reports the findings. It is independent of how ledgers are
// read and how entries are checked: see bank/audit and experiments/verify.
package audits

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"bourse/bank/audit"
	"bourse/bank/place"
	"bourse/experiments/misuse"
	"bourse/experiments/recovered"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/experiments/verify"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
)

// A Ledgers is a set of ledgers to audit: one ledger, or all the ledgers of a results
// directory.
type Ledgers struct {
	Addresses []string

	heads []string     // head that each ledger must have; empty if unknown
	kept  *results.Dir // results directory that contains the ledgers, or nil
}

// At returns the ledger at the address. If head is not empty, the audit checks that the
// ledger has this head or contains it as a receipt.
func At(address, head string) *Ledgers {
	return &Ledgers{Addresses: []string{address}, heads: []string{head}}
}

// In returns the ledger at the address, or the ledgers of the results at that address. A
// head can be given only for a single ledger.
func In(address, head string) (*Ledgers, error) {
	if _, err := os.Stat(filepath.Join(address, "manifest.json")); place.IsURL(address) || err != nil {
		return At(address, head), nil
	}
	r, err := results.Open(address)
	if err != nil {
		return nil, err
	}
	if len(r.Manifest.Ledgers) == 0 {
		return nil, misuse.Errorf("%s keeps no ledger", address)
	}
	l := &Ledgers{kept: r}
	for _, key := range slices.Sorted(maps.Keys(r.Manifest.Ledgers)) {
		if !filepath.IsLocal(filepath.FromSlash(key)) {
			return nil, fmt.Errorf("%s: ledger %q is outside", address, key)
		}
		l.heads = append(l.heads, r.Manifest.Ledgers[key])
		l.Addresses = append(l.Addresses, filepath.Join(address, filepath.FromSlash(key)))
	}
	if head != "" {
		if len(l.heads) > 1 {
			return nil, misuse.Errorf("%s contains %d ledgers, want exactly one to compare with a head", address, len(l.heads))
		}
		l.heads[0] = head
	}
	return l, nil
}

// Names returns the names of the ledgers in results, each in the form configuration,
// admission, replication.
func (l *Ledgers) Names() ([]string, error) {
	names := make([]string, len(l.Addresses))
	for i, address := range l.Addresses {
		name, err := filepath.Rel(filepath.Join(l.kept.Path, "ledger"), address)
		if err != nil {
			return nil, err
		}
		names[i] = filepath.ToSlash(name)
	}
	return names, nil
}

// published returns the files that results publish with each ledger, if there are any.
func (l *Ledgers) published() ([]*verify.Run, error) {
	if l.kept == nil {
		return make([]*verify.Run, len(l.Addresses)), nil
	}
	e, err := scenario.Stored(l.kept.Path, l.kept.Manifest.Scenario)
	if err != nil {
		return nil, err
	}
	names, err := l.Names()
	if err != nil {
		return nil, err
	}
	return verify.Published(l.kept.Unchecked(), e, names), nil
}

// bytesAtOnce limits the total size in bytes of the ledgers that are audited at the same time.
// Unflushed parts of a ledger are read into memory. A larger ledger is audited by itself.
const bytesAtOnce = 64 << 20

// size returns the size of the ledger at an address in bytes. It returns 0 if the address
// is not a local folder.
func size(address string) (n int64) {
	err := filepath.WalkDir(address, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				n += info.Size()
			}
		}
		return err
	})
	if err != nil {
		return 0
	}
	return n
}

// Audit audits the ledgers. Unless the ledgers are large, Audit processes one ledger per
// processor at the same time. The result does not depend on the number of processors. The
// function progress receives the number of audited entries and the total; it may be nil.
func (l *Ledgers) Audit(opts audit.Options, progress func(done, total int)) (*Found, error) {
	runs, err := l.published()
	if err != nil {
		return nil, err
	}
	all, errs := make([]Audited, len(runs)), make([]error, len(runs))
	came := newTally(l.heads, progress)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	room := semaphore.NewWeighted(bytesAtOnce)
	for i, address := range l.Addresses {
		opts := opts
		opts.Head, opts.Whole, opts.Progress = l.heads[i], opts.Whole && l.heads[i] != "", came.of(i)
		if opts.Follow = verify.Follow(runs[i]); l.kept != nil {
			opts.Now = 0 // times of runs are relative to the start of the run
		}
		group.Go(func() error {
			takes := min(size(address), bytesAtOnce)
			if err := room.Acquire(context.Background(), takes); err != nil {
				return err
			}
			defer room.Release(takes)
			p := place.At(address)
			r, err := Place(p, opts)
			if errors.Is(err, audit.ErrNone) && runs[i] != nil && l.heads[i] != "" { // the results state that the ledger was stored
				r, err = &audit.Report{Findings: []audit.Finding{{Found: "no ledger", Want: "one with head " + l.heads[i]}}}, nil
			}
			all[i], errs[i] = Audited{p.String(), r}, err
			return err
		})
	}
	if group.Wait() != nil {
		return nil, errs[slices.IndexFunc(errs, func(err error) bool { return err != nil })]
	}
	return &Found{Ledgers: all}, nil
}

// Place audits one ledger.
func Place(p place.Place, opts audit.Options) (r *audit.Report, err error) {
	err = recovered.Do(func() error { r, err = p.Audit(with(opts)); return err })
	return r, err
}

// Log audits a log in the form of JSON lines.
func Log(in io.Reader, opts audit.Options) (*audit.Report, error) { return audit.Log(in, with(opts)) }

// with returns audit options that use all processors of this machine. If opts contains no
// follower, it adds one that checks whether the contents of notes are possible.
func with(opts audit.Options) audit.Options {
	opts.Chance, opts.Spread = rand.Reader, spread
	if opts.Follow == nil {
		opts.Follow = verify.Follow(nil)
	}
	return opts
}

// spread calls do for each number from 0 to n-1. It runs as many calls at the same time as
// there are processors.
func spread(n int, do func(i int)) {
	var group sync.WaitGroup
	var next atomic.Int64
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	group.Wait()
}
