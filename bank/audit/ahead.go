package audit

import (
	"bytes"
	"encoding/binary"
	"iter"
	"maps"
	"slices"

	"bourse/bank/order"
)

const (
	aheadOf = 4096 // entries
	inPart  = 64   // that are read, and whose signatures are checked, by one
)

// A pipeline has batches used one after another, in order, and each prepared while the one
// before is used, if both can be done at once.
type pipeline[T any] struct {
	spread  func(n int, do func(i int))
	prepare func(*T)
	use     func(*T) bool // and go on

	next *T // it is prepared
}

// put takes the batch that comes next, nil for the end, and tells whether to go on.
func (p *pipeline[T]) put(b *T) bool {
	was, more := p.next, true
	p.next = b
	p.spread(2, func(i int) {
		if i == 0 && b != nil {
			p.prepare(b)
		} else if i == 1 && was != nil {
			more = p.use(was)
		}
	})
	return more
}

// A checked order was read ahead of its entry: its note, and what it says, which knows
// whether the key signed it that its account had then. It is nil if the note is none.
type checked struct {
	seq    int64
	note   []byte
	signed *order.Signed
}

// groups are some that follow one another, and the orders of their entries.
type groups struct {
	keys, values [][]byte
	entries      int64
	orders       []checked
}

// ahead yields groups, whose orders it has read by many at once.
func (a *auditor) ahead(all iter.Seq2[[]byte, []byte]) iter.Seq2[[]byte, []byte] {
	if a.opts.Spread == nil {
		return all
	}
	return func(yield func([]byte, []byte) bool) {
		var f foresight
		p := pipeline[groups]{
			spread: a.opts.Spread,
			prepare: func(g *groups) {
				g.orders = g.read()
				f.check(g.orders, a.opts)
			},
			use: func(g *groups) bool {
				a.authority.checked = g.orders
				for i := range g.keys {
					if !yield(g.keys[i], g.values[i]) {
						return false
					}
				}
				return true
			},
		}
		g := new(groups)
		for key, value := range all {
			if !a.authority.owned() {
				if !yield(key, value) {
					return
				}
				continue
			}
			if f.keys == nil {
				f.keys = maps.Clone(a.authority.keys)
			}
			g.keys, g.values = append(g.keys, bytes.Clone(key)), append(g.values, bytes.Clone(value))
			in := input{b: value}
			in.byte()
			if g.entries += in.int(); g.entries >= aheadOf {
				if !p.put(g) {
					return
				}
				g = new(groups)
			}
		}
		_ = p.put(g) && p.put(nil)
	}
}

// read returns the notes of the entries.
func (g *groups) read() []checked {
	var all []checked
	for i, key := range g.keys {
		if len(key) != 9 {
			break // it will be named
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

// A foresight is what keys accounts will have, if all entries to come are good. It decides
// nothing: who signed is asked again when all before is known.
type foresight struct{ keys map[string]string }

// check reads orders, and finds out for many at once whether they are signed by these keys.
func (f *foresight) check(all []checked, opts Options) {
	for i := 0; i < len(all) && f.keys == nil; i++ {
		f.own(all[i].note)
	}
	if f.keys == nil {
		return
	}
	parts := slices.Collect(slices.Chunk(all, inPart))
	opts.Spread(len(parts), func(i int) {
		for j := range parts[i] {
			if s, err := order.Open(parts[i][j].note); err == nil {
				parts[i][j].signed = s
			}
		}
	})
	signers := make([]string, len(all)) // keys
	for i := range all {
		if s := all[i].signed; s != nil {
			signers[i] = f.signer(s)
		}
	}
	opts.Spread(len(parts), func(i int) {
		for j := range parts[i] {
			if key := signers[i*inPart+j]; key != "" {
				parts[i][j].signed.By(key) // which remembers
			}
		}
	})
}

// own takes note of the keys that an owned ledger begins with, if that is what a note says.
func (f *foresight) own(note []byte) {
	if !bytes.HasPrefix(note, []byte("bourse own ")) {
		return
	}
	if o, err := order.Parse(string(note)); err == nil {
		f.keys = map[string]string{"operator": o.Value("operator"), "recovery": o.Value("recovery")}
	}
}

// signer returns the key that will have signed s, empty if none is known, and takes note
// of the one that s tells of.
func (f *foresight) signer(s *order.Signed) string {
	account := s.Value("account")
	key := f.keys[account]
	switch s.Kind {
	case "enrol", "recover":
		f.keys[s.Value("of")] = s.Value("key")
	case "rotate":
		f.keys[account] = s.Value("key")
	}
	return key
}

// order returns the order of e, which may have been read ahead.
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
