package audit

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// A hash is SHA-256.
type hash [sha256.Size]byte

func (h hash) String() string { return base64.StdEncoding.EncodeToString(h[:]) }

// A chain is the log of entries so far: the hash of the last, and the roots of
// the complete subtrees of RFC 6962, one for each bit set in size.
type chain struct {
	size int64
	last hash
	tops [64]hash // tops[i] is of 2^i entries, where bit i of size is set

	scratch []byte
}

func newChain() chain { return chain{last: sha256.Sum256([]byte("\x00bourse ledger 1"))} }

// peek returns the hash that an entry would have if it came next.
func (c *chain) peek(entry []byte) hash {
	c.scratch = append(c.scratch[:0], 0)
	c.scratch = append(c.scratch, c.last[:]...)
	c.scratch = append(c.scratch, entry...)
	return sha256.Sum256(c.scratch)
}

// add puts an entry with hash h, as peek told it, at the end.
func (c *chain) add(h hash) {
	c.last = h
	level := bits.TrailingZeros64(^uint64(c.size))
	for i := range level {
		h = node(c.tops[i], h)
	}
	c.tops[level] = h
	c.size++
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
	level := bits.TrailingZeros64(uint64(c.size))
	h := c.tops[level]
	for i := level + 1; i < 64; i++ {
		if c.size>>i&1 == 1 {
			h = node(c.tops[i], h)
		}
	}
	return h
}

// tree returns what a group keeps of the log after it.
func (c *chain) tree() []byte {
	b := append([]byte(nil), c.last[:]...)
	for i := 63; i >= 0; i-- {
		if c.size>>i&1 == 1 {
			b = append(b, c.tops[i][:]...)
		}
	}
	return b
}

type head struct {
	size int64
	root hash
}

// parseHead reads "118:BASE64".
func parseHead(s string) (head, error) {
	size, root, _ := strings.Cut(s, ":")
	n, err := strconv.ParseInt(size, 10, 64)
	b, err2 := base64.StdEncoding.Strict().DecodeString(root)
	if err != nil || err2 != nil || n < 0 || strconv.FormatInt(n, 10) != size || len(b) != sha256.Size {
		return head{}, fmt.Errorf("head %.80q: want the number of entries, a colon, and 44 characters of base64", s)
	}
	return head{n, hash(b)}, nil
}
