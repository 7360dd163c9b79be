//go:build unix

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
	"syscall"
	"testing"
	"time"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/tlog"
)

// A mirror serves a log, and misbehaves for paths with one of the prefixes.
type mirror struct {
	dir, prefix string
	attack      func(http.ResponseWriter, *http.Request)
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, m.prefix) {
		m.attack(w, r)
		return
	}
	http.FileServer(http.Dir(m.dir)).ServeHTTP(w, r)
}

// TestHostileMirror checks that reading the log of a mirror that is silent, slow or endless for
// any file ends within the time limit and after a limited number of bytes.
func TestHostileMirror(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, _, err := publish(t, dir, 1000, never)
	check(t, err)
	older := l.Checkpoint
	older.N, older.Hash = 3, tlog.Hash{}
	attacks := map[string]func(http.ResponseWriter, *http.Request){
		"silent": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"silent after its headers": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			check(t, http.NewResponseController(w).Flush())
			<-r.Context().Done()
		},
		"slow": func(w http.ResponseWriter, r *http.Request) {
			for tick := time.NewTicker(20 * time.Millisecond); ; {
				select {
				case <-r.Context().Done():
					return
				case <-tick.C:
				}
				w.Write([]byte{'x'})
				if http.NewResponseController(w).Flush() != nil {
					return
				}
			}
		},
		"endless": func(w http.ResponseWriter, r *http.Request) {
			const buffers = 16 << 20 // maximum size of the buffers between server and reader
			most := mostRoom + buffers
			if r.URL.Path == "/checkpoint" {
				most = 64<<10 + buffers
			}
			for block := make([]byte, 1<<16); ; most -= len(block) {
				if _, err := w.Write(block); err != nil {
					break
				}
			}
			if most < 0 {
				t.Errorf("an endless %s was taken", r.URL.Path)
			}
		},
		"busy": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "1000000")
			w.WriteHeader(http.StatusServiceUnavailable)
		},
		"in a circle": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) },
	}
	for what, attack := range attacks {
		for _, prefix := range []string{"/checkpoint", "/tile/0", "/tile/1", "/tile/entries"} {
			t.Run(what+prefix, func(t *testing.T) {
				t.Parallel()
				s := httptest.NewServer(&mirror{dir: dir, prefix: prefix, attack: attack})
				defer s.Close()
				defer s.CloseClientConnections()
				patience := time.Minute
				if what != "endless" {
					patience = 200 * time.Millisecond
				}
				began := time.Now()
				l, err := open(t.Context(), s.URL, patience)
				if err == nil {
					if _, err = io.Copy(io.Discard, l.Lines(t.Context())); err == nil || errors.Is(err, ErrTile) != (what == "endless") {
						t.Errorf("read: %v", err)
					}
					if prefix != "/tile/entries" {
						err = l.Extends(t.Context(), older)
					}
				}
				if took := time.Since(began); err == nil || took > 20*time.Second {
					t.Errorf("after %v: %v", took, err)
				}
			})
		}
	}
}

// TestHostileFolder checks that reading a folder fails without blocking if a file in it is a
// pipe, an endless device or very large.
func TestHostileFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, _, err := publish(t, dir, 1000, never)
	check(t, err)
	var names []string
	check(t, filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	}))
	head, entries := ledger(t, 1000, never)
	for _, name := range names {
		check(t, os.Rename(name, name+".kept"))
		for kind, place := range map[string]func() error{
			"pipe":   func() error { return syscall.Mkfifo(name, 0o600) },
			"device": func() error { return os.Symlink("/dev/zero", name) },
			"large":  func() error { return errors.Join(os.WriteFile(name, nil, 0o600), os.Truncate(name, 1<<40)) },
		} {
			check(t, place())
			done := make(chan error, 1)
			go func() {
				err := read(context.Background(), dir)
				if filepath.Base(name) == checkpointFile && err != nil {
					_, err = Write(dir, "lab", head, entries) // Write continues after the published part
				}
				done <- err
			}()
			select {
			case err := <-done:
				if err == nil || !errors.Is(err, ErrTile) && filepath.Base(name) != checkpointFile {
					t.Errorf("%s is a %s: %v", name, kind, err)
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("%s is a %s, and still waited for", name, kind)
			}
			check(t, os.Remove(name))
		}
		check(t, os.Rename(name+".kept", name))
	}
	check(t, read(t.Context(), dir))
	if len(names) < 10 {
		t.Errorf("found %d files", len(names))
	}
}

// TestLargeRecords checks that a log can be read if its bundles are too large to be read
// together.
func TestLargeRecords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := writer{dir: dir}
	const n = 3*torchwood.TileWidth + 7
	for i := range n {
		check(t, w.add(append(bytes.Repeat([]byte{'x'}, most-8), fmt.Sprintf("%8d", i)...)))
	}
	check(t, w.write(false))
	check(t, w.tiles())
	l := &Log{Checkpoint: torchwood.Checkpoint{Origin: "lab", Tree: tlog.Tree{N: w.n}}}
	var err error
	l.Hash, err = tlog.TreeHash(w.n, w.hashes)
	check(t, err)
	check(t, l.Publish(dir, sign(t, l)))
	l, err = Open(t.Context(), dir)
	check(t, err)
	if got, err := io.Copy(io.Discard, l.Lines(t.Context())); err != nil || got != n*(most+1) {
		t.Errorf("read %d bytes, %v; want %d", got, err, n*(most+1))
	}
}
