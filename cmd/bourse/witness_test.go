package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/place"
	"bourse/bank/store"
)

// witnessed starts 'bourse ledger witness' with its own key for the log books. It returns
// the URL and the key of the witness. The witness ends with the test.
func witnessed(t *testing.T, dir, name string) (url, key string) {
	t.Helper()
	file := filepath.Join(dir, name+".key")
	if status, _, errs := bourse(t, t.Context(), "key", "new", "--name", name, file); status != statusDone {
		t.Fatal(errs)
	}
	out, in := io.Pipe()
	errsOut, errsIn := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan int)
	go func() {
		done <- run(ctx, []string{"bourse", "witness", filepath.Join(dir, name), "--key", file, "--log", "books=" + filepath.Join(dir, "key.pub"), "--listen", "127.0.0.1:0"}, strings.NewReader(""), in, errsIn)
	}()
	key, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(errsOut).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, url, ok := strings.Cut(strings.TrimSpace(line), " at ")
	if !ok {
		t.Fatalf("the witness says %q", line)
	}
	t.Cleanup(func() {
		stop()
		go io.Copy(io.Discard, errsOut) //nolint:errcheck // the witness may report that it was interrupted
		<-done
	})
	return url, strings.TrimSpace(key)
}

// TestWitnessed checks a log that two of three witnesses sign. It must be published, served and
// audited with their signatures. A fork of the log must not be signed by witnesses, and a log
// with fewer witnesses must not be published.
func TestWitnessed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	do := func(want int, args ...string) (out, errs string) {
		t.Helper()
		status, out, errs := bourse(t, t.Context(), args...)
		if status != want {
			t.Fatalf("bourse %s: exit status %d, want %d; %s", strings.Join(args, " "), status, want, errs)
		}
		return out, errs
	}
	public, _ := do(statusDone, "key", "new", "--name", "lab", at("key"))
	if err := os.WriteFile(at("key.pub"), []byte(public), 0o600); err != nil {
		t.Fatal(err)
	}
	var ask, trust []string
	for _, name := range []string{"w1", "w2", "w3"} {
		url, key := witnessed(t, dir, name)
		ask, trust = append(ask, "--witness", url+"="+key), append(trust, "--witness", key)
	}
	for _, book := range []string{"books", "fork"} {
		do(statusDone, "bank", "init", at(book))
		do(statusDone, "bank", "mint", at(book), "user:ann", "100", "--id", "1")
	}
	publish := func(want int, book, to string, more ...string) string {
		t.Helper()
		_, errs := do(want, append([]string{"ledger", "publish", at(book), "--origin", "books", "--key", at("key"), "--out", at(to)}, more...)...)
		return errs
	}
	publish(statusDone, "books", "public", ask...)
	then, err := os.ReadFile(at("public/checkpoint"))
	if err == nil {
		err = os.WriteFile(at("then"), then, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	do(statusDone, "bank", "transfer", at("books"), "user:ann", "user:bob", "1", "--id", "2")
	publish(statusDone, "books", "public", append(ask[:4:4], "--quorum", "2")...)

	server := httptest.NewServer(http.FileServer(http.Dir(at("public"))))
	defer server.Close()
	audit := []string{"ledger", "audit", server.URL, "--public", at("key.pub"), "--quorum", "2"}
	do(statusDone, append(audit, trust...)...)
	if out, _ := do(statusAudit, append(audit[:5:5], trust...)...); !strings.Contains(out, "found 2 witnesses of w1, w2, w3, want 3") {
		t.Errorf("with three witnesses wanted: %s", out)
	}

	var extended []string
	for _, name := range []string{"then", "public/checkpoint"} {
		extended = append(extended, "--earlier", at(name))
	}
	if out, _ := do(statusDone, append(append(audit, trust...), append(extended, "--fresh", "1h")...)...); strings.Count(out, "cosigned by w") != 7 {
		t.Errorf("three cosigned one entry, and two two, which are shown twice: %s", out)
	}
	do(statusDone, append(append([]string{"ledger", "audit", at("books"), "--public", at("key.pub"), "--quorum", "2"}, trust...), extended...)...)
	do(statusUsage, append(audit, "--fresh", "1h")...)

	do(statusDone, "bank", "transfer", at("fork"), "user:ann", "user:cyd", "1", "--id", "2")
	if errs := publish(statusFailed, "fork", "forked", append(ask, "--quorum", "2")...); !strings.Contains(errs, "0 witnesses signed the checkpoint, want 2; nothing was published") {
		t.Errorf("a fork: %s", errs)
	}
	if _, errs := do(statusUsage, append([]string{"ledger", "audit", at("forked")}, trust...)...); !strings.Contains(errs, "found no signature to verify") {
		t.Errorf("what was not published: %s", errs)
	}
}

// TestDated checks that the times of cosignatures bound the times of entries. An operator who
// changes the clock books six issues within seconds, dated an hour apart. The audit must name
// these entries if they are dated before the checkpoint that does not contain them, or in the
// future.
func TestDated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	do := func(want int, args ...string) string {
		t.Helper()
		status, out, errs := bourse(t, t.Context(), args...)
		if status != want {
			t.Fatalf("bourse %s: exit status %d, want %d; %s%s", strings.Join(args, " "), status, want, out, errs)
		}
		return out
	}
	public := do(statusDone, "key", "new", "--name", "lab", at("key"))
	if err := os.WriteFile(at("key.pub"), []byte(public), 0o600); err != nil {
		t.Fatal(err)
	}
	url, key := witnessed(t, dir, "w1")
	book := func(id string, now float64) {
		t.Helper()
		s, err := place.At(at("books")).Writer(store.Options{Now: func() float64 { return now }})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Do(t.Context(), store.Order{ID: id, From: "mint", To: "user:ann", Amount: bank.Micros(1)}.Entry(now))
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	publish := func(want int) string {
		t.Helper()
		return do(want, "ledger", "publish", at("books"), "--key", at("key"), "--out", at("public"), "--witness", url+"="+key)
	}
	do(statusDone, "bank", "init", at("books"))
	begun := wall() - 10*3600
	book("first", begun)
	if err := os.WriteFile(at("then"), []byte(publish(statusDone)), 0o600); err != nil {
		t.Fatal(err)
	}
	for n := range 6 {
		book(fmt.Sprint(n), begun+3600*float64(n))
	}
	publish(statusDone)
	audit := []string{"ledger", "audit", at("public"), "--public", at("key.pub"), "--witness", key}
	do(statusDone, audit...)
	for _, args := range [][]string{audit, {"ledger", "audit", at("books"), "--public", at("key.pub"), "--witness", key}} {
		if out := do(statusAudit, append(args, "--earlier", at("then"))...); !strings.Contains(out, "entry 2: found an entry dated") || !strings.Contains(out, " before w1 cosigned the ledger without it") {
			t.Errorf("dated before: %s", out)
		}
	}
	for n := range 6 {
		book(fmt.Sprint("ahead", n), wall()+3600*float64(n+1))
	}
	ahead := regexp.MustCompile("entries 8 to 13: found dates up to (6h0m0s|5h5[0-9]m[0-9]+s) later than the clock of this audit")
	for _, args := range [][]string{{"ledger", "audit", at("books")}, {"bank", "audit", at("books")}} {
		if out := do(statusAudit, args...); !ahead.MatchString(out) {
			t.Errorf("dated ahead: %s", out)
		}
	}
	publish(statusAudit)
}
