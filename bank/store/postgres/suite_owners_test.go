package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/owners"
	"bourse/bank/owners/ownerstest"
	"bourse/bank/store"
)

// owned checks that an owned ledger stays owned: it refuses unsigned entries, even after it was
// closed and reopened at any point or lost under load. It also checks that an order sent
// concurrently by many clients is booked once.
func owned(t *testing.T, p Place) {
	s := sequencer(t, p)
	refused := func(what string, e bank.Entry, why string) {
		t.Helper()
		if _, err := s.Do(t.Context(), e); !errors.Is(err, store.ErrRefused) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", what, err, why)
		}
	}
	do(t, s, order("open", "mint", "user:0", 5))
	for _, e := range ownerstest.Begin() {
		do(t, s, e)
	}
	again := func(lose bool) {
		t.Helper()
		if lose {
			if err := p.Lose(); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil && !lose {
			t.Fatal(err)
		}
		s = reopenAt(t, p)
	}
	for life, lose := range []bool{false, true, false} {
		key := map[bool]string{true: "user:0", false: fmt.Sprint("key", life)}[life == 0]
		refused("an order to move", order(fmt.Sprint("unsigned", life), "user:0", "user:1", 1), "found no signature")
		refused("a mint over its cap", ownerstest.Mint(fmt.Sprint("much", life), "user:0", 1000e6), "the rest of 1000.000000 in these 1000 s")
		do(t, s, ownerstest.Mint(fmt.Sprint("mint", life), "user:0", 100e6))
		var all sync.WaitGroup
		receipts := make([]store.Receipt, 64)
		e := ownerstest.Entry(bank.Transfer, ownerstest.Note([]string{key}, "transfer", fmt.Sprint("t", life), "user:0", "to", "user:1", "amount", "1.000000"), bank.NoContract, ownerstest.Move("user:0", "user:1", 1e6))
		for i := range receipts {
			all.Go(func() {
				var err error
				if receipts[i], err = s.Do(t.Context(), e); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, r := range receipts {
			if r != receipts[0] {
				t.Errorf("receipts %v and %v for one order", r, receipts[0])
			}
		}
		again(lose)
		do(t, s, ownerstest.Says(key, "rotate", fmt.Sprint("rotate", life), "user:0", "key", ownerstest.Public(fmt.Sprint("key", life+1))))
		if life > 0 {
			again(!lose)
		}
		refused("the key of before", ownerstest.Entry(bank.Transfer, ownerstest.Note([]string{key}, "transfer", fmt.Sprint("old", life), "user:0", "to", "user:1", "amount", "1.000000"), bank.NoContract, ownerstest.Move("user:0", "user:1", 1e6)), "not signed by the key of user:0")
		if r := do(t, s, e); r != receipts[0] {
			t.Errorf("receipt %v, then %v", receipts[0], r)
		}
	}
	var got string
	if err := s.Owners(t.Context(), func(o *owners.Owners, now float64) { got = fmt.Sprint(o.Ledger(), o.Accounts(now)[0]) }); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprint(ownerstest.Ledger, owners.Account{Account: "bursar", Key: ownerstest.Public("bursar"), Rights: []string{"mint cap 1000.000000 period 1000 left 697.000000"}}); got != want {
		t.Errorf("owners: %s, want %s", got, want)
	}
	for n := range int64(40) {
		do(t, s, ownerstest.Transfer(fmt.Sprint("many", n), "user:1", "user:2", 1+n))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := p.Audit(audit.Options{Keys: []string{ownerstest.Public("operator"), ownerstest.Public("recovery")}})
	if err != nil || !r.Clean() || r.Mode != "owned" || r.Orders != r.Entries-2 {
		t.Errorf("audit: %+v, %v", r, err)
	}
}
