package audit

import (
	"bytes"
	"encoding/binary"
	"iter"

	"bourse/bank/order"
)

// A checked order was read ahead of its entry: its note, and what it says, which knows
// whether the key signed it that its account had then. It is nil if the note is none.
type checked struct {
	note   []byte
	signed *order.Signed
}

const aheadOf = 512 // entries

// ahead yields groups, whose orders it has read by many at once.
func (a *auditor) ahead(groups iter.Seq2[[]byte, []byte]) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		var keys, values [][]byte
		n := int64(0)
		give := func() bool {
			a.checkAhead(keys, values)
			for i := range keys {
				if !yield(keys[i], values[i]) {
					return false
				}
			}
			keys, values, n = keys[:0], values[:0], 0
			return true
		}
		for key, value := range groups {
			if a.opts.Spread == nil || !a.authority.owned() {
				if !yield(key, value) {
					return
				}
				continue
			}
			keys, values = append(keys, bytes.Clone(key)), append(values, bytes.Clone(value))
			in := input{b: value}
			in.byte()
			if n += in.int(); n >= aheadOf && !give() {
				return
			}
		}
		give()
	}
}

// checkAhead reads the orders of the entries in groups.
func (a *auditor) checkAhead(places, values [][]byte) {
	if len(places) == 0 {
		return
	}
	var all []checked
	var seqs []int64
	for i, key := range places {
		if len(key) != 9 {
			break // it will be named
		}
		in := input{b: values[i]}
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
			all, seqs = append(all, checked{note: e.Note}), append(seqs, seq)
			seq++
		}
	}
	a.opts.Spread(len(all), func(i int) {
		if s, err := order.Open(all[i].note); err == nil {
			all[i].signed = s
		}
	})
	keys := a.authority.keysAt(all)
	a.opts.Spread(len(all), func(i int) {
		if keys[i] != "" {
			all[i].signed.By(keys[i])
		}
	})
	a.authority.checked = make(map[int64]checked, len(all))
	for i, c := range all {
		a.authority.checked[seqs[i]] = c
	}
}

// keysAt returns the key that will sign each of the orders, if all of them are good.
func (a *authority) keysAt(all []checked) []string {
	changed := make(map[string]string)
	keys := make([]string, len(all))
	for i, c := range all {
		if c.signed == nil {
			continue
		}
		account := c.signed.Value("account")
		if keys[i] = changed[account]; keys[i] == "" {
			keys[i] = a.keys[account]
		}
		switch c.signed.Kind {
		case "enrol", "recover":
			changed[c.signed.Value("of")] = c.signed.Value("key")
		case "rotate":
			changed[account] = c.signed.Value("key")
		}
	}
	return keys
}

// open returns the order of e, which may have been read ahead.
func (a *authority) open(e *Entry) (*order.Signed, error) {
	if c := a.checked[e.Seq]; c.signed != nil && bytes.Equal(c.note, e.Note) {
		return c.signed, nil
	}
	return order.Open(e.Note)
}
