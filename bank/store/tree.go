package store

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"

	"bourse/bank"

	"golang.org/x/mod/sumdb/tlog"
)

// A tree is the part of the Merkle log that is required to append entries and compute the
// root. A copy of a tree must not be used together with the original.
type tree struct {
	size   int64
	before tlog.Hash   // hash of the last complete leaf, or genesis
	leaf   Leaf        // contains the last entry
	tops   []tlog.Hash // roots of the complete subtrees of leaves, largest first

	entry, stored []byte // scratch
}

func newTree() tree { return tree{before: Genesis()} }

// addEntry appends e and returns the bytes that it adds to the log. These bytes are valid until
// the next call.
func (t *tree) addEntry(e *bank.Entry) []byte {
	t.entry = appendEntry(t.entry[:0], e)
	t.stored = appendStored(t.stored[:0], t.entry)
	return t.add(t.stored)
}

// add appends an entry in its stored form. It returns the bytes that it adds to the log,
// including the beginning of a new leaf. These bytes are valid until the next call.
func (t *tree) add(stored []byte) []byte {
	from := len(t.leaf.b)
	if t.size%LeafSize == 0 {
		t.leaf.begin(t.before)
		from = 0
	}
	t.leaf.b = append(t.leaf.b, stored...)
	t.size++
	if t.size%LeafSize == 0 {
		t.before = t.leaf.Hash()
		h := t.before
		for n := t.size/LeafSize - 1; n&1 == 1; n >>= 1 {
			h = tlog.NodeHash(t.tops[len(t.tops)-1], h)
			t.tops = t.tops[:len(t.tops)-1]
		}
		t.tops = append(t.tops, h)
	}
	return t.leaf.b[from:]
}

// last returns the hash of the last entry.
func (t *tree) last() tlog.Hash {
	if t.size%LeafSize == 0 {
		return t.before
	}
	return t.leaf.Hash()
}

// head returns the size and root of the log.
func (t *tree) head() Head {
	if t.size == 0 {
		return Head{0, sha256.Sum256(nil)}
	}
	tops, root := t.tops, t.last()
	if t.size%LeafSize == 0 {
		root = tops[len(tops)-1]
		tops = tops[:len(tops)-1]
	}
	for i := len(tops) - 1; i >= 0; i-- {
		root = tlog.NodeHash(tops[i], root)
	}
	return Head{t.size, root}
}

// appendTree appends the encoding of t, without its size.
func appendTree(b []byte, t *tree) []byte {
	for _, h := range t.tops {
		b = append(b, h[:]...)
	}
	if t.size%LeafSize == 0 {
		return append(append(b, 0), t.before[:]...)
	}
	return append(b, t.leaf.b...)
}

// tree reads the encoding of a tree of the given size.
func (d *decoder) tree(size int64) tree {
	t := tree{size: size}
	for range bits.OnesCount64(uint64(size / LeafSize)) {
		var h tlog.Hash
		copy(h[:], d.take(tlog.HashSize))
		t.tops = append(t.tops, h)
	}
	leaf := d.b
	if d.byte() != 0 {
		d.take(-1)
	}
	copy(t.before[:], d.take(tlog.HashSize))
	for range size % LeafSize {
		d.stored()
	}
	if size%LeafSize > 0 && d.err == nil {
		t.leaf.begin(t.before)
		t.leaf.b = append(t.leaf.b, leaf[leafStart:len(leaf)-len(d.b)]...)
	}
	return t
}

// stored reads an entry in its stored form. It returns the entry's encoding and all bytes that
// it read.
func (d *decoder) stored() (entry, all []byte) {
	all = d.b
	entry = d.bytes(len(d.b))
	sum := d.take(checkSize)
	if d.err == nil && binary.BigEndian.Uint32(sum) != check(entry) {
		d.err = fmt.Errorf("has checksum %08x, want %x", check(entry), sum)
	}
	return entry, all[:len(all)-len(d.b)]
}
