package store

import (
	"crypto/sha256"
	"math/bits"

	"bourse/bank"

	"golang.org/x/mod/sumdb/tlog"
)

// genesis stands before the first entry.
const genesis = "bourse ledger 1"

// A tree is the Merkle log of the entries so far, as much of it as is needed to
// go on and to tell its root.
type tree struct {
	size int64
	last tlog.Hash   // of the last entry
	tops []tlog.Hash // of the complete subtrees, largest first

	scratch []byte
}

func newTree() tree { return tree{last: Genesis()} }

// add appends an entry and returns its hash.
func (t *tree) add(entry []byte) tlog.Hash {
	return t.hash(append(t.begin(), entry...))
}

// addEntry appends e, and returns its encoding, valid until the next, and its hash.
func (t *tree) addEntry(e *bank.Entry) ([]byte, tlog.Hash) {
	leaf := appendEntry(t.begin(), e)
	hash := t.hash(leaf)
	return leaf[1+tlog.HashSize:], hash
}

// begin returns what stands before the next entry in its leaf.
func (t *tree) begin() []byte { return append(append(t.scratch[:0], 0), t.last[:]...) }

// hash appends a leaf and returns the hash of its entry.
func (t *tree) hash(leaf []byte) tlog.Hash {
	t.scratch = leaf
	t.last = sha256.Sum256(leaf)
	h := t.last
	for n := t.size; n&1 == 1; n >>= 1 {
		h = tlog.NodeHash(t.tops[len(t.tops)-1], h)
		t.tops = t.tops[:len(t.tops)-1]
	}
	t.tops = append(t.tops, h)
	t.size++
	return t.last
}

// head returns the size and root of the log.
func (t *tree) head() Head {
	if t.size == 0 {
		return Head{0, sha256.Sum256(nil)}
	}
	root := t.tops[len(t.tops)-1]
	for i := len(t.tops) - 2; i >= 0; i-- {
		root = tlog.NodeHash(t.tops[i], root)
	}
	return Head{t.size, root}
}

// appendTree appends the encoding of t, without its size.
func appendTree(b []byte, t *tree) []byte {
	b = append(b, t.last[:]...)
	for _, h := range t.tops {
		b = append(b, h[:]...)
	}
	return b
}

// tree reads the encoding of a tree of the given size.
func (d *decoder) tree(size int64) tree {
	t := tree{size: size}
	copy(t.last[:], d.take(tlog.HashSize))
	for range bits.OnesCount64(uint64(size)) {
		var h tlog.Hash
		copy(h[:], d.take(tlog.HashSize))
		t.tops = append(t.tops, h)
	}
	return t
}

func (t *tree) equal(u *tree) bool {
	return t.size == u.size && t.last == u.last && t.head() == u.head()
}

// EntryHash returns the hash of e after an entry with hash before; [Genesis] is
// before the first.
func EntryHash(before tlog.Hash, e *bank.Entry) tlog.Hash {
	t := tree{last: before}
	return t.add(appendEntry(nil, e))
}

// Genesis returns the hash that stands before the first entry.
func Genesis() tlog.Hash { return tlog.RecordHash([]byte(genesis)) }
