package main

import (
	"bufio"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bourse/bank"
	"bourse/bank/order"
	"bourse/bank/owners"
	"bourse/bank/owners/ownerstest"
	"bourse/bank/place"
	"bourse/bank/service"
	"bourse/bank/store"
)

// TestServeSetBack checks that a bank judges orders by the wall clock even if its last entry is
// dated an hour ahead because of a wrong clock. Accounts can be read. Orders are refused
// because of the clock and may be sent again.
func TestServeSetBack(t *testing.T) {
	t.Parallel()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	books := filepath.Join(t.TempDir(), "books")
	j, err := place.At(books).Create(store.Options{})
	check(err)
	s := store.NewSequencer(j, bank.New(j))
	later := wall() + 3600
	o, err := order.For("enrol", ownerstest.Ledger, "later", "operator", later+600, "of", "user:late", "key", ownerstest.Public("user:late"))
	check(err)
	signed, err := order.Sign([]byte(o.String()), ownerstest.Private("operator"))
	check(err)
	last, err := owners.Entry(signed, later)
	check(err)
	for _, e := range append(ownerstest.Begin(), last) {
		_, err := s.Do(t.Context(), e)
		check(err)
	}
	check(s.Close())
	serve := exec.Command("bourse", "bank", "serve", books, "--plain", "--listen", "127.0.0.1:0")
	out, err := serve.StdoutPipe()
	check(err)
	check(serve.Start())
	t.Cleanup(func() {
		serve.Process.Kill()
		serve.Wait()
	})
	lines := bufio.NewScanner(out)
	lines.Scan()
	address, ok := strings.CutPrefix(lines.Text(), "address ")
	if !ok {
		t.Fatalf("it does not serve: %s", lines.Text())
	}
	c, err := service.NewClient(service.Dial{
		Addresses: []string{address}, Account: "user:late", Key: ownerstest.Private("user:late"),
		Now: wall,
	})
	check(err)
	defer c.Close()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	if _, err := c.Balance(ctx, "user:late"); err != nil {
		t.Error(err)
	}
	o, err = order.For("transfer", ownerstest.Ledger, "rent", "user:0", wall()+600, "to", "user:1", "amount", "0.000001")
	check(err)
	signed, err = order.Sign([]byte(o.String()), ownerstest.Private("user:0"))
	check(err)
	e, err := owners.Entry(signed, wall())
	check(err)
	if _, err := c.Do(ctx, e); !errors.Is(err, store.ErrClock) {
		t.Errorf("a transfer: %v, want %v", err, store.ErrClock)
	}
}
