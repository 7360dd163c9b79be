// Package pinned provides readers with a snapshot of a ledger's directory while another
// process writes to it. Audits and other readers of a ledger in use need such a snapshot.
//
// The package depends on the names of Pebble's files but not on their contents.
package pinned

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// An FS is a snapshot of a directory that another process may be changing. It keeps the files
// of the database open, so that removed files can still be read, and copies the files that
// change. Other files are read from the directory itself.
type FS struct {
	vfs.FS
	dir   string
	names []string
	files map[string]vfs.File // open files by name
}

const (
	pinAttempts  = 20       // number of attempts to open all files
	pinChanges   = 1000     // number of attempts to find a time at which no file is created or removed, on a busy machine
	maxPinnedWAL = 64 << 20 // maximum size of a copied log in bytes; a larger log belongs to a run, whose logs are not reused
)

// Pin returns a snapshot of the directory. Release it with [FS.Close].
func Pin(fsys vfs.FS, dir string) (*FS, error) {
	for attempt := 1; ; attempt++ {
		p := &FS{FS: fsys, dir: dir, files: make(map[string]vfs.File)}
		err := p.pin()
		if err == nil {
			return p, nil
		}
		p.Close()
		if attempt >= pinChanges || attempt >= pinAttempts && !errors.Is(err, errChanged) {
			return nil, err
		}
	}
}

var errChanged = errors.New("files changed while they were opened")

func (p *FS) pin() (err error) {
	if p.names, err = p.list(); err != nil {
		return err
	}
	for _, name := range p.names {
		if !ofDatabase(name) {
			continue
		}
		f, err := p.FS.Open(p.FS.PathJoin(p.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %w", errChanged, err)
		}
		if err != nil {
			return err
		}
		p.files[name] = f
		if isTable(name) {
			continue
		}
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if info.Size() > maxPinnedWAL {
			continue
		}
		b, err := io.ReadAll(f)
		if err != nil {
			return err
		}
		p.files[name] = vfs.NewMemFile(b)
		if err := f.Close(); err != nil {
			return err
		}
	}
	again, err := p.list()
	if err == nil && !slices.Equal(again, p.names) {
		err = errChanged
	}
	return err
}

// ofDatabase reports whether a file belongs to Pebble.
func ofDatabase(name string) bool {
	return isTable(name) || path.Ext(name) == ".log" || strings.HasPrefix(name, "MANIFEST-") || strings.HasPrefix(name, "OPTIONS-") || strings.HasPrefix(name, "marker.")
}

// isTable reports whether a file is a table. Tables never change.
func isTable(name string) bool { return path.Ext(name) == ".sst" }

func (p *FS) list() ([]string, error) {
	names, err := p.FS.List(p.dir)
	slices.Sort(names)
	return names, err
}

// Close closes the files.
func (p *FS) Close() {
	for _, f := range p.files {
		f.Close()
	}
}

// List lists the directory as of the snapshot.
func (p *FS) List(dir string) ([]string, error) {
	if dir != p.dir {
		return p.FS.List(dir)
	}
	return slices.Clone(p.names), nil
}

// Open opens a file as of the time of the snapshot.
func (p *FS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if f, ok := p.files[p.FS.PathBase(name)]; ok && p.FS.PathDir(name) == p.dir {
		return &pinnedFile{File: f}, nil
	}
	return p.FS.Open(name, opts...)
}

// Stat returns information about a file as of the snapshot.
func (p *FS) Stat(name string) (vfs.FileInfo, error) {
	if f, ok := p.files[p.FS.PathBase(name)]; ok && p.FS.PathDir(name) == p.dir {
		return f.Stat()
	}
	return p.FS.Stat(name)
}

// A pinnedFile reads a shared file from its start and does not close it.
type pinnedFile struct {
	vfs.File
	at int64
}

func (f *pinnedFile) Read(b []byte) (int, error) {
	n, err := f.ReadAt(b, f.at)
	f.at += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (f *pinnedFile) Close() error { return nil }
