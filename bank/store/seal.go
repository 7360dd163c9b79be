package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// headFile is the name of the file, next to the database, that contains a ledger's head.
const headFile = "HEAD"

const (
	headTitle   = "bourse ledger 2"
	oldTitle    = "bourse ledger 1\n"
	maxHeadFile = 1 << 20 // bytes
	lockFile    = "LOCK"
	sstable     = ".sst" // completely checksummed by Pebble
	unhashed    = "-"
)

// A seal is the content of headFile:
//
//	bourse ledger 2
//	head 118:BASE64
//	acks ACKS
//	kept SHA256 SIZE NAME
//	file SHA256 SIZE NAME
//	end SHA256
//
// A closed ledger has one file line per file except LOCK, sorted by name. An open ledger has no
// file lines. Its acks line states that acksFile contains the entries acknowledged after HEAD
// was written; a reproducible ledger has no such line. A kept line lists a file that is no
// longer written and that Pebble does not read. Such a file may be removed but must not be
// changed. The hash at the end covers all lines before it.
type seal struct {
	head  Head
	acks  bool
	kept  []sealedFile
	files []sealedFile
}

type sealedFile struct {
	sum  string // SHA-256 in hexadecimal; unhashed for an sstable
	size int64
	name string
}

func (s *seal) text() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\nhead %v\n", headTitle, s.head)
	if s.acks {
		fmt.Fprintf(&b, "acks %s\n", acksFile)
	}
	for _, f := range s.kept {
		fmt.Fprintf(&b, "kept %s %d %s\n", f.sum, f.size, f.name)
	}
	for _, f := range s.files {
		fmt.Fprintf(&b, "file %s %d %s\n", f.sum, f.size, f.name)
	}
	fmt.Fprintf(&b, "end %x\n", sha256.Sum256(b.Bytes()))
	return b.Bytes()
}

var errHead = errors.New("was changed since it was written")

// parseSeal accepts only text in the exact form that the method text returns.
func parseSeal(b []byte) (*seal, error) {
	if bytes.HasPrefix(b, []byte(oldTitle)) {
		return nil, ErrFormat
	}
	s := new(seal)
	for line := range strings.Lines(string(b)) {
		if head, ok := strings.CutPrefix(line, "head "); ok {
			h, err := ParseHead(strings.TrimSuffix(head, "\n"))
			if err != nil {
				return nil, errHead
			}
			s.head = h
		}
		if strings.HasPrefix(line, "acks ") {
			s.acks = true
		}
		for word, files := range map[string]*[]sealedFile{"kept": &s.kept, "file": &s.files} {
			if !strings.HasPrefix(line, word+" ") {
				continue
			}
			var f sealedFile
			if _, err := fmt.Sscanf(line, word+" %s %d %s\n", &f.sum, &f.size, &f.name); err != nil {
				return nil, errHead
			}
			*files = append(*files, f)
		}
	}
	if !bytes.Equal(s.text(), b) {
		return nil, errHead
	}
	return s, nil
}

// readSeal returns nil and no error if there is no such file or dir is not a directory.
func readSeal(fsys vfs.FS, dir string) (*seal, error) {
	b, err := readFile(fsys, fsys.PathJoin(dir, headFile), maxHeadFile)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := parseSeal(b)
	if errors.Is(err, ErrFormat) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%s %w", fsys.PathJoin(dir, headFile), err)
	}
	return s, nil
}

// A File is a file of a closed ledger, as listed in HEAD.
type File struct {
	Name   string
	Size   int64
	SHA256 string // SHA-256 in hexadecimal
}

// Files returns the files of the ledger in dir whose hash is in HEAD. It returns no files while
// the ledger is open.
func Files(dir string, opts Options) (files []File, err error) {
	s, err := readSeal(opts.defaults().FS, dir)
	if err != nil || s == nil {
		return nil, err
	}
	for _, f := range s.files {
		if f.sum != unhashed {
			files = append(files, File{f.name, f.size, f.sum})
		}
	}
	return files, nil
}

