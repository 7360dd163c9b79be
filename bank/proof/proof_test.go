package proof

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/export"
	"bourse/bank/keys"
	"bourse/bank/store"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ledger creates a ledger with n entries.
func ledger(t testing.TB, fs vfs.FS, n int) store.Head {
	t.Helper()
	j, err := store.Create("ledger", store.Options{FS: fs})
	check(t, err)
	l := bank.New(j)
	for i := range n {
		e := bank.Entry{Time: float64(i), Kind: bank.Reject, Contract: int64(i), Note: []byte{'"', byte(i)}}
		if i%3 == 0 {
			e = bank.Entry{Time: float64(i), Kind: bank.Issue, Contract: bank.NoContract, ID: fmt.Sprint(i), Moves: []bank.Move{
				{From: "mint", To: "user:1", Amount: bank.Micros(1)}, {From: "mint", To: "user:2", Amount: bank.Micros(2)}}}
		}
		check(t, l.Book(&e))
	}
	check(t, j.Close())
	return j.Head()
}

// last returns the last line of a proof.
func last(p *Inclusion) *export.Line { return &p.Leaf[len(p.Leaf)-1] }

// TestInclusion checks that every entry of ledgers of many sizes can be proved after the proof
// was encoded as JSON, and that a proof with any single change is invalid.
func TestInclusion(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 7, 31, 32, 33, 64, 100} {
		fs := vfs.NewMem()
		head := ledger(t, fs, n)
		r, err := store.OpenReader("ledger", store.Options{FS: fs})
		check(t, err)
		defer r.Close()
		for seq := int64(1); seq <= int64(n); seq += 1 + int64(n)/20 {
			made, err := Prove(r.Entries(), seq)
			check(t, err)
			var text bytes.Buffer
			check(t, made.Write(&text))
			again := func() *Inclusion {
				p, err := ParseInclusion(text.Bytes())
				check(t, err)
				return p
			}
			e, hash, err := again().Verify()
			if err != nil || e.Seq != seq || again().Head != head {
				t.Fatalf("entry %d of %d: %v, %v", seq, n, e, err)
			}
			for e, want := range r.Entries() {
				if e.Seq == seq && hash != want {
					t.Fatalf("entry %d of %d has hash %v, want %v", seq, n, hash, want)
				}
			}
			for name, change := range map[string]func(*Inclusion){
				"time":   func(p *Inclusion) { p.Leaf[0].Time++ },
				"id":     func(p *Inclusion) { p.Leaf[0].ID += "x" },
				"amount": func(p *Inclusion) { p.Leaf[len(p.Leaf)-1].Micros++ },
				"number": func(p *Inclusion) { p.Leaf[0].Seq++ },
				"hash":   func(p *Inclusion) { p.Leaf[0].Hash[0]++ },
				"last":   func(p *Inclusion) { p.Leaf[len(p.Leaf)-1].Hash[0]++ },
				"before": func(p *Inclusion) { p.Before[3]++ },
				"root":   func(p *Inclusion) { p.Head.Root[3]++ },
				"size":   func(p *Inclusion) { p.Head.Size += int64(n) },
				"less": func(p *Inclusion) { // only the last leaf shows the difference
					if p.Head.Size--; leafOf(p.Head.Size+1) != leafOf(seq) {
						p.Leaf = nil
					}
				},
				"place":   func(p *Inclusion) { p.Seq += store.LeafSize },
				"none":    func(p *Inclusion) { p.Seq = 0 },
				"short":   func(p *Inclusion) { p.Leaf = p.Leaf[:len(p.Leaf)-1] },
				"long":    func(p *Inclusion) { p.Leaf = append(p.Leaf, p.Leaf[0]) },
				"nothing": func(p *Inclusion) { p.Leaf = nil },
				"kind":    func(p *Inclusion) { last(p).Kind = bank.Transfer },
				"escrow":  func(p *Inclusion) { last(p).To = bank.EscrowName(5) },
				"note64":  func(p *Inclusion) { last(p).Note64 = []byte("x") },
				"contract": func(p *Inclusion) {
					if none := int64(bank.NoContract); last(p).Contract == nil {
						last(p).Contract = &none
					} else {
						last(p).Contract = nil
					}
				},
			} {
				p := again()
				change(p)
				if _, _, err := p.Verify(); !errors.Is(err, ErrProof) {
					t.Errorf("entry %d of %d with another %s: %v", seq, n, name, err)
				}
			}
		}
		if _, err := Prove(r.Entries(), int64(n+1)); err == nil {
			t.Errorf("entry %d of %d is proved", n+1, n)
		}
	}
}

// TestCheckpoint checks that opening a signed checkpoint returns the checkpoint, and that an
// audit with it passes for the ledger and fails for a different ledger.
func TestCheckpoint(t *testing.T) {
	t.Parallel()
	fs, other := vfs.NewMem(), vfs.NewMem()
	head := ledger(t, fs, 20)
	ledger(t, other, 19)
	private, public, err := keys.New(rand.NewChaCha8([32]byte{1}), "bank.example")
	check(t, err)
	want := Checkpoint{"bank.example/1", head}
	signed, err := want.Sign(private)
	check(t, err)
	got, err := Open(signed, public)
	if err != nil || got != want {
		t.Fatalf("%v, %v; want %v", got, err, want)
	}
	if got, err := Read(signed); err != nil || got != want {
		t.Errorf("whoever signed it: %v, %v; want %v", got, err, want)
	}
	for what, text := range map[string]string{
		"a size with a leading zero":  strings.Replace(string(signed), "\n20\n", "\n020\n", 1),
		"another signature beside it": string(signed) + "— other 0KEuLwtT\n",
		"a carriage return":           strings.TrimSuffix(string(signed), "\n") + "\r\n",
		"another origin":              strings.Replace(string(signed), "bank.example/1", "bank example", 1),
	} {
		if got, err := Read([]byte(text)); err == nil {
			t.Errorf("%s: it is read as %v", what, got)
		}
		if got, err := Open([]byte(text), public); err == nil {
			t.Errorf("%s: it opens as %v", what, got)
		}
	}
	for i := range signed {
		harmed := bytes.Clone(signed)
		harmed[i] ^= 1
		if _, err := Open(harmed, public); err == nil {
			t.Errorf("byte %d changed: it opens", i)
		}
	}
	_, stranger, err := keys.New(rand.NewChaCha8([32]byte{2}), "bank.example")
	check(t, err)
	if _, err := Open(signed, stranger); err == nil {
		t.Error("it opens with another's key")
	}
	for _, origin := range []string{"", "a b", "a\nb", strings.Repeat("a", 200)} {
		if _, err := (Checkpoint{origin, head}).Sign(private); err == nil {
			t.Errorf("origin %q is signed", origin)
		}
	}
	for fs, clean := range map[vfs.FS]bool{fs: true, other: false} {
		r, err := audit.Audit("ledger", audit.Options{FS: fs, Head: got.Head.String()})
		if err != nil || r.Clean() != clean {
			t.Errorf("audit against the checkpoint: %v, %v; want clean %v", r.Findings, err, clean)
		}
	}
}
