//go:build linux

package agent

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"bourse/hosts/remote"
)

// left returns an agent with task 1, and the folder of the task.
func left(t *testing.T) (*Agent, *task, string) {
	t.Helper()
	one := &task{number: 1, folder: t.TempDir()}
	dir := filepath.Join(one.folder, "dir")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return &Agent{tasks: map[string]*task{"1.0.1": one}}, one, dir
}

// entries reads a whole archive and returns the type and content of each entry by name.
func entries(a *Agent, paths ...string) (map[string]string, error) {
	var all bytes.Buffer
	for {
		l := a.part(remote.Log{Name: 1, Archive: "x", Paths: paths, From: int64(all.Len())})
		if l.Fault != "" {
			return nil, errors.New(l.Fault)
		}
		if len(l.Text) > mostLog {
			return nil, fmt.Errorf("a part of %d bytes", len(l.Text))
		}
		all.Write(l.Text)
		if l.Last {
			break
		}
	}
	a.archives = nil
	out := make(map[string]string)
	for in := tar.NewReader(&all); ; {
		h, err := in.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(in)
		if err != nil {
			return nil, err
		}
		out[h.Name] = fmt.Sprintf("%c%s%.9s", h.Typeflag, h.Linkname, text)
	}
}

// TestArchive checks that an archive contains the files, folders and links of a task, whatever
// else its folder contains; that nothing outside the folder is read; and that nothing blocks
// the reader.
func TestArchive(t *testing.T) {
	t.Parallel()
	a, one, dir := left(t)
	outside := filepath.Join(t.TempDir(), "secret")
	big := bytes.Repeat([]byte("big file\n"), mostLog/4)
	if err := errors.Join(
		os.WriteFile(outside, []byte("a secret"), 0o600), os.WriteFile(filepath.Join(one.folder, "task.json"), []byte("its own"), 0o600),
		os.MkdirAll(filepath.Join(dir, "sub", "empty"), 0o700),
		os.WriteFile(filepath.Join(dir, "sub", "big"), big, 0o600), os.WriteFile(filepath.Join(dir, "a"), []byte("an a"), 0o700),
		os.Symlink(outside, filepath.Join(dir, "out")), os.Symlink(filepath.Dir(outside), filepath.Join(dir, "outer")), os.Symlink("..", filepath.Join(dir, "up")),
		os.Symlink("sub", filepath.Join(dir, "in")), unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	got, err := entries(a)
	want := map[string]string{
		"./": "5", "a": "0an a", "in": "2sub", "out": "2" + outside, "outer": "2" + filepath.Dir(outside), "up": "2..", "sub/": "5", "sub/big": "0big file\n", "sub/empty/": "5",
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if got, err := entries(a, "sub/empty", "a"); err != nil || len(got) != 2 {
		t.Errorf("two paths: %v, %v", got, err)
	}
	if got, err := entries(a, "in/big"); err != nil || got["in/big"] != "0big file\n" {
		t.Errorf("through a link in the folder: %v, %v", got, err)
	}
	for _, path := range []string{"outer/secret", "up/task.json", "../task.json", outside, "none", ""} {
		if got, err := entries(a, path); err == nil {
			t.Errorf("%s: %v", path, got)
		}
	}
	if err := errors.Join(os.Rename(dir, dir+".away"), os.Symlink(filepath.Dir(outside), dir)); err != nil {
		t.Fatal(err)
	}
	if got, err := entries(a); err == nil {
		t.Errorf("a folder that is a link: %v", got)
	}
}

// TestArchiveOpens checks that the reader does not wait for a pipe that replaced a file or
// folder.
func TestArchiveOpens(t *testing.T) {
	t.Parallel()
	_, one, dir := left(t)
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := newArchive(one, &remote.Log{Archive: "x"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	if err := r.open("pipe", &tar.Header{Name: "pipe"}); err != nil || r.file != nil || r.buf.Len() > 0 {
		t.Errorf("a pipe as a file: %v, %v", r.file, err)
	}
	if err := r.folder("pipe"); err == nil {
		t.Error("a pipe is a folder")
	}
}

// TestArchiveParts checks that parts can be read in order or repeated, that a request at offset
// 0 starts a new archive, and that files cannot exceed the task's limit.
func TestArchiveParts(t *testing.T) {
	t.Parallel()
	a, one, dir := left(t)
	if err := os.WriteFile(filepath.Join(dir, "big"), make([]byte, 3*mostLog), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func(name string, from int) remote.Log {
		return a.part(remote.Log{Name: 1, Archive: name, From: int64(from)})
	}
	if l := ask("x", mostLog); !strings.Contains(l.Fault, "was interrupted") {
		t.Errorf("its middle first: %q", l.Fault)
	}
	first := ask("x", 0)
	if again := ask("x", 0); len(first.Text) != mostLog || !bytes.Equal(again.Text, first.Text) || again.Last {
		t.Errorf("%d bytes, and %d of the same, %q", len(first.Text), len(again.Text), first.Fault)
	}
	if l := ask("x", 7); !strings.Contains(l.Fault, "in turn") {
		t.Errorf("elsewhere: %q", l.Fault)
	}
	for i := range mostArchives + 1 {
		ask(fmt.Sprint(i), 0)
	}
	if l := ask("0", mostLog); len(a.archives) != mostArchives || !strings.Contains(l.Fault, "was interrupted") {
		t.Errorf("%d are read at once: %q", len(a.archives), l.Fault)
	}
	one.record.Job.Limits.Disk = 3*mostLog - 1
	if l := ask("more", 0); !strings.Contains(l.Fault, "may have, at big") {
		t.Errorf("more than its limit: %q", l.Fault)
	}
	if err := os.Truncate(filepath.Join(dir, "big"), 10); err != nil {
		t.Fatal(err)
	}
	if l := ask("4", mostLog); !strings.Contains(l.Fault, "became shorter") {
		t.Errorf("a file that was cut: %q", l.Fault)
	}
	if l := a.part(remote.Log{Name: 2, Archive: "x"}); !strings.Contains(l.Fault, "no longer stored") {
		t.Errorf("another task: %q", l.Fault)
	}
}
