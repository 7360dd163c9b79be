package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"bourse/bank/audit"
	"bourse/bank/store"
	"bourse/bank/store/postgres"
	"bourse/experiments/verify"
)

// A bank is in a place: a directory, or, by URL, a ledger in PostgreSQL.

// placeName returns a place as it may be printed.
func placeName(place string) string {
	if !postgres.IsURL(place) {
		return place
	}
	if name, err := postgres.Name(place); err == nil {
		return name
	}
	return "postgres://…"
}

// withoutPasswords returns a message without what stands where a URL has a password.
func withoutPasswords(s string) string {
	return regexp.MustCompile(`(postgres(?:ql)?://[^:@/\s]*):[^@\s]*@`).ReplaceAllString(s, "$1@")
}

// placeBase returns what a ledger is called where no more is said.
func placeBase(place string) (string, error) {
	if postgres.IsURL(place) {
		return postgres.Ledger(place)
	}
	path, err := filepath.Abs(place)
	return filepath.Base(path), err
}

// createBank makes a ledger.
func createBank(place string, opts store.Options) (*store.Journal, error) {
	if postgres.IsURL(place) {
		return postgres.Create(place, opts)
	}
	return store.Create(place, opts)
}

// openBank opens a ledger for writing.
func openBank(place string) (*store.Sequencer, error) {
	var s *store.Sequencer
	var err error
	if postgres.IsURL(place) {
		s, err = postgres.OpenSequencer(place, store.Options{})
	} else {
		s, err = store.OpenSequencer(place, store.Options{})
	}
	return s, misplaced(err)
}

// readBank opens a ledger for reading.
func readBank(place string) (*store.Reader, error) {
	var r *store.Reader
	var err error
	if postgres.IsURL(place) {
		r, err = postgres.OpenReader(place)
	} else {
		r, err = store.OpenReader(place, store.Options{})
	}
	if errors.Is(err, store.ErrNone) {
		if dirs, _, wrong := ledgersIn(place); wrong == nil && dirs[0] != place {
			err = fmt.Errorf("%w; these results keep %s, such as %s", err, count(len(dirs), "ledger"), dirs[0])
		}
	}
	return r, misplaced(err)
}

// auditBank audits a ledger.
func auditBank(place string, opts audit.Options) (*audit.Report, error) {
	opts.Chance = rand.Reader
	if opts.Follow == nil {
		opts.Follow = verify.Follow(nil)
	}
	if !postgres.IsURL(place) {
		if info, err := os.Stat(place); err == nil && !info.IsDir() { // a pipe would be waited for
			return nil, misplaced(fmt.Errorf("audit %s: %w", place, audit.ErrNone))
		}
		r, err := audit.Audit(place, opts)
		return r, misplaced(err)
	}
	view := postgres.OpenView
	if opts.Unfinished {
		view = postgres.OpenUnfinished
	}
	v, err := view(place)
	if err != nil {
		return nil, misplaced(err)
	}
	defer v.Close()
	r, err := audit.AuditValues(v, v.Head(), opts)
	if errors.Is(err, store.ErrNone) { // that there is one was just said
		return &audit.Report{Findings: []audit.Finding{{Found: "no such table in the ledger's schema", Want: "the tables of a ledger"}}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v.Name(), err)
	}
	return r, nil
}

// syncBank makes durable what was read of a ledger; a server shows nothing that is
// not.
func syncBank(place string) error {
	if postgres.IsURL(place) {
		return nil
	}
	return store.Sync(place, store.Options{})
}

// misplaced makes it the user's mistake that no ledger is where he said.
func misplaced(err error) error {
	if errors.Is(err, store.ErrNone) || errors.Is(err, audit.ErrNone) || errors.Is(err, postgres.ErrURL) || errors.Is(err, store.ErrOccupied) {
		return usageError{err}
	}
	return err
}
