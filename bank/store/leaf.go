package store

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"hash/crc32"

	"bourse/bank"

	"golang.org/x/mod/sumdb/tlog"
)

// LeafSize is the number of entries in a leaf of the Merkle log: leaf k, from 0, has
// entries k·LeafSize+1 and following, however they are grouped.
const LeafSize = 32

const (
	leafStart = 1 + tlog.HashSize // bytes of a leaf before its first entry
	checkSize = 4                 // bytes after an entry, so that a bad one can be named
)

// genesis stands before the first entry.
const genesis = "bourse ledger 2"

// Genesis returns the hash that stands before the first leaf.
func Genesis() tlog.Hash { return tlog.RecordHash([]byte(genesis)) }

// A Leaf is a leaf of the log that is being filled. The hash of its last entry is
// that of the leaf so far.
type Leaf struct {
	b      []byte    // all of it, the 0 of RFC 6962 included
	digest hash.Hash // of what was hashed
	hashed int       // bytes of b
	sum    tlog.Hash // of those

	scratch []byte
}

// NewLeaf returns a leaf without entries that follows one with a hash, or [Genesis].
func NewLeaf(before tlog.Hash) *Leaf {
	l := new(Leaf)
	l.begin(before)
	return l
}

func (l *Leaf) begin(before tlog.Hash) {
	if l.digest == nil {
		l.digest = sha256.New()
	}
	l.digest.Reset()
	l.b, l.hashed = append(append(l.b[:0], 0), before[:]...), 0
}

// Add adds an entry.
func (l *Leaf) Add(e *bank.Entry) { l.b = appendStored(l.b, appendEntry(nil, e)) }

// Hash returns the hash of the entry that was added last. It hashes what was added
// since it was last asked.
func (l *Leaf) Hash() tlog.Hash {
	if l.hashed < len(l.b) {
		l.digest.Write(l.b[l.hashed:])
		l.hashed = len(l.b)
		l.scratch = l.digest.Sum(l.scratch[:0])
		l.sum = tlog.Hash(l.scratch)
	}
	return l.sum
}

// appendStored appends an entry, given its encoding, as it stands in a leaf.
func appendStored(b, entry []byte) []byte {
	b = appendString(b, entry)
	return binary.BigEndian.AppendUint32(b, check(entry))
}

// check returns what is kept beside an entry, given its encoding.
func check(entry []byte) uint32 { return crc32.Checksum(entry, crc32.MakeTable(crc32.Castagnoli)) }