// write replaces the file atomically and durably.
func (s *seal) write(fsys vfs.FS, dir string) error {
	name := fsys.PathJoin(dir, headFile)
	err := writeFile(fsys, name+".tmp", s.text())
	if err == nil {
		err = fsys.Rename(name+".tmp", name)
	}
	if err == nil {
		err = syncDir(fsys, dir)
	}
	return err
}

// sealFiles lists the files of a closed database. It omits the lock file, which is empty.
func sealFiles(fsys vfs.FS, dir string) ([]sealedFile, error) {
	names, err := fsys.List(dir)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var files []sealedFile
	for _, name := range names {
		if strings.HasPrefix(name, headFile) || name == lockFile || name == unfinishedFile {
			continue
		}
		f, err := sumFile(fsys, dir, name)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

func sumFile(fsys vfs.FS, dir, name string) (sealedFile, error) {
	full := fsys.PathJoin(dir, name)
	info, err := fsys.Stat(full)
	if err != nil {
		return sealedFile{}, err
	}
	sum := unhashed
	if path.Ext(name) != sstable {
		f, err := fsys.Open(full)
		if err != nil {
			return sealedFile{}, err
		}
		defer f.Close()
		h := sha256.New()
		if _, err := io.Copy(h, f); err != nil {
			return sealedFile{}, err
		}
		sum = fmt.Sprintf("%x", h.Sum(nil))
	}
	return sealedFile{sum, info.Size(), name}, nil
}

// keptFiles lists the files of an open database that are no longer written, except tables.
// These are the options file, and the manifests and logs before the ones in use.
func keptFiles(fsys vfs.FS, dir string) (files []sealedFile, err error) {
	names, err := fsys.List(dir)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	inUse := make(map[string]int) // the latest manifest and log
	for _, name := range names {
		kind, number := numbered(name)
		inUse[kind] = max(inUse[kind], number)
	}
	for _, name := range names {
		kind, number := numbered(name)
		if kind == "" || kind != "OPTIONS" && number == inUse[kind] {
			continue
		}
		f, err := sumFile(fsys, dir, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // Pebble has just removed the file
		}
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// numbered returns the kind and number of a Pebble file. For tables, markers and other files
// the kind is empty.
func numbered(name string) (kind string, number int) {
	kind, digits, _ := strings.Cut(name, "-")
	if log, ok := strings.CutSuffix(name, ".log"); ok {
		kind, digits = "log", log
	}
	n, err := strconv.Atoi(digits)
	if err != nil || kind != "log" && kind != "MANIFEST" && kind != "OPTIONS" {
		return "", 0
	}
	return kind, n
}

// check compares the files of a closed ledger with the seal and names the first file that
// differs.
func (s *seal) check(fsys vfs.FS, dir string) error {
	files, err := sealFiles(fsys, dir)
	if err != nil {
		return err
	}
	found := make(map[string]sealedFile)
	for _, f := range files {
		found[f.name] = f
	}
	for _, want := range s.files {
		f, ok := found[want.name]
		switch {
		case !ok:
			return fmt.Errorf("%s was removed since the ledger was closed", fsys.PathJoin(dir, want.name))
		case f != want:
			return fmt.Errorf("%s was changed since the ledger was closed", fsys.PathJoin(dir, want.name))
		}
		delete(found, want.name)
	}
	if !s.acks {
		delete(found, acksFile) // an interrupted opening may have created ACKS
	}
	for name := range found {
		return fmt.Errorf("%s was added since the ledger was closed", fsys.PathJoin(dir, name))
	}
	return nil
}

func readFile(fsys vfs.FS, name string, max int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, max))
}

// writeFile writes b to a new file and syncs it. The file system may modify b. The name is not
// durable until the directory is synced.
func writeFile(fsys vfs.FS, name string, b []byte) error {
	f, err := fsys.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

func syncDir(fsys vfs.FS, dir string) error {
	d, err := fsys.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
