package audit

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// bookAll books entries as they stand in a leaf, numbered from seq on, until one is
// amiss, and tells where that stands, and what came of all. Usual ones go the short way,
// and are counted, if short is not nil.
func bookAll(in []byte, seq int64, short *int) (end int, said string) {
	b := newBooks()
	var e Entry
	at := input{b: in}
	for n := range int64(20) { // that there is somebody to pay
		for _, name := range names {
			e = Entry{Kind: Issue, Contract: -1, Moves: []Move{{[]byte("mint"), []byte(name), 100 << n}}}
			if found, _ := b.book(&e); found != "" {
				return 0, found
			}
		}
	}
	for len(at.b) > slack && said == "" {
		if short != nil {
			if n, bytes := b.usual(at.b, seq, 3); n > 0 { // as many as may remain of a leaf
				at.take(int64(bytes))
				seq += n
				*short += int(n)
				continue
			}
		}
		here := len(in) - len(at.b)
		b1, _, sum := at.stored()
		if at.bad || check(b1) != sum || e.parse(b1) != nil || e.Seq != seq {
			return here, "no entry"
		}
		if said, _ = b.book(&e); said != "" {
			end = here
		}
		seq++
	}
	held := maps.Collect(func(yield func(string, Money) bool) {
		for name, a := range b.accounts {
			if !yield(name, a.holds) {
				return
			}
		}
	})
	return end, fmt.Sprint(said, b.time, b.sum, held)
}

const slack = 16 // bytes after the entries and their checks

var names = []string{"a", "user:7", "user:17", "user:177", "user:1777", "user:12345678901", "user:12345678902",
	"user:123456789012", "user:a23456789012", "user:123456789012345", "b", "ab", "provider",
	"user:aaaMMMMMMMMLLLLLLLL", "user:aaaLLLLLLLLLLLLLLLL"}

// TestUsual promises that entries booked the short way are those that come out in full,
// and to the same: whatever their number, time, names, amount and form.
func TestUsual(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 0))
	pick := func(from ...string) []byte { return []byte(from[src.IntN(len(from))]) }
	odd := func() bool { return src.IntN(250) == 0 }
	entries, short := 0, 0
	for n := range 2000 {
		seq := []int64{1, 100, 16350, 1<<21 - 30, 1<<28 - 40, 1 << 35}[src.IntN(6)]
		var in []byte
		now := 0.0
		for i := range src.Int64N(60) {
			e := Entry{Kind: Transfer, Seq: seq + i, Contract: -1}
			if odd() {
				e.Kind = byte(src.IntN(256))
			}
			if odd() {
				e.Seq += []int64{-127, -1, 1, 128}[src.IntN(4)]
			}
			now += src.Float64() * float64(src.IntN(2))
			if e.Time = now; odd() {
				e.Time = []float64{-1, math.NaN(), math.Inf(1), math.MaxFloat64}[src.IntN(4)]
			}
			if odd() {
				e.Contract = src.Int64N(200)
			}
			if odd() {
				e.ID = []byte("request")
			}
			if odd() {
				e.Note = make([]byte, []int{1, 90, 200}[src.IntN(3)])
			}
			moves := 1
			if odd() {
				moves = src.IntN(4)
			}
			for range moves {
				from := src.IntN(len(names))
				to := (from + 1 + src.IntN(len(names)-1)) % len(names)
				m := Move{[]byte(names[from]), []byte(names[to]), 1 + src.Int64N([]int64{100, 300, 40000}[src.IntN(3)])}
				if odd() {
					m.From = pick("", "mint", "no one", "user:\x00", "a\x00")
				}
				if odd() {
					m.To = pick("", "mint", "NO", "user:new", "user:\x00", "a\x00")
				}
				if odd() {
					m.To = m.From
				}
				if odd() {
					m.Micros = []int64{0, 1 << 31, math.MaxInt64}[src.IntN(3)]
				}
				if i == 1 && src.IntN(4) == 0 { // all that it was issued, or more
					m.Micros = 100*(1<<20-1) + src.Int64N(2)
				}
				e.Moves = append(e.Moves, m)
			}
			b := encoded(&e)
			if odd() {
				b[src.IntN(len(b))] ^= 1 << src.IntN(8)
			}
			in = append(in, stored(b)...)
			if odd() {
				in[len(in)-1-src.IntN(4)] ^= 1 << src.IntN(8)
			}
			entries++
		}
		in = append(in, make([]byte, slack)...)
		if src.IntN(4) == 0 {
			in = in[:len(in)-src.IntN(min(80, len(in)))]
		}
		gotEnd, got := bookAll(in, seq, &short)
		if wantEnd, want := bookAll(in, seq, nil); got != want || gotEnd != wantEnd {
			t.Fatalf("seed %d, case %d: to byte %d: %s\nwant to byte %d: %s", seed, n, gotEnd, got, wantEnd, want)
		}
	}
	if short < entries/10 {
		t.Errorf("of %d entries %d went the short way", entries, short)
	}
	t.Logf("of %d entries %d went the short way", entries, short)
}

// TestUsualEnd promises the same of the last entry before the end of what was read,
// whatever one byte of it says.
func TestUsualEnd(t *testing.T) {
	t.Parallel()
	e := Entry{Kind: Transfer, Seq: 300, Contract: -1, Moves: []Move{{[]byte("user:7"), []byte("user:177"), 5}}}
	whole := append(stored(encoded(&e)), make([]byte, slack)...)
	for i := range whole {
		for _, x := range []byte{0, 1, 2, 5, 15, 16, 17, 30, 40, 64, 65, 100, 127, 128, 255} {
			in := slices.Clone(whole)
			in[i] = x
			gotEnd, got := bookAll(in, 300, new(int))
			if wantEnd, want := bookAll(in, 300, nil); got != want || gotEnd != wantEnd {
				t.Fatalf("byte %d of %d: to byte %d: %s\nwant to byte %d: %s", i, x, gotEnd, got, wantEnd, want)
			}
		}
	}
}

// TestChecksum promises that a checksum which was wrong from the beginning, so that all
// hashes hold, is found, whether its entry is a usual one or not.
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

// TestNames promises that accounts are told apart whatever their names have in common.
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

// encoded is what an entry is kept as.
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

// FuzzUsual checks the same of any bytes.
func FuzzUsual(f *testing.F) {
	e := Entry{Kind: Transfer, Seq: 1, Contract: -1, Moves: []Move{{[]byte("a"), []byte("user:177"), 5}}}
	one := encoded(&e)
	e.Seq, e.Time, e.Moves[0].Micros = 2, 1, 300
	f.Add(append(append(stored(one), stored(encoded(&e))...), make([]byte, slack)...), uint32(1))
	f.Fuzz(func(t *testing.T, in []byte, seq uint32) {
		gotEnd, got := bookAll(in, int64(seq), new(int))
		wantEnd, want := bookAll(in, int64(seq), nil)
		if got != want || gotEnd != wantEnd {
			t.Fatalf("to byte %d: %s\nwant to byte %d: %s", gotEnd, got, wantEnd, want)
		}
	})
}
