package tiles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/export"
	"bourse/bank/store"

	"filippo.io/torchwood"
	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ledger returns the first n entries of a ledger. Two of every three entries have two lines.
// From entry other on, the amounts differ from the amounts of other ledgers.
func ledger(t testing.TB, n, other int) (store.Head, export.Entries) {
	t.Helper()
	fs := vfs.NewMem()
	j, err := store.Create("ledger", store.Options{FS: fs})
	check(t, err)
	l := bank.New(j)
	for i := range n {
		e := bank.Entry{Time: float64(i), Kind: bank.Reject, Contract: int64(i), Note: []byte{'"', byte(i)}}
		if i%3 > 0 {
			amount := bank.Micros(1)
			if i >= other {
				amount = bank.Micros(2)
			}
			e = bank.Entry{Time: float64(i), Kind: bank.Issue, Contract: bank.NoContract, ID: fmt.Sprint(i), Moves: []bank.Move{
				{From: "mint", To: "user:1", Amount: amount}, {From: "mint", To: "user:2", Amount: bank.Micros(2)}}}
		}
		check(t, l.Book(&e))
	}
	check(t, j.Close())
	r, err := store.OpenReader("ledger", store.Options{FS: fs})
	check(t, err)
	t.Cleanup(func() { r.Close() })
	return j.Head(), r.Entries()
}

const never = 1 << 30

// publish writes a ledger and a checkpoint signed with a test key.
func publish(t testing.TB, dir string, n, other int) (*Log, store.Head, error) {
	t.Helper()
	head, entries := ledger(t, n, other)
	l, err := Write(dir, "lab", head, entries)
	if err != nil {
		return nil, head, err
	}
	return l, head, l.Publish(dir, sign(t, l))
}

// sign returns a checkpoint of l signed with a test key.
func sign(t testing.TB, l *Log) []byte {
	t.Helper()
	key, _, err := note.GenerateKey(nil, "lab")
	check(t, err)
	signer, err := note.NewSigner(key)
	check(t, err)
	signed, err := note.Sign(&note.Note{Text: l.String()}, signer)
	check(t, err)
	return signed
}

// TestLog checks that a log that grows in steps equals a log that is written at once, and that
// each version extends the earlier versions. A log read from a folder or a server equals the
// ledger, and its audit confirms the head.
func TestLog(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), t.Context()
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	var older []*Log
	for _, n := range []int{0, 1, 2, 33, 153, 154, 155, 400, 400} {
		grown, head, err := publish(t, dir, n, never)
		check(t, err)
		fresh, _, err := publish(t, t.TempDir(), n, never)
		check(t, err)
		if grown.String() != fresh.String() {
			t.Fatalf("%d entries: grown\n%s, made at once\n%s", n, grown, fresh)
		}
		for _, address := range []string{dir, server.URL} {
			l, err := Open(ctx, address)
			check(t, err)
			for _, o := range older {
				check(t, l.Extends(ctx, o.Checkpoint))
			}
			if got, err := l.Head(); got != head || err != nil {
				t.Errorf("head %v, %v; want %v", got, err, head)
			}
			text, err := io.ReadAll(l.Lines(ctx))
			check(t, err)
			_, entries := ledger(t, n, never)
			var want bytes.Buffer
			check(t, export.Write(&want, "json", entries, export.Options{}))
			if string(text) != want.String() {
				t.Fatalf("%d entries from %s: other lines than the ledger's", n, address)
			}
			r, err := audit.Log(bytes.NewReader(text), audit.Options{Head: head.String(), Whole: true})
			check(t, err)
			if !r.Clean() || r.Entries != int64(n) {
				t.Errorf("audit: %+v", r)
			}
		}
		older = append(older, grown)
	}
	if first := older[0].Checkpoint; first.N != 0 || older[len(older)-1].N != 400+266 {
		t.Errorf("%d and %d lines", first.N, older[len(older)-1].N)
	}
}

// TestFork checks that a ledger that differs in any entry from the published log is refused,
// and that the published log then stays unchanged. It also checks that another log does not
// extend a checkpoint.
func TestFork(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), t.Context()
	l, _, err := publish(t, dir, 200, never)
	check(t, err)
	before := files(t, dir)
	for _, other := range []struct{ n, at int }{{200, 1}, {200, 199}, {300, 100}, {199, never}, {0, never}} {
		if _, _, err := publish(t, dir, other.n, other.at); !errors.Is(err, ErrFork) {
			t.Errorf("%+v: %v", other, err)
		}
		if after := files(t, dir); after != before {
			t.Errorf("%+v: what is published was changed", other)
		}
		if other.n == 0 {
			continue
		}
		fork, _, err := publish(t, t.TempDir(), other.n, other.at)
		check(t, err)
		if err := fork.Extends(ctx, l.Checkpoint); !errors.Is(err, ErrFork) {
			t.Errorf("%+v: extends what was published: %v", other, err)
		}
	}
	head, entries := ledger(t, 200, never)
	if _, err := Write(dir, "other", head, entries); err == nil {
		t.Error("a log was gone on with under another origin")
	}
}

