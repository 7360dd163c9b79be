//go:build linux

package agent

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPack checks that the parts of a checkpoint give the same folder again, and that nothing
// outside the task's folder is read, even if checkpoint is a link. A checkpoint that changes
// while it is read is not sent, and a checkpoint above its limit is refused.
func TestPack(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(outside, "done"), 0o700), os.WriteFile(filepath.Join(outside, "done", "key"), []byte("a secret"), 0o600)); err != nil {
		t.Fatal(err)
	}
	big := bytes.Repeat([]byte("0123456789"), checkpointPart/8)
	for _, c := range []struct {
		name  string
		make  func(dir string) error
		amid  func(dir string) error // called after the first part
		most  int64
		err   error
		holds string // list of the entries that the next try finds
	}{
		{"a file", func(dir string) error { return os.WriteFile(dir+"/done", []byte("7"), 0o600) }, nil, 1e9, nil, "done 1"},
		{"a folder", func(dir string) error {
			return errors.Join(os.MkdirAll(dir+"/done/a/b", 0o755), os.WriteFile(dir+"/done/a/x", big, 0o755), os.Symlink("x", dir+"/done/a/y"))
		}, nil, 1e9, nil, fmt.Sprintf("done/ done/a/ done/a/b/ done/a/x %d done/a/y>x", len(big))},
		{"another one meanwhile", func(dir string) error { return os.WriteFile(dir+"/done", big, 0o600) }, func(dir string) error {
			return errors.Join(os.WriteFile(dir+"/next", big, 0o600), os.Rename(dir+"/next", dir+"/done"))
		}, 1e9, errChanging, ""},
		{"a file removed meanwhile", func(dir string) error {
			return errors.Join(os.MkdirAll(dir+"/done", 0o755), os.WriteFile(dir+"/done/a", big, 0o755), os.WriteFile(dir+"/done/b", big, 0o755))
		}, func(dir string) error { return os.Remove(dir + "/done/b") }, 1e9, errChanging, ""},
		{"too large", func(dir string) error { return os.WriteFile(dir+"/done", big, 0o600) }, nil, 1000, errSize, ""},
		{"a link outside", func(dir string) error { return os.Symlink(outside+"/done", dir+"/done") }, nil, 1e9, nil, "done>" + outside + "/done"},
		{"its folder is a link outside", func(dir string) error { return errors.Join(os.Remove(dir), os.Symlink(outside, dir)) }, nil, 1e9, errSize, ""},
		{"a pipe", func(dir string) error { return unix.Mkfifo(dir+"/done", 0o600) }, nil, 1e9, nil, ""},
	} {
		one := &task{folder: t.TempDir()}
		dir := filepath.Join(one.folder, "dir", "checkpoint")
		if err := errors.Join(os.MkdirAll(dir, 0o700), c.make(dir)); err != nil {
			t.Fatal(err)
		}
		var all bytes.Buffer
		parts := 0
		sums, err := one.pack(c.most, func(data []byte) error {
			if parts++; parts == 1 && c.amid != nil {
				if err := c.amid(dir); err != nil {
					t.Fatal(err)
				}
			}
			all.Write(data)
			return nil
		})
		if !errors.Is(err, c.err) || err == nil && len(sums) != parts || strings.Contains(all.String(), "secret") {
			t.Errorf("%s: %d parts, %v, want %v", c.name, parts, err, c.err)
		}
		if c.err != nil {
			continue
		}
		root, err := os.OpenRoot(t.TempDir())
		if err == nil {
			err = errors.Join(root.Mkdir("checkpoint", 0o700), unpack(root, checkpointName, tar.NewReader(&all), c.most, 0))
		}
		if got := list(root, "checkpoint"); err != nil || got != c.holds {
			t.Errorf("%s: the next try finds %q, %v, want %q", c.name, got, err, c.holds)
		}
	}
}

// list lists the files, links and folders below a folder.
func list(root *os.Root, dir string) string {
	var all []string
	filepath.WalkDir(filepath.Join(root.Name(), dir), func(path string, d os.DirEntry, err error) error {
		name, _ := filepath.Rel(filepath.Join(root.Name(), dir), path)
		switch info, _ := d.Info(); {
		case name == ".":
		case d.IsDir():
			all = append(all, name+"/")
		case d.Type() == os.ModeSymlink:
			to, _ := os.Readlink(path)
			all = append(all, name+">"+to)
		default:
			all = append(all, fmt.Sprint(name, " ", info.Size()))
		}
		return nil
	})
	return strings.Join(all, " ")
}

// TestUnpackCheckpoint checks that entries with other names, of other kinds or through links are
// not written.
func TestUnpackCheckpoint(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	for _, c := range [][]tar.Header{
		{{Name: "checkpoint/other", Typeflag: tar.TypeReg}},
		{{Name: "checkpoint/done/../../../x", Typeflag: tar.TypeReg}},
		{{Name: "/etc/x", Typeflag: tar.TypeReg}},
		{{Name: "checkpoint/done", Typeflag: tar.TypeReg, Size: 1001}},
		{{Name: "checkpoint/done", Typeflag: tar.TypeChar}},
		{{Name: "checkpoint/done", Typeflag: tar.TypeSymlink, Linkname: outside}, {Name: "checkpoint/done/x", Typeflag: tar.TypeReg}},
	} {
		var all bytes.Buffer
		out := tar.NewWriter(&all)
		for i := range c {
			if err := out.WriteHeader(&c[i]); err != nil {
				t.Fatal(err)
			}
		}
		out.Close()
		root, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(root.Mkdir("checkpoint", 0o700), unpack(root, checkpointName, tar.NewReader(&all), 1000, 0)); err == nil {
			t.Errorf("%+v is written: %s", c, list(root, "."))
		}
		if left, _ := os.ReadDir(outside); len(left) > 0 {
			t.Errorf("%+v is written outside", c)
		}
	}
}
