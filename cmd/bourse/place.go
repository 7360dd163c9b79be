package main

import (
	"crypto/rand"
	"errors"
	"fmt"

	"bourse/bank/audit"
	"bourse/bank/place"
	"bourse/bank/store"
	"bourse/experiments/rescue"
	"bourse/experiments/verify"
)

// readBank opens a ledger for reading.
func readBank(address string) (*store.Reader, error) {
	r, err := place.At(address).Reader()
	if errors.Is(err, store.ErrNone) {
		if dirs, _, wrong := ledgersIn(address); wrong == nil && dirs[0] != address {
			err = fmt.Errorf("%w; these results keep %s, such as %s", err, count(len(dirs), "ledger"), dirs[0])
		}
	}
	return r, misplaced(err)
}

// auditBank audits a ledger.
func auditBank(p place.Place, opts audit.Options) (r *audit.Report, err error) {
	opts.Chance = rand.Reader
	if opts.Follow == nil {
		opts.Follow = verify.Follow(nil)
	}
	err = rescue.Do(func() error { r, err = p.Audit(opts); return err })
	return r, misplaced(err)
}

// misplaced makes it the user's mistake that no ledger is where he said.
func misplaced(err error) error {
	if place.Misplaced(err) {
		return usageError{err}
	}
	return err
}
