package store

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"bourse/bank"
)

// entries contains entries of every form that an encoding must support.
var entries = []bank.Entry{
	{Seq: 1, Kind: bank.Issue, Contract: bank.NoContract, Moves: []bank.Move{{From: "mint", To: "user:a", Amount: bank.Micros(math.MaxInt64)}}},
	{Seq: 1 << 40, Time: 1e300, Kind: bank.Settle, Contract: bank.MaxContract, ID: "id", Note: []byte{0, 255},
		Moves: []bank.Move{{From: bank.EscrowName(bank.MaxContract), To: "host:1", Amount: bank.Micros(1)}, {From: bank.EscrowName(bank.MaxContract), To: "user:a", Amount: bank.Micros(1)}}},
	{Seq: 2, Kind: bank.Reject, Contract: 0},
}

// FuzzEntry checks that an entry has only one encoding: decoding and encoding again gives the
// same bytes.
func FuzzEntry(f *testing.F) {
	for _, e := range entries {
		f.Add(appendEntry(nil, &e))
	}
	spelled := []byte("\x03\x01\x00\x00\x00\x00\x00\x00\x00\x00\x08\x00\x00\x01\x08escrow:7\x06user:a\x05")
	f.Add(spelled) // the full name of an escrow replaces an empty name
	f.Fuzz(func(t *testing.T, b []byte) {
		var e bank.Entry
		if decodeEntry(b, &e) != nil {
			return
		}
		if again := appendEntry(nil, &e); !bytes.Equal(again, b) {
			t.Errorf("%x decodes to %+v, which is %x", b, e, again)
		}
	})
}

// FuzzGroup checks that arbitrary bytes do not crash the group reader.
func FuzzGroup(f *testing.F) {
	g, tr := group{}, newTree()
	e := entries[0]
	g.add(&e, &tr)
	f.Add(g.encode(tr.head().Root))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := groupReader{tree: newTree()}
		n := 0
		for range r.entries(seqKey(1), b) {
			n++
		}
		if n == 0 && r.err == nil {
			t.Error("no entries and no error")
		}
	})
}

// FuzzSeal checks that the parser of HEAD accepts only what it can write again identically.
func FuzzSeal(f *testing.F) {
	f.Add((&seal{head: Head{Size: 3}, files: []sealedFile{{"-", 5, "000001.sst"}, {"ab", 0, "x"}}}).text())
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := parseSeal(b); err == nil && !bytes.Equal(s.text(), b) {
			t.Errorf("%q reads back as %q", b, s.text())
		}
	})
}

// TestHeadText checks that a head has only one text form.
func TestHeadText(t *testing.T) {
	t.Parallel()
	tr := newTree()
	tr.add([]byte("x"))
	want := tr.head()
	if got, err := ParseHead(want.String()); err != nil || got != want {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, s := range []string{"", "1", "1:", ":" + want.Root.String(), "01:" + want.Root.String(), "-1:" + want.Root.String(), want.String() + "=", want.String() + " ", "+1:" + want.Root.String()} {
		if h, err := ParseHead(s); err == nil {
			t.Errorf("%q is read as %v", s, h)
		}
	}
	if _, err := ParseReceipt("0:" + want.Root.String()); err == nil {
		t.Error("a receipt of no entry is read")
	}
}

// TestCanonical performs the check of FuzzEntry on encodings with a few changed bytes.
func TestCanonical(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 0))
	decoded := 0
	for range 100_000 {
		b := appendEntry(nil, &entries[src.IntN(len(entries))])
		for range 1 + src.IntN(3) {
			b[src.IntN(len(b))] = byte(src.Uint32())
		}
		var e bank.Entry
		if decodeEntry(b, &e) != nil {
			continue
		}
		decoded++
		if again := appendEntry(nil, &e); !bytes.Equal(again, b) {
			t.Fatalf("%x decodes to %+v, which is %x (seed %d)", b, e, again, seed)
		}
	}
	if decoded == 0 {
		t.Error("nothing decoded")
	}
}
