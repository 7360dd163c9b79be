package store

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// A Head is the size, in entries, and the root of a ledger's Merkle log. A head stored
// elsewhere can be used later to check that a ledger still contains these entries.
type Head struct {
	Size int64
	Root tlog.Hash
}

// NoEntries returns the head of an empty ledger.
func NoEntries() Head {
	t := newTree()
	return t.head()
}

// String returns the size and the root in base64: "118:n1F…=".
func (h Head) String() string { return fmt.Sprintf("%d:%v", h.Size, h.Root) }

// ParseHead parses the format of [Head.String].
func ParseHead(s string) (Head, error) {
	size, root, _ := strings.Cut(s, ":")
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != size || len(root) > 64 {
		return Head{}, fmt.Errorf("head %.80q: want the number of entries, a colon and a hash", s)
	}
	h, err := tlog.ParseHash(root)
	if err != nil || h.String() != root {
		return Head{}, fmt.Errorf("head %.80q: want 44 characters of base64 after the colon", s)
	}
	return Head{n, h}, nil
}

// MarshalText returns h in the format of [Head.String].
func (h Head) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText parses the format of [Head.String].
func (h *Head) UnmarshalText(b []byte) (err error) {
	*h, err = ParseHead(string(b))
	return err
}
