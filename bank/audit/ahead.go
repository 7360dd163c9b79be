package audit

import (
	"bytes"
	"encoding/binary"
	"iter"
	"slices"

	"bourse/bank/order"
)

const (
	aheadOf = 4096 // maximum number of entries read ahead
	inPart  = 64   // number of lines to parse, or signatures to check, per task
)

// A checked is an order that was parsed before its entry is processed. The field signed
// reports whether the order was signed with the key that its account had at the time. It is
// nil if the note contains no order.
type checked struct {
	seq    int64
	note   []byte
	signed *order.Signed
}

// A groups is a batch of consecutive groups.
type groups struct {
	keys, values [][]byte
	entries      int64
}

// ahead yields the groups. Before that, it parses their orders in parallel.
func (a *auditor) ahead(all iter.Seq2[[]byte, []byte]) iter.Seq2[[]byte, []byte] {
	if a.opts.Spread == nil {
		return all
	}
	return func(yield func([]byte, []byte) bool) {
		g := new(groups)
		use := func() bool {
			a.check(g.read())
			for i := range g.keys {
				if !yield(g.keys[i], g.values[i]) {
					return false
				}
			}
			g = new(groups)
			return true
		}
		for key, value := range all {
			if !a.authority.owned() {
				if !yield(key, value) {
					return
				}
				continue
			}
			g.keys, g.values = append(g.keys, bytes.Clone(key)), append(g.values, bytes.Clone(value))
			in := input{b: value}
			in.byte()
			if g.entries += in.int(); g.entries >= aheadOf && !use() {
				return
			}
		}
		use()
	}
}

// read returns the notes of the entries.
func (g *groups) read() []checked {
	var all []checked
	for i, key := range g.keys {
		if len(key) != 9 {
			break // group will report the error
		}
		in := input{b: g.values[i]}
		in.byte()
		seq := int64(binary.BigEndian.Uint64(key[1:]))
		for n := min(in.int(), maxGroup); n > 0; n-- {
			if (seq-1)%leafSize == 0 {
				in.take(leafStart)
			}
			b, _, _ := in.stored()
			var e Entry
			if in.bad || e.parse(b) != nil {
				break
			}
			all = append(all, checked{seq: seq, note: e.Note})
			seq++
		}
	}
	return all
}

// check parses orders in parallel, and checks their signatures with the keys that their
// accounts have at present. If an account has a different key when its entry is processed, the
// signature is checked again.
func (a *auditor) check(all []checked) {
	parts := slices.Collect(slices.Chunk(all, inPart))
	a.opts.Spread(len(parts), func(i int) {
		for j := range parts[i] {
			s, err := order.Open(parts[i][j].note)
			if err != nil {
				continue
			}
			parts[i][j].signed = s
			if key := a.authority.keys[s.Value("account")]; key != "" {
				s.By(key) // By caches the result
			}
		}
	})
	a.authority.checked = all
}

// order returns the order of e, which may already have been parsed.
func (a *authority) order(e *Entry) (*order.Signed, error) {
	for len(a.checked) > 0 && a.checked[0].seq < e.Seq {
		a.checked = a.checked[1:]
	}
	if len(a.checked) > 0 {
		if c := a.checked[0]; c.seq == e.Seq && c.signed != nil && bytes.Equal(c.note, e.Note) {
			return c.signed, nil
		}
	}
	return order.Open(e.Note)
}
