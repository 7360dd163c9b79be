package store

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"bourse/bank"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestAnswer checks that Answer returns the entry of a request: from the current group, from a
// group of many entries, from many small groups, and after reopening. It returns no entry for
// a refused request.
func TestAnswer(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	opts := Options{FS: vfs.NewMem(), BalancesEvery: 10}
	j, err := Create("books", opts)
	if err != nil {
		t.Fatal(err)
	}
	booked := make(map[string]bank.Entry)
	l := bank.New(j)
	for n := range 1300 {
		e := Order{ID: fmt.Sprintf("r%d", n), From: "mint", To: fmt.Sprintf("user:%d", n%7), Amount: bank.Micros(int64(n + 1))}.Entry(float64(n))
		e.Note = []byte{byte(n)}
		if err := l.Book(&e); err != nil {
			t.Fatal(err)
		}
		booked[e.ID] = e
		if n > 600 { // the first group is large
			if err := j.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	last := Order{ID: "last", From: "mint", To: "user:0", Amount: bank.Micros(1)}.Entry(2000)
	if err := l.Book(&last); err != nil {
		t.Fatal(err)
	}
	booked[last.ID] = last
	check := func(s *Sequencer) {
		t.Helper()
		for id, want := range booked {
			if got, ok, err := s.Answer(ctx, id); err != nil || !ok || !reflect.DeepEqual(got, want) {
				t.Fatalf("%s = %v %v %v, want %v", id, got, ok, err, want)
			}
		}
		if e, ok, err := s.Answer(ctx, "refused"); ok || err != nil {
			t.Errorf("an id that is not booked: %v %v %v", e, ok, err)
		}
	}
	s := NewSequencer(j, l)
	if _, err := s.Do(ctx, Order{ID: "refused", From: "user:0", To: "user:1", Amount: bank.Micros(1e9)}.Entry(0)); err == nil {
		t.Error("a transfer of what is not there was booked")
	}
	check(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = OpenSequencer("books", opts); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	check(s)
}

// TestEscrows checks that Escrows returns the open escrows with their balances and owners.
func TestEscrows(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	j, err := Create("books", Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	s := NewSequencer(j, bank.New(j))
	defer s.Close()
	move := func(kind bank.Kind, contract int64, from, to string, micros int64) {
		t.Helper()
		e := bank.Entry{Kind: kind, Contract: contract, Moves: []bank.Move{{From: from, To: to, Amount: bank.Micros(micros)}}}
		if _, err := s.Do(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	move(bank.Issue, bank.NoContract, "mint", "user:a", 10)
	for _, n := range []int64{3, 1, 2} {
		move(bank.Admit, n, "user:a", bank.EscrowName(n), n)
	}
	move(bank.Settle, 2, bank.EscrowName(2), "user:b", 2)
	got, err := s.Escrows(ctx)
	want := []bank.Holding{{Name: "escrow:1", Balance: bank.Micros(1), Owner: "user:a"}, {Name: "escrow:3", Balance: bank.Micros(3), Owner: "user:a"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("escrows = %v %v, want %v", got, err, want)
	}
}
