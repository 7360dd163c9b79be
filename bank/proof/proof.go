// Package proof lets people check what they were told of a ledger without having
// it: signed checkpoints of its head, and proofs that an entry is in it.
//
// It knows heads and entries, and not how a ledger is kept. The log is an RFC 6962
// Merkle tree, the signatures are those of [golang.org/x/mod/sumdb/note]; both
// have other implementations.
package proof

import (
	"errors"
	"fmt"

	"bourse/bank"
	"bourse/bank/export"
	"bourse/bank/store"

	"golang.org/x/mod/sumdb/tlog"
)

// ErrProof means that a proof does not prove what it says.
var ErrProof = errors.New("proof does not hold")

// An Inclusion proves that an entry is in the ledger that had a head. It is worth
// what the head is: compare that with one from elsewhere, such as a [Checkpoint].
type Inclusion struct {
	Head   store.Head       `json:"head"`
	Entry  []export.Line    `json:"entry"`  // a line a move
	Before tlog.Hash        `json:"before"` // the hash of the entry before
	Path   tlog.RecordProof `json:"path"`
}

// Prove returns the proof that entry seq is in a ledger, whose entries are all
// read.
func Prove(entries export.Entries, seq int64) (*Inclusion, error) {
	p := &Inclusion{}
	before := store.Genesis()
	var hashes stored
	n := int64(0)
	for e, hash := range entries {
		n++
		more, err := tlog.StoredHashesForRecordHash(n-1, hash, hashes)
		if err != nil {
			return nil, fmt.Errorf("prove entry %d: %w", seq, err)
		}
		hashes = append(hashes, more...)
		if e.Seq == seq {
			p.Entry, p.Before = export.Lines(e, hash), before
		}
		before = hash
	}
	if p.Entry == nil {
		return nil, fmt.Errorf("prove entry %d: the ledger has %d entries", seq, n)
	}
	root, err := tlog.TreeHash(n, hashes)
	if err == nil {
		p.Head = store.Head{Size: n, Root: root}
		p.Path, err = tlog.ProveRecord(n, seq-1, hashes)
	}
	if err != nil {
		return nil, fmt.Errorf("prove entry %d: %w", seq, err)
	}
	return p, nil
}

// Verify returns the entry that p proves, or an error wrapping [ErrProof].
func (p *Inclusion) Verify() (*bank.Entry, error) {
	e, _, err := export.Entry(p.Entry)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProof, err)
	}
	if e.Seq < 1 || e.Seq > p.Head.Size {
		return nil, fmt.Errorf("entry %d of %d: %w", e.Seq, p.Head.Size, ErrProof)
	}
	hash := store.EntryHash(p.Before, e)
	for _, l := range p.Entry {
		if l.Hash != hash {
			return nil, fmt.Errorf("entry %d has hash %v, not %v: %w", e.Seq, hash, l.Hash, ErrProof)
		}
	}
	if err := tlog.CheckRecord(p.Path, p.Head.Size, p.Head.Root, e.Seq-1, hash); err != nil {
		return nil, fmt.Errorf("entry %d is not in the ledger with head %v: %w", e.Seq, p.Head, ErrProof)
	}
	return e, nil
}

// stored are the hashes of a tree, in the order of tlog.
type stored []tlog.Hash

// ReadHashes returns the hashes at these places.
func (s stored) ReadHashes(at []int64) ([]tlog.Hash, error) {
	hs := make([]tlog.Hash, len(at))
	for i, n := range at {
		hs[i] = s[n]
	}
	return hs, nil
}
