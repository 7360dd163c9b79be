package client

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/oklog/ulid/v2"

	"bourse/experiments/live/service"
)

// A Fetched describes a file of a task's folder: that it was copied, or why it was refused.
type Fetched struct {
	Name    string `json:"name" doc:"path relative to the program's folder"`
	Bytes   int64  `json:"bytes,omitempty" doc:"size of a file"`
	Refused string `json:"refused,omitempty" doc:"reason for the refusal"`
}

// Fetch copies the files in the folder of a contract's node to a local folder. It returns a
// list of these files. If paths are given, it copies only those paths. It replaces existing
// files only if force is set. It refuses files that would be written outside dir, whatever the
// host sends.
func (c *Client) Fetch(ctx context.Context, id int64, node int, dir string, paths []string, force bool) ([]Fetched, error) {
	a := service.Archive{Node: node, Name: ulid.Make().String(), Paths: paths}
	return unpack(dir, &parts{ask: func(from int64) (part []byte, last bool, err error) {
		err = c.waitOut(ctx, func() error {
			signed, err := c.about("read", id, reads)
			if err != nil {
				return err
			}
			part, last, err = c.Files(ctx, signed, a, from)
			return err
		})
		return part, last, err
	}}, force)
}

// A parts reads an archive that arrives in parts.
type parts struct {
	ask  func(from int64) (part []byte, last bool, err error)
	from int64 // offset of the next part
	left []byte
	last bool
}

func (p *parts) Read(b []byte) (int, error) {
	for len(p.left) == 0 {
		if p.last {
			return 0, io.EOF
		}
		var err error
		if p.left, p.last, err = p.ask(p.from); err != nil {
			return 0, err
		}
		if len(p.left) == 0 && !p.last {
			return 0, io.ErrNoProgress
		}
		p.from += int64(len(p.left))
	}
	n := copy(b, p.left)
	p.left = p.left[n:]
	return n, nil
}

// unpack unpacks a tar stream into a folder. It creates the folder if necessary.
func unpack(dir string, in io.Reader, force bool) (all []Fetched, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	u := unpacking{root, tar.NewReader(in), force}
	for {
		h, err := u.in.Next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		one := Fetched{Name: path.Clean(h.Name)}
		if one.Name == "." {
			continue
		}
		err = u.take(h, one.Name)
		var no refusal
		switch {
		case errors.As(err, &no):
			one.Refused = string(no)
		case err != nil:
			return all, err
		case h.Typeflag == tar.TypeReg:
			one.Bytes = h.Size
		}
		all = append(all, one)
	}
}

// A refusal is the reason why an entry of an archive is not unpacked.
type refusal string

func (r refusal) Error() string { return string(r) }

// An unpacking writes the entries of an archive to a folder.
type unpacking struct {
	root  *os.Root
	in    *tar.Reader
	force bool
}

// take unpacks the entry h under the given name.
func (u *unpacking) take(h *tar.Header, name string) error {
	if !filepath.IsLocal(name) {
		return refusal("it is outside the program's folder")
	}
	for at := strings.IndexByte(name, '/'); at >= 0; {
		if err := u.folder(name[:at]); err != nil {
			return err
		}
		next := strings.IndexByte(name[at+1:], '/')
		if next < 0 {
			break
		}
		at += next + 1
	}
	switch {
	case h.Typeflag == tar.TypeDir:
		return u.folder(name)
	case h.Typeflag == tar.TypeSymlink && leaves(name, h.Linkname):
		return refusal(fmt.Sprintf("the link leads to %s, outside the program's folder", h.Linkname))
	case h.Typeflag == tar.TypeSymlink:
		return u.make(name, func() error { return u.root.Symlink(h.Linkname, name) })
	case h.Typeflag == tar.TypeReg && !sparse(h):
		return u.file(h, name)
	}
	return refusal("it is neither a file, nor a folder, nor a symbolic link")
}

// folder creates a folder unless it exists. A symbolic link to a folder does not count as a
// folder.
func (u *unpacking) folder(name string) error {
	err := u.root.Mkdir(name, 0o777)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := u.root.Lstat(name)
	if err == nil && !info.IsDir() {
		return refusal(name + " exists, but is not a folder")
	}
	return err
}

// make calls f, which creates the given file. If files may be replaced, make first removes an
// existing file.
func (u *unpacking) make(name string, f func() error) error {
	info, err := u.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f()
	case err != nil:
		return err
	case info.IsDir():
		return refusal("a folder of that name exists")
	case !u.force:
		return refusal("a file of that name exists; use --force to replace it")
	}
	if err := u.root.Remove(name); err != nil {
		return err
	}
	return f()
}

// file takes a file.
func (u *unpacking) file(h *tar.Header, name string) error {
	return u.make(name, func() error {
		f, err := u.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666|fs.FileMode(h.Mode)&0o111)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, u.in)
		if err = errors.Join(err, f.Close()); err == nil {
			return u.root.Chtimes(name, h.ModTime, h.ModTime)
		}
		return errors.Join(err, u.root.Remove(name))
	})
}

// sparse reports whether h is a file with holes. A host could claim that such a file has any
// size.
func sparse(h *tar.Header) bool {
	for name := range h.PAXRecords {
		if strings.HasPrefix(name, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// leaves reports whether a symbolic link with the given name may lead out of the folder. In
// the target of a permitted link, every ".." must come first, because only there is its effect
// known. After another path element, which could be a link itself, a ".." could lead anywhere.
func leaves(name, to string) bool {
	if path.IsAbs(to) {
		return true
	}
	above, down := strings.Count(name, "/"), false
	for part := range strings.SplitSeq(to, "/") {
		switch part {
		case "", ".":
		case "..":
			if above--; above < 0 || down {
				return true
			}
		default:
			down = true
		}
	}
	return false
}
