package store

import (
	"encoding/binary"
	"fmt"
	"iter"

	"bourse/bank"

	"golang.org/x/mod/sumdb/tlog"
)

const groupVersion = 2

// A group collects the entries that will be written as one value.
type group struct {
	count   int
	entries []byte
	value   []byte // scratch
}

// add encodes e and appends it to the group and to t.
func (g *group) add(e *bank.Entry, t *tree) {
	g.entries = append(g.entries, t.addEntry(e)...)
	g.count++
}

// encode returns the value of the group. The argument root is the root of the log after the
// group.
func (g *group) encode(root tlog.Hash) []byte {
	g.value = append(g.value[:0], groupVersion)
	g.value = binary.AppendUvarint(g.value, uint64(g.count))
	g.value = append(g.value, g.entries...)
	g.value = append(g.value, root[:]...)
	return g.value
}

func (g *group) clear() { g.count, g.entries = 0, g.entries[:0] }

// groupCount returns the number of entries in a group, given its value.
func groupCount(value []byte) int64 {
	d := decoder{b: value}
	d.byte()
	return d.int()
}

// GroupHead returns the head of the log after a group, as recorded in the value of the group.
// The argument first is the number of the group's first entry.
func GroupHead(first int64, value []byte) Head {
	h := Head{Size: first + groupCount(value) - 1}
	copy(h.Root[:], value[max(0, len(value)-len(h.Root)):])
	return h
}

// A groupReader reads groups in order and verifies them.
type groupReader struct {
	tree tree // tree of the entries read so far
	err  error

	entry bank.Entry // scratch
}

// entries yields the entries of the group at key, each valid until the next iteration. At the
// first entry that was changed, it stops and sets err.
func (g *groupReader) entries(key, value []byte) iter.Seq[*bank.Entry] {
	return func(yield func(*bank.Entry) bool) {
		if first, ok := keySeq(key); !ok || first != g.tree.size+1 {
			g.err = fmt.Errorf("found the group of entry %d, want that of entry %d", first, g.tree.size+1)
			return
		}
		d := decoder{b: value}
		version, count := d.byte(), d.int()
		if version < groupVersion {
			g.err = ErrFormat
			return
		}
		if version != groupVersion || count < 1 || count > GroupSize {
			g.err = fmt.Errorf("entry %d: found a group of version %d with %d entries", g.tree.size+1, version, count)
			return
		}
		for range count {
			if g.err = g.next(&d); g.err != nil || !yield(&g.entry) {
				return
			}
		}
		if root := g.tree.head().Root; string(d.b) != string(root[:]) {
			g.err = fmt.Errorf("entry %d: the root after its group does not match the entries", g.tree.size)
		}
	}
}

func (g *groupReader) next(d *decoder) error {
	seq := g.tree.size + 1
	if g.tree.size%LeafSize == 0 {
		if start := d.take(leafStart); d.err == nil && (start[0] != 0 || string(start[1:]) != string(g.tree.before[:])) {
			return fmt.Errorf("entry %d: found hash %x stored for the entries before it, want %x", seq, start[1:], g.tree.before[:])
		}
	}
	b, stored := d.stored()
	if d.err != nil {
		return fmt.Errorf("entry %d: %w", seq, d.err)
	}
	if err := decodeEntry(b, &g.entry); err != nil {
		return fmt.Errorf("entry %d: %w", seq, err)
	}
	if g.entry.Seq != seq {
		return fmt.Errorf("found entry %d, want entry %d", g.entry.Seq, seq)
	}
	g.tree.add(stored)
	return nil
}

// seqKey returns the key of the group whose first entry is seq.
func seqKey(seq int64) []byte { return binary.BigEndian.AppendUint64([]byte{groupTable}, uint64(seq)) }

// keySeq returns the number encoded in a key.
func keySeq(key []byte) (int64, bool) {
	if len(key) != 9 {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(key[1:])), true
}
