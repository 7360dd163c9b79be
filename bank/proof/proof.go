// Package proof lets people who do not have a ledger verify statements about it: signed
// checkpoints of its head, and proofs that it contains an entry.
//
// The package depends on heads and entries, but is independent of the storage of a ledger. The
// log is an RFC 6962 Merkle tree, and the signatures have the format of
// [golang.org/x/mod/sumdb/note]. Both have other implementations.
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

// ErrProof means that a proof is not valid.
var ErrProof = errors.New("proof is invalid")

// An Inclusion proves that the ledger with a certain head contains an entry. The proof is only
// as trustworthy as the head, so compare size and root with a trusted head, such as a
// [Checkpoint]. The path proves the number of leaves, but not the exact number of entries.
type Inclusion struct {
	Head   store.Head       `json:"head"`
	Seq    int64            `json:"entry"`  // number of the entry
	Before tlog.Hash        `json:"before"` // hash of the leaf before the entry's leaf
	Leaf   []export.Line    `json:"leaf"`   // entries of the leaf that contains the entry, up to the head: one line per move
	Path   tlog.RecordProof `json:"path"`   // path from the leaf to the root
}

// Prove returns the proof that a ledger contains entry seq. It reads all entries.
func Prove(entries export.Entries, seq int64) (*Inclusion, error) {
	p := &Inclusion{Seq: seq}
	var hashes Hashes // hashes of leaves
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

// ParseInclusion parses the text of a proof. It accepts only the exact form that
// [Inclusion.Write] writes, so that every JSON parser finds the verified values.
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

// Write writes p as JSON.
func (p *Inclusion) Write(w io.Writer) error { return canonical.NewIndented(w).Encode(p) }

// leafOf returns the number of an entry's leaf, counted from 0.
func leafOf(seq int64) int64 { return (seq - 1) / store.LeafSize }

// Verify returns the entry that p proves, and its hash, or an error wrapping [ErrProof].
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
			return nil, hash, fmt.Errorf("entry %d is not in the leaf, which ends with %d: %w", lines[0].Seq, end, ErrProof)
		}
		e, said, err := export.Entry(lines[:n])
		if err != nil {
			return nil, hash, fmt.Errorf("%w: %w", err, ErrProof)
		}
		leaf.Add(e)
		is := leaf.Hash()
		for _, l := range lines[:n] {
			if l.Hash != is {
				return nil, hash, fmt.Errorf("entry %d: found hash %v, want %v: %w", seq, is, l.Hash, ErrProof)
			}
		}
		if seq == p.Seq {
			proved, hash = e, said
		}
		lines = lines[n:]
	}
	if seq != end {
		return nil, hash, fmt.Errorf("the leaf ends with entry %d, want %d: %w", seq, end, ErrProof)
	}
	if err := tlog.CheckRecord(p.Path, leafOf(p.Head.Size)+1, p.Head.Root, leafOf(p.Seq), leaf.Hash()); err != nil {
		return nil, hash, fmt.Errorf("entry %d is not in the ledger with head %v: %w", p.Seq, p.Head, ErrProof)
	}
	return proved, hash, nil
}

// Hashes contains the hashes of a tree in the order that package tlog uses. It implements
// [tlog.HashReader].
type Hashes []tlog.Hash

// add adds the hash of a leaf if entry n is the last entry of the leaf.
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
