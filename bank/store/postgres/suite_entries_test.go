package postgres_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"bourse/bank"
	"bourse/bank/store"
)

// theReceipt is the receipt of the last order in receipts. The receipt is the same in every
// store.
const theReceipt = "103:WRa7wiCf5plQpYy9sGi9aBCQY3lXTbk54xYE1GIvgeY="

// receipts checks that the same entries give the same receipts in every store, regardless of
// groups.
func receipts(t *testing.T, p Place) {
	s := sequencer(t, p)
	var last store.Receipt
	for n := range 103 {
		e := order(fmt.Sprintf("r%d", n), fmt.Sprintf("user:%d", n%3), fmt.Sprintf("user:%d", (n+1)%3), int64(1+n))
		if n < 3 {
			e = order(fmt.Sprintf("r%d", n), "mint", fmt.Sprintf("user:%d", n), 1e6)
		}
		e.Time = float64(n) / 8
		if last = do(t, s, e); last.Seq != int64(n+1) {
			t.Fatalf("receipt %v for entry %d", last, n+1)
		}
	}
	if last.String() != theReceipt {
		t.Errorf("receipt %v, want %v", last, theReceipt)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := kept(t, p)["r102"]; got != last {
		t.Errorf("entry 103 is read as %v, want %v", got, last)
	}
	clean(t, p, theReceipt)
}

// life checks that a ledger with entries of every kind has the same state and log if it is
// closed and reopened at arbitrary points.
func life(t *testing.T, p Place) {
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 1))
	never, back := bank.New(nil), createAt(t, p, store.Options{BalancesEvery: 3})
	kept := bank.New(back)
	var open []int64
	for n := range 600 {
		e := anyEntry(src, n, &open)
		same := e
		got, want := kept.Book(&e), never.Book(&same)
		if (got == nil) != (want == nil) {
			t.Fatalf("seed %d: %v entry: %v, want %v", seed, e.Kind, got, want)
		}
		if src.IntN(10) == 0 {
			if err := back.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if src.IntN(60) > 0 {
			continue
		}
		if err := back.Close(); err != nil {
			t.Fatal(err)
		}
		var err error
		if back, kept, err = p.Open(store.Options{BalancesEvery: 3}); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		t.Cleanup(func() { back.Close() })
		if got, want := balances(kept), balances(never); !maps.Equal(got, want) {
			t.Fatalf("seed %d: opened with %v, want %v", seed, got, want)
		}
	}
	head := back.Head()
	if err := back.Close(); err != nil {
		t.Fatal(err)
	}
	clean(t, p, head.String())
	r, err := p.Reader()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	leaf, n := store.NewLeaf(store.Genesis()), int64(0)
	for e, hash := range r.Entries() {
		if n%store.LeafSize == 0 && n > 0 {
			leaf = store.NewLeaf(leaf.Hash())
		}
		n++
		leaf.Add(e)
		if want := leaf.Hash(); hash != want || e.Seq != n {
			t.Fatalf("seed %d: entry %d has hash %v, want %v of entry %d", seed, e.Seq, hash, want, n)
		}
	}
	if r.Err() != nil || n != never.Entries() || n != head.Size {
		t.Errorf("seed %d: %d entries, head %v, %v; want %d", seed, n, head, r.Err(), never.Entries())
	}
}

// anyEntry returns a random entry, which may be invalid.
func anyEntry(src *rand.Rand, n int, open *[]int64) bank.Entry {
	user := func() string { return fmt.Sprintf("user:%d", src.IntN(5)) }
	e := bank.Entry{Time: float64(n), Contract: int64(src.IntN(700)), Note: []byte("price=1")}
	move := func(from, to string) {
		e.Moves = append(e.Moves, bank.Move{From: from, To: to, Amount: bank.Micros(1 + src.Int64N(1000))})
	}
	switch src.IntN(8) {
	case 0, 1:
		e.Kind, e.Contract = bank.Issue, bank.NoContract
		move("mint", user())
	case 2:
		e.Kind = bank.Admit
		move(user(), bank.EscrowName(e.Contract))
		*open = append(*open, e.Contract)
	case 3:
		if len(*open) == 0 {
			e.Kind = bank.Reject
			break
		}
		e.Kind, e.Contract = bank.Settle, (*open)[0]
		*open = (*open)[1:]
		move(bank.EscrowName(e.Contract), user())
	case 4:
		e.Kind = bank.Penalty
		move(user(), user())
	case 5:
		e.Kind = bank.Reject
	default:
		e.Kind, e.Contract, e.ID = bank.Transfer, bank.NoContract, fmt.Sprintf("id-%d", n)
		move(user(), user())
	}
	return e
}

// balances returns the nonzero balances of a ledger.
func balances(l *bank.Ledger) map[string]bank.Amount {
	m := make(map[string]bank.Amount)
	for name, b := range l.Balances() {
		if b.Sign() != 0 {
			m[name] = b
		}
	}
	return m
}

// shortfall checks that an account cannot be overdrawn by even a micro-dollar, and that a
// refusal changes nothing.
func shortfall(t *testing.T, p Place) {
	s := sequencer(t, p)
	do(t, s, order("m", "mint", "user:a", 10))
	for range 2 {
		if _, err := s.Do(t.Context(), order("t", "user:a", "user:b", 11)); !errors.Is(err, bank.ErrInsufficientFunds) {
			t.Errorf("11 of 10 micro-dollars: %v", err)
		}
	}
	if r := do(t, s, order("t", "user:a", "user:b", 10)); r.Seq != 2 {
		t.Errorf("after a refusal: %v, want entry 2", r)
	}
}
