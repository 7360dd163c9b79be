//go:build linux

package agent

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"bourse/hosts/remote"
)

const (
	mostArchives = 4       // maximum number of archives open at the same time
	mostEntries  = 1 << 17 // maximum number of entries of an archive
)

// An archive is the content of a task's folder, or of a part of the folder, as a tar stream of
// files, folders and symbolic links. It contains no other kinds of files and no files outside
// the folder. Changes that the program makes during the transfer cannot block the reader.
type archive struct {
	task *task
	name string
	root *os.Root
	left []string // remaining paths; the next one is the last element
	file *os.File // file that is being read; nil if there is none
	rest int64    // remaining bytes of this file
	room int64    // maximum number of bytes of the remaining files
	read int      // number of entries read
	seen []sight  // entries of a checkpoint

	buf  bytes.Buffer
	tar  *tar.Writer
	over bool
	at   int64  // offset of part
	part []byte // last part that was read
}

// readArchive returns a part of an archive of t. Parts must be requested in order, but the
// last part may be requested again.
func (a *Agent) readArchive(t *task, l *remote.Log) error {
	i := slices.IndexFunc(a.archives, func(r *archive) bool { return r.task == t && r.name == l.Archive })
	if i < 0 {
		if l.From != 0 {
			return errors.New("the reading was interrupted: request the whole archive again")
		}
		r, err := newArchive(t, l)
		if err != nil {
			return err
		}
		if len(a.archives) == mostArchives {
			a.archives[0].close()
			a.archives = a.archives[1:]
		}
		i, a.archives = len(a.archives), append(a.archives, r)
	}
	r := a.archives[i]
	a.archives = append(slices.Delete(a.archives, i, i+1), r)
	if err := r.next(l.From); err != nil {
		r.close()
		a.archives = a.archives[:len(a.archives)-1]
		return err
	}
	l.Text, l.Size, l.Last = r.part, r.at+int64(len(r.part)), r.over && r.buf.Len() == 0
	return nil
}

// newArchive starts to read a folder.
func newArchive(t *task, l *remote.Log) (*archive, error) {
	outer, err := os.OpenRoot(t.folder)
	if err != nil {
		return nil, err
	}
	defer outer.Close()
	root, err := outer.OpenRoot("dir")
	if err != nil {
		return nil, err
	}
	r := &archive{task: t, name: l.Archive, root: root, room: t.record.Job.Limits.Disk}
	if r.room == 0 {
		r.room = math.MaxInt64
	}
	r.tar = tar.NewWriter(&r.buf)
	for _, name := range slices.Backward(l.Paths) {
		if !filepath.IsLocal(name) {
			err = fmt.Errorf("%q is not in the folder", name)
		} else if _, wrong := root.Lstat(name); wrong != nil {
			err = wrong
		}
		r.left = append(r.left, path.Clean(name))
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	if len(l.Paths) == 0 {
		r.left = []string{"."}
	}
	return r, nil
}

// closeArchives closes the open archives of t.
func (a *Agent) closeArchives(t *task) {
	a.archives = slices.DeleteFunc(a.archives, func(r *archive) bool {
		if r.task == t {
			r.close()
		}
		return r.task == t
	})
}

func (r *archive) close() {
	if r.file != nil {
		r.file.Close()
	}
	r.root.Close()
}

// next moves to the part that starts at the given byte, which must be the next part or the
// current one.
func (r *archive) next(from int64) error {
	if r.part != nil && from == r.at {
		return nil
	}
	if from != r.at+int64(len(r.part)) {
		return fmt.Errorf("found byte %d asked for, want %d: parts are asked for in turn", from, r.at+int64(len(r.part)))
	}
	for r.buf.Len() < mostLog && !r.over {
		if err := r.step(); err != nil {
			return err
		}
	}
	r.at, r.part = from, bytes.Clone(r.buf.Next(mostLog))
	return nil
}

// step reads a small part of the archive.
func (r *archive) step() error {
	switch {
	case r.rest > 0:
		n, err := io.CopyN(r.tar, r.file, min(r.rest, 32<<10))
		if r.rest -= n; err == io.EOF {
			return fmt.Errorf("%s became shorter while it was read", r.file.Name())
		}
		return err
	case r.file != nil:
		err := r.file.Close()
		r.file = nil
		return err
	case len(r.left) == 0:
		r.over = true
		return r.tar.Close()
	}
	name := r.left[len(r.left)-1]
	r.left = r.left[:len(r.left)-1]
	err := r.entry(name)
	if errors.Is(err, fs.ErrNotExist) && r.name != checkpointName {
		return nil // the program has removed the file
	}
	return err
}

// entry starts the archive entry with the given name.
func (r *archive) entry(name string) error {
	if r.read++; r.read > mostEntries {
		return fmt.Errorf("found more than %d files and folders, want some of the paths", mostEntries)
	}
	info, err := r.root.Lstat(name)
	if err != nil {
		return err
	}
	if r.name == checkpointName {
		r.seen = append(r.seen, sight{name, info})
	}
	h := &tar.Header{Name: name, Mode: int64(info.Mode().Perm()), ModTime: info.ModTime()}
	switch info.Mode().Type() {
	case fs.ModeDir:
		h.Name, h.Typeflag = name+"/", tar.TypeDir
		return errors.Join(r.tar.WriteHeader(h), r.folder(name))
	case fs.ModeSymlink:
		h.Typeflag = tar.TypeSymlink
		if h.Linkname, err = r.root.Readlink(name); err != nil {
			return err
		}
		return r.tar.WriteHeader(h)
	case 0:
		return r.open(name, h)
	}
	return nil
}

// folder inserts the contents of a folder before all remaining paths.
func (r *archive) folder(name string) error {
	d, err := r.root.OpenFile(name, unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer d.Close()
	names, err := d.Readdirnames(mostEntries + 1) // longer lists are rejected when they are read
	if err == io.EOF {
		err = nil
	}
	slices.Sort(names)
	for _, n := range slices.Backward(names) {
		r.left = append(r.left, path.Join(name, n))
	}
	return err
}

// open starts to read a file. It skips a file that has been replaced by a different kind of
// file.
func (r *archive) open(name string, h *tar.Header) error {
	f, err := r.root.OpenFile(name, unix.O_NONBLOCK, 0) // this also opens a pipe without a writer
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, f.Close())
	}
	if r.room -= info.Size(); r.room < 0 {
		f.Close()
		return fmt.Errorf("found files of more than the %d bytes that the task may have, at %s", r.task.record.Job.Limits.Disk, name)
	}
	h.Typeflag, h.Size = tar.TypeReg, info.Size()
	r.file, r.rest = f, info.Size()
	return r.tar.WriteHeader(h)
}
