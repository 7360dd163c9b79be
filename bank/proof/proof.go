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
	"io"
	"slices"

	"bourse/bank"
	"bourse/bank/canonical"
	"bourse/bank/export"
	"bourse/bank/store"

	"golang.org/x/mod/sumdb/tlog"
)

// ErrProof means that a proof does not prove what it says.
var ErrProof = errors.New("proof does not hold")

// An Inclusion proves that an entry is in the ledger that had a head. It is worth
// what the head is: compare that, size and root, with one from elsewhere, such as a
// [Checkpoint]. Of the size alone, a path tells how many leaves there are.
type Inclusion struct {
	Head   store.Head       `json:"head"`
	Seq    int64            `json:"entry"`  // the number of the entry
	Before tlog.Hash        `json:"before"` // the hash of the leaf before that of the entry
	Leaf   []export.Line    `json:"leaf"`   // the entries of its leaf, as far as the head goes: a line a move
	Path   tlog.RecordProof `json:"path"`   // from the leaf to the root
}

// Prove returns the proof that entry seq is in a ledger, whose entries are all
// read.
func Prove(entries export.Entries, seq int64) (*Inclusion, error) {
	p := &Inclusion{Seq: seq}
	var hashes Hashes // of leaves
	before, last := store.Genesis(), store.Genesis()
	n := int64(0)
	for e, hash := range entries {
		if n%store.LeafSize == 0 {
			if err := hashes.add(last, n); err != nil {
				return nil, fmt.Errorf("prove entry %d: %w", seq, err)
			}
			before = last
		}
		n++
		if last = hash; leafOf(n) == leafOf(seq) {
			p.Before = before
			p.Leaf = append(p.Leaf, export.Lines(e, hash)...)
		}
	}
	if seq < 1 || seq > n {
		return nil, fmt.Errorf("prove entry %d: the ledger has %d entries", seq, n)
	}
	err := hashes.add(last, n)
	if err == nil {
		p.Head.Size = n
		p.Head.Root, err = tlog.TreeHash(leafOf(n)+1, hashes)
	}
	if err == nil {
		p.Path, err = tlog.ProveRecord(leafOf(n)+1, leafOf(seq), hashes)
	}
	if err != nil {
		return nil, fmt.Errorf("prove entry %d: %w", seq, err)
	}
	return p, nil
}

// ParseInclusion reads the text of a proof, as [Inclusion.Write] writes it and in no
// other form: what verifies is then what any reader of JSON reads.
func ParseInclusion(text []byte) (*Inclusion, error) {
	p := new(Inclusion)
	if err := canonical.NewIndentedReader().Read(text, p); err != nil {
		return nil, err
	}
	if p.Path == nil {
		return nil, errors.New("found path null, want a list")
	}
	return p, nil
}

// Write writes p as text, which is JSON.
func (p *Inclusion) Write(w io.Writer) error { return canonical.NewIndented(w).Encode(p) }

// leafOf returns the number of an entry's leaf, from 0.
func leafOf(seq int64) int64 { return (seq - 1) / store.LeafSize }

// Verify returns the entry that p proves, and its hash, or an error wrapping
// [ErrProof].
func (p *Inclusion) Verify() (proved *bank.Entry, hash tlog.Hash, err error) {
	if p.Seq < 1 || p.Seq > p.Head.Size {
		return nil, hash, fmt.Errorf("entry %d of %d: %w", p.Seq, p.Head.Size, ErrProof)
	}
	leaf := store.NewLeaf(p.Before)
	seq := leafOf(p.Seq) * store.LeafSize
	end := min(seq+store.LeafSize, p.Head.Size)
	for lines := p.Leaf; len(lines) > 0; {
		seq++
		n := slices.IndexFunc(lines, func(l export.Line) bool { return l.Seq != seq })
		if n < 0 {
			n = len(lines)
		}
		if n == 0 || seq > end {
			return nil, hash, fmt.Errorf("entry %d is not of the leaf, which ends with %d: %w", lines[0].Seq, end, ErrProof)
		}
		e, said, err := export.Entry(lines[:n])
		if err != nil {
			return nil, hash, fmt.Errorf("%w: %w", err, ErrProof)
		}
		leaf.Add(e)
		is := leaf.Hash()
		for _, l := range lines[:n] {
			if l.Hash != is {
				return nil, hash, fmt.Errorf("entry %d has hash %v, not %v: %w", seq, is, l.Hash, ErrProof)
			}
		}
		if seq == p.Seq {
			proved, hash = e, said
		}
		lines = lines[n:]
	}
	if seq != end {
		return nil, hash, fmt.Errorf("the leaf ends with entry %d, not %d: %w", seq, end, ErrProof)
	}
	if err := tlog.CheckRecord(p.Path, leafOf(p.Head.Size)+1, p.Head.Root, leafOf(p.Seq), leaf.Hash()); err != nil {
		return nil, hash, fmt.Errorf("entry %d is not in the ledger with head %v: %w", p.Seq, p.Head, ErrProof)
	}
	return proved, hash, nil
}

// Hashes are those of a tree, in the order of tlog: a [tlog.HashReader].
type Hashes []tlog.Hash

// add adds the hash of the leaf that ends with entry n, if n is one.
func (s *Hashes) add(leaf tlog.Hash, n int64) error {
	if n == 0 {
		return nil
	}
	more, err := tlog.StoredHashesForRecordHash(leafOf(n), leaf, *s)
	*s = append(*s, more...)
	return err
}

// ReadHashes implements [tlog.HashReader].
func (s Hashes) ReadHashes(at []int64) ([]tlog.Hash, error) {
	hs := make([]tlog.Hash, len(at))
	for i, n := range at {
		hs[i] = s[n]
	}
	return hs, nil
}
