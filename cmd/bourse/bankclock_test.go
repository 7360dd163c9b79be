package main

import (
	"bufio"
	"context"
	"net"
	"os/exec"
	"path/filepath"
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

// TestServeSetBack checks that a bank goes on from its last entry though the wall clock was
// set back while it was down: who has not seen that may read as before.
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
	o, err := order.Lasting("enrol", ownerstest.Ledger, "later", "operator", "of", "user:late", "key", ownerstest.Public("user:late"))
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
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free, and most likely stays so
	check(err)
	at := l.Addr().String()
	check(l.Close())
	serve := exec.Command("bourse", "bank", "serve", books, "--plain", "--listen", at)
	out, err := serve.StdoutPipe()
	check(err)
	check(serve.Start())
	t.Cleanup(func() {
		serve.Process.Kill()
		serve.Wait()
	})
	if lines := bufio.NewScanner(out); !lines.Scan() {
		t.Fatal("it does not serve")
	}
	began := time.Now()
	c, err := service.NewClient(service.Dial{
		Addresses: []string{"http://" + at}, Account: "user:late", Key: ownerstest.Private("user:late"),
		Now: func() float64 { return later + time.Since(began).Seconds() },
	})
	check(err)
	defer c.Close()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	if _, err := c.Balance(ctx, "user:late"); err != nil {
		t.Error(err)
	}
}