func files(t testing.TB, dir string) string {
	var all strings.Builder
	check(t, filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		fmt.Fprintf(&all, "%s %x\n", name, tlog.RecordHash(b))
		return err
	}))
	return all.String()
}

// TestHarm checks that a reader of the log detects any changed byte and any missing file.
func TestHarm(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, _, err := publish(t, dir, 100, never)
	check(t, err)
	n := 0
	check(t, filepath.WalkDir(filepath.Join(dir, "tile"), func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		whole, err := os.ReadFile(name)
		check(t, err)
		for at := 0; at < len(whole); at += 1 + len(whole)/7 {
			harmed := bytes.Clone(whole)
			harmed[at] ^= 4
			check(t, os.WriteFile(name, harmed, 0o644))
			if err := read(t.Context(), dir); !errors.Is(err, ErrTile) {
				t.Errorf("byte %d of %s is changed: %v", at, name, err)
			}
			n++
		}
		for what, harmed := range map[string][]byte{"a byte less": whole[:len(whole)-1], "a byte more": append(bytes.Clone(whole), 0), "twice": append(bytes.Clone(whole), whole...), "nothing": {}} {
			check(t, os.WriteFile(name, harmed, 0o644))
			if err := read(t.Context(), dir); !errors.Is(err, ErrTile) {
				t.Errorf("%s with %s: %v", name, what, err)
			}
		}
		check(t, os.Remove(name))
		if err := read(t.Context(), dir); !errors.Is(err, ErrTile) {
			t.Errorf("%s is gone: %v", name, err)
		}
		return os.WriteFile(name, whole, 0o644)
	}))
	if err := read(t.Context(), dir); n < 10 || err != nil {
		t.Errorf("%d bytes were changed and mended: %v", n, err)
	}
}

// TestUnread checks that a failing server is not reported as a changed log.
func TestUnread(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, _, err := publish(t, dir, 100, never)
	check(t, err)
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "tile/") {
			http.Error(w, "not today", http.StatusForbidden)
			return
		}
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	if err := read(t.Context(), server.URL); err == nil || errors.Is(err, ErrTile) {
		t.Errorf("a server that forbids: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	l, err := Open(ctx, dir)
	check(t, err)
	cancel()
	if _, err := io.Copy(io.Discard, l.Lines(ctx)); !errors.Is(err, context.Canceled) || errors.Is(err, ErrTile) {
		t.Errorf("given up: %v", err)
	}
}

// TestRecords checks that a reader detects a log with a record that is not exactly one line. If
// a record contained two lines, or the line end, proofs would refer to different records.
func TestRecords(t *testing.T) {
	t.Parallel()
	head, entries := ledger(t, 5, never)
	var text bytes.Buffer
	check(t, export.Write(&text, "json", entries, export.Options{}))
	all := bytes.Split(bytes.TrimSuffix(text.Bytes(), []byte{'\n'}), []byte{'\n'})
	for what, records := range map[string][][]byte{
		"":                  all,
		"two lines in one":  append([][]byte{append(append(bytes.Clone(all[0]), '\n'), all[1]...)}, all[2:]...),
		"a line's end":      append([][]byte{append(bytes.Clone(all[0]), '\n')}, all[1:]...),
		"an empty one":      append([][]byte{{}}, all...),
		"an empty one last": append(all[:len(all):len(all)], nil),
		"a carriage return": append([][]byte{append(bytes.Clone(all[0]), '\r')}, all[1:]...),
	} {
		dir := t.TempDir()
		w := writer{dir: dir}
		for _, r := range records {
			check(t, w.add(r))
		}
		check(t, w.write(false))
		check(t, w.tiles())
		l := &Log{Checkpoint: torchwood.Checkpoint{Origin: "lab", Tree: tlog.Tree{N: w.n}, Extension: fmt.Sprintf("%s%v\n", extension, head)}}
		var err error
		l.Hash, err = tlog.TreeHash(w.n, w.hashes)
		check(t, err)
		check(t, l.Publish(dir, sign(t, l)))
		l, err = Open(t.Context(), dir)
		check(t, err)
		r, err := audit.Log(l.Lines(t.Context()), audit.Options{Head: head.String(), Whole: true})
		if clean := err == nil && r.Clean(); clean != (what == "") {
			t.Errorf("records with %q: clean %v, %v", what, clean, err)
		}
	}
}

// read reads all lines of a log.
func read(ctx context.Context, dir string) error {
	l, err := Open(ctx, dir)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, l.Lines(ctx))
	return err
}
