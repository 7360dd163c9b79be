package store

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"hash/crc32"

	"bourse/bank"

	"golang.org/x/mod/sumdb/tlog"
)

// LeafSize is the number of entries in a leaf of the Merkle log. Leaf k, counted from 0,
// contains the entries from k·LeafSize+1 on, independently of groups.
const LeafSize = 32

const (
	leafStart = 1 + tlog.HashSize // bytes of a leaf before its first entry
	checkSize = 4                 // size of the checksum after an entry in bytes; it identifies a damaged entry
)

// genesis is the text whose hash precedes the first leaf.
const genesis = "bourse ledger 2"

// Genesis returns the hash that precedes the first leaf.
func Genesis() tlog.Hash { return tlog.RecordHash([]byte(genesis)) }

// A Leaf is a leaf of the log to which entries are being added. Until the leaf is complete,
// its hash is the hash of its last entry.
type Leaf struct {
	b      []byte    // all bytes of the leaf, including the byte 0 of RFC 6962
	digest hash.Hash // digest of the first hashed bytes of b
	hashed int       // number of bytes of b in digest
	sum    tlog.Hash // hash of those bytes

	scratch []byte
}

// NewLeaf returns an empty leaf. The argument before is the hash of the previous leaf, or
// [Genesis].
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

// Add appends an entry.
func (l *Leaf) Add(e *bank.Entry) { l.b = appendStored(l.b, appendEntry(nil, e)) }

// Hash returns the hash of the last entry. It hashes only the bytes added since the previous
// call.
func (l *Leaf) Hash() tlog.Hash {
	if l.hashed < len(l.b) {
		l.digest.Write(l.b[l.hashed:])
		l.hashed = len(l.b)
		l.scratch = l.digest.Sum(l.scratch[:0])
		l.sum = tlog.Hash(l.scratch)
	}
	return l.sum
}

// appendStored appends an encoded entry in its stored form: length, entry and checksum.
func appendStored(b, entry []byte) []byte {
	b = appendString(b, entry)
	return binary.BigEndian.AppendUint32(b, check(entry))
}

// check returns the checksum that is stored with an encoded entry.
func check(entry []byte) uint32 { return crc32.Checksum(entry, crc32.MakeTable(crc32.Castagnoli)) }
