package audit

import (
	"encoding/binary"
	"fmt"
)

// group checks the entries of a group and the root after them.
func (a *auditor) group(key, value []byte) {
	first := a.chain.size + 1
	if len(key) != 9 || binary.BigEndian.Uint64(key[1:]) != uint64(first) {
		a.fail(first, fmt.Sprintf("a group at key %x", key), fmt.Sprintf("the group whose first entry is %d", first))
		return
	}
	in := input{b: value}
	version, count := in.byte(), in.int()
	if version != 2 || count < 1 || count > maxGroup {
		a.fail(first, fmt.Sprintf("a group of version %d with %d entries", version, count), "one of version 2 with 1 to 8190")
		return
	}
	if a.requests != nil {
		a.requests.expect(in.b, count)
	}
	end := first + count - 1
	for a.bad == nil && a.chain.size < end {
		seq := a.chain.size + 1
		if a.chain.size%leafSize == 0 {
			if a.leaf(in.take(leafStart)); a.bad != nil {
				return
			}
		}
		here := in
		b, stored, sum := in.stored()
		switch {
		case in.bad:
			a.fail(seq, "a group that ends", fmt.Sprintf("its entries to %d", end))
		case check(b) != sum:
			a.fail(seq, fmt.Sprintf("an entry with checksum %08x", check(b)), fmt.Sprintf("the stored checksum, %08x", sum))
		default:
			if a.entry(b, stored, nil) && a.bad != nil {
				a.blame(first, end, here)
			}
			a.passed()
		}
	}
	if a.opts.Progress != nil {
		total := a.chain.size
		if n := len(a.heads); n > 0 {
			total = max(total, a.heads[n-1].size)
		}
		a.opts.Progress(a.chain.size, total)
	}
	if a.bad == nil {
		if a.bad = ended(&a.chain, first, in.b); a.bad == nil {
			a.bad = a.anew
		}
	}
}

// leaf checks the beginning of a leaf, which contains the hash of the previous leaf.
func (a *auditor) leaf(start []byte) {
	switch {
	case len(start) < leafStart || start[0] != 0:
		a.fail(a.chain.size+1, "no start of a leaf", "the start of a leaf before the entry")
	case a.chain.size == 0 && string(start) != string(a.chain.leaf):
		a.fail(1, "a different hash from that of no entries", "the hash of no entries before the entry")
	default:
		a.bad = began(&a.chain, start)
	}
}

// began checks the entries of the previous leaf against start, the beginning of the next leaf.
func began(c *chain, start []byte) *Finding {
	if string(start) == string(c.leaf) {
		return nil
	}
	return &Finding{Seq: c.size - leafSize + 1, To: c.size, Found: fmt.Sprintf("hash %v", c.hash()), Want: fmt.Sprintf("hash %v, stored after them", hash(start[1:]))}
}

// ended checks the last entries of a group against the stored root. The argument first is the
// number of the group's first entry.
func ended(c *chain, first int64, root []byte) *Finding {
	is := c.root()
	if string(root) == string(is[:]) {
		return nil
	}
	from := max(first, (c.size-1)/leafSize*leafSize+1)
	return &Finding{Seq: from, To: c.size, Found: fmt.Sprintf("root %v", is), Want: fmt.Sprintf("root %x, stored after them", root)}
}

// blame handles a bad entry in a group with the entries first to end. The input in starts at
// the bad entry. If the hash of the entry's leaf also differs from the stored hash, blame names
// the whole leaf instead, because an earlier entry may have been forged.
func (a *auditor) blame(first, end int64, in input) {
	c := a.chain.fork()
	for c.size < end {
		b, stored, sum := in.stored()
		if in.bad || check(b) != sum {
			return
		}
		c.put(stored)
		c.pass()
		if c.size < end && c.size%leafSize == 0 {
			if start := in.take(leafStart); !in.bad && start[0] == 0 {
				if f := began(&c, start); f != nil {
					f.Seq = max(f.Seq, first)
					a.bad = f
				}
			}
			return
		}
	}
	if f := ended(&c, first, in.b); f != nil {
		a.bad = f
	}
}
