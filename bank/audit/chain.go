package audit

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	stdhash "hash"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// A hash is a SHA-256 hash.
type hash [sha256.Size]byte

func (h hash) String() string { return base64.StdEncoding.EncodeToString(h[:]) }

const (
	leafSize  = 32              // entries per leaf
	leafStart = 1 + sha256.Size // bytes of a leaf before its first entry
)

// A chain is the log of the entries so far. It contains the current leaf, and the roots of the
// complete subtrees of RFC 6962. There is one root for each bit set in the number of complete
// leaves.
type chain struct {
	size int64
	leaf []byte   // the byte 0, the hash of the previous leaf, and the entries since then
	tops [64]hash // tops[i] is the root of a subtree of 2^i leaves

	digest stdhash.Hash // state of the hash after the first hashed bytes of leaf
	hashed int          // number of bytes of leaf in digest
	sum    hash         // hash of those bytes
	buf    []byte
}

func newChain() chain {
	c := chain{digest: sha256.New()}
	c.begin(sha256.Sum256([]byte("\x00bourse ledger 2")))
	return c
}

// fork returns an independent copy.
func (c *chain) fork() chain {
	return chain{size: c.size, leaf: slices.Clone(c.leaf), tops: c.tops, digest: sha256.New()}
}

// begin starts a leaf; before is the hash of the previous leaf.
func (c *chain) begin(before hash) {
	c.leaf = append(append(c.leaf[:0], 0), before[:]...)
	if c.hashed > 0 {
		c.digest.Reset()
		c.hashed = 0
	}
}

// put appends an entry in its stored form. The method pass then counts it.
func (c *chain) put(stored []byte) { c.leaf = append(c.leaf, stored...) }

// drop removes the last n bytes, which put has added.
func (c *chain) drop(n int) {
	c.leaf = c.leaf[:len(c.leaf)-n]
	if c.hashed > len(c.leaf) {
		c.digest.Reset()
		c.hashed = 0
	}
}

// pass counts the last entry that put has added.
func (c *chain) pass() {
	c.size++
	if c.size%leafSize == 0 {
		c.complete()
	}
}

// complete completes the leaf and starts the next one.
func (c *chain) complete() {
	before := c.whole()
	h := before
	leaves := uint64(c.size/leafSize) - 1
	level := bits.TrailingZeros64(^leaves)
	for i := range level {
		h = node(c.tops[i], h)
	}
	c.tops[level] = h
	c.begin(before)
}

// hash returns the hash of the last entry, which is the hash of its leaf up to there.
func (c *chain) hash() hash {
	if len(c.leaf) == leafStart {
		return hash(c.leaf[1:])
	}
	if c.hashed < len(c.leaf) {
		c.digest.Write(c.leaf[c.hashed:])
		c.hashed = len(c.leaf)
		c.buf = c.digest.Sum(c.buf[:0])
		c.sum = hash(c.buf)
	}
	return c.sum
}

// whole returns the hash of a complete leaf.
func (c *chain) whole() hash {
	if c.hashed > 0 {
		return c.hash()
	}
	return sha256.Sum256(c.leaf)
}

// differs compares the hash of the last entry with the expected hash.
func (c *chain) differs(hash []byte) (found, want string) {
	if h := c.hash(); string(h[:]) != string(hash) {
		return fmt.Sprintf("an entry with hash %v", h), "the one with hash " + base64.StdEncoding.EncodeToString(hash)
	}
	return "", ""
}

func node(left, right hash) hash {
	var b [1 + 2*sha256.Size]byte
	b[0] = 1
	copy(b[1:], left[:])
	copy(b[1+sha256.Size:], right[:])
	return sha256.Sum256(b[:])
}

func (c *chain) root() hash {
	if c.size == 0 {
		return sha256.Sum256(nil)
	}
	leaves := uint64(c.size / leafSize)
	level := bits.TrailingZeros64(leaves)
	h := c.hash()
	if c.size%leafSize == 0 {
		h = c.tops[level]
		leaves &^= 1 << level
	}
	for ; leaves > 0; leaves &= leaves - 1 {
		h = node(c.tops[bits.TrailingZeros64(leaves)], h)
	}
	return h
}

// tree returns the encoding of the log that is stored with the balances.
func (c *chain) tree() []byte {
	var b []byte
	for i := 63; i >= 0; i-- {
		if c.size/leafSize>>i&1 == 1 {
			b = append(b, c.tops[i][:]...)
		}
	}
	return append(b, c.leaf...)
}

type head struct {
	size int64
	root hash
}

// parseHead parses "118:BASE64".
func parseHead(s string) (head, error) {
	size, root, _ := strings.Cut(s, ":")
	n, err := strconv.ParseInt(size, 10, 64)
	h, ok := parseHash(root)
	if err != nil || !ok || n < 0 || strconv.FormatInt(n, 10) != size {
		return head{}, fmt.Errorf("head %.80q: want the number of entries, a colon, and 44 characters of base64", s)
	}
	return head{n, h}, nil
}

// parseHash parses the format of [hash.String]. The standard decoder would ignore line feeds.
func parseHash(s string) (h hash, ok bool) {
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != len(h) {
		return h, false
	}
	h = hash(b)
	return h, h.String() == s
}
