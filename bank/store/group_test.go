package store

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestGroupHarmed checks that a flipped bit anywhere in a group is detected, and that the
// damaged entry is not used. An entry forged together with its checksum is detected by the
// hash after its leaf or the root after its group.
func TestGroupHarmed(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 1))
	es := someEntries(src, 100)
	before, whole := newTree(), newTree()
	for i := range 20 {
		before.addEntry(&es[i])
		whole.addEntry(&es[i])
	}
	var g group
	var ends []int // size of the entries, in bytes added to the log
	for i := range es[20:] {
		g.add(&es[20+i], &whole)
		ends = append(ends, len(g.entries))
	}
	value := g.encode(whole.head().Root)
	from := 1 + 1 // size of the version and of the count
	read := func(value []byte) (n int, err error) {
		d := decoder{b: appendTree(nil, &before)}
		r := groupReader{tree: d.tree(20)}
		for range r.entries(seqKey(21), value) {
			n++
		}
		return n, r.err
	}
	if n, err := read(value); n != 80 || err != nil {
		t.Fatalf("seed %d: %d entries, %v", seed, n, err)
	}
	for at := range value {
		harmed := bytes.Clone(value)
		harmed[at] ^= 1 << src.IntN(8)
		good := 0
		for good < len(ends) && from+ends[good] <= at {
			good++
		}
		if n, err := read(harmed); err == nil || n > good && at >= from {
			t.Errorf("seed %d: byte %d of entry %d: read to %d, %v", seed, at, 21+good, 20+n, err)
		}
	}
	for i := range es[20:] {
		harmed := bytes.Clone(value)
		entry := harmed[from+ends[i]-checkSize-8 : from+ends[i]-checkSize] // the end of the entry is in a contract number or in a note
		entry[0]++
		start := 0
		if i > 0 {
			start = ends[i-1]
		}
		d := decoder{b: harmed[from+start:]}
		if (20+i)%LeafSize == 0 {
			d.take(leafStart)
		}
		b := d.bytes(len(d.b))
		binary.BigEndian.PutUint32(harmed[from+ends[i]-checkSize:], check(b))
		if _, err := read(harmed); err == nil || !strings.Contains(err.Error(), "entry ") {
			t.Errorf("seed %d: entry %d forged: %v", seed, 21+i, err)
		}
	}
}
