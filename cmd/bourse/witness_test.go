package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// witnessed starts 'bourse witness' with a key of its own for the log books, and returns
// its URL and key. It ends with the test.
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
		go io.Copy(io.Discard, errsOut) //nolint:errcheck // it may say that it was interrupted
		<-done
	})
	return url, strings.TrimSpace(key)
}

// TestWitnessed checks that a log that two of three witnesses sign is published, served and
// audited with their signatures, that a fork of it finds no such witnesses, and that one
// with fewer is not published.
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
	do(statusDone, "bank", "transfer", at("books"), "user:ann", "user:bob", "1", "--id", "2")
	publish(statusDone, "books", "public", append(ask[:4:4], "--quorum", "2")...)

	server := httptest.NewServer(http.FileServer(http.Dir(at("public"))))
	defer server.Close()
	audit := []string{"ledger", "audit", server.URL, "--public", at("key.pub"), "--quorum", "2"}
	do(statusDone, append(audit, trust...)...)
	if out, _ := do(statusAudit, append(audit[:5:5], trust...)...); !strings.Contains(out, "found 2 witnesses of w1, w2, w3, want 3") {
		t.Errorf("with three witnesses wanted: %s", out)
	}

	do(statusDone, "bank", "transfer", at("fork"), "user:ann", "user:cyd", "1", "--id", "2")
	if errs := publish(statusFailed, "fork", "forked", append(ask, "--quorum", "2")...); !strings.Contains(errs, "0 witnesses signed it, want 2: nothing is published") {
		t.Errorf("a fork: %s", errs)
	}
	if _, errs := do(statusUsage, append([]string{"ledger", "audit", at("forked")}, trust...)...); !strings.Contains(errs, "no ledger") {
		t.Errorf("what was not published: %s", errs)
	}
}
