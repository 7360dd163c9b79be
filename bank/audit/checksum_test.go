package audit

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
)

var names = []string{"a", "user:7", "user:17", "user:177", "user:1777", "user:12345678901", "user:12345678902",
	"user:123456789012", "user:a23456789012", "user:123456789012345", "b", "ab", "provider",
	"user:aaaMMMMMMMMLLLLLLLL", "user:aaaLLLLLLLLLLLLLLLL"}

// TestChecksum checks that a wrong checksum is found even if all hashes match it.
func TestChecksum(t *testing.T) {
	t.Parallel()
	for wrong := range int64(70) {
		value, c := []byte{2, 70}, newChain()
		for i := range int64(70) {
			e := Entry{Kind: Transfer, Seq: i + 1, Contract: -1, Moves: []Move{{[]byte("user:1"), []byte("user:2"), 1}}}
			if i < 2 {
				e.Kind, e.Moves[0] = Issue, Move{[]byte("mint"), []byte(fmt.Sprint("user:", i+1)), 100}
			}
			if i%5 == 4 {
				e.Note = []byte("a note")
			}
			b := stored(encoded(&e))
			if i == wrong {
				b[len(b)-1] ^= 1
			}
			if i%leafSize == 0 {
				value = append(value, c.leaf...)
			}
			value = append(value, b...)
			c.put(b)
			c.pass()
		}
		root := c.root()
		a := &auditor{chain: newChain(), books: newBooks()}
		a.group([]byte{'G', 0, 0, 0, 0, 0, 0, 0, 1}, append(value, root[:]...))
		if a.bad == nil || a.bad.Seq != wrong+1 || !strings.Contains(a.bad.Found, "checksum") {
			t.Errorf("a wrong checksum of entry %d: %v", wrong+1, a.bad)
		}
	}
}

// TestNames checks that accounts are distinguished regardless of common parts of their names.
func TestNames(t *testing.T) {
	t.Parallel()
	b := newBooks()
	want := make(map[string]Money)
	for i := range 100 {
		for k, name := range names {
			m := Move{[]byte("mint"), []byte(name), int64(1 + i*k)}
			if found, _ := b.book(&Entry{Kind: Issue, Contract: -1, Moves: []Move{m}}); found != "" {
				t.Fatal(found)
			}
			want[name] += Money(m.Micros)
		}
	}
	for name, amount := range want {
		if got := b.accounts[name].holds; got != amount {
			t.Errorf("%s holds %v, want %v", name, got, amount)
		}
	}
}

// encoded returns the stored form of an entry.
func encoded(e *Entry) []byte {
	text := func(b []byte, s []byte) []byte { return append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	b := binary.AppendUvarint([]byte{e.Kind}, uint64(e.Seq))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(e.Time))
	b = text(text(binary.AppendUvarint(b, uint64(e.Contract+1)), e.ID), e.Note)
	b = binary.AppendUvarint(b, uint64(len(e.Moves)))
	for _, m := range e.Moves {
		b = binary.AppendUvarint(text(text(b, m.From), m.To), uint64(m.Micros))
	}
	return b
}
