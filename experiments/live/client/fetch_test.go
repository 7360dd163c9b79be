package client

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// packed returns a tar stream of entries. An entry is a file, unless its name is that of a
// folder or its text begins with ->, which makes it a link.
func packed(t *testing.T, all ...[2]string) *bytes.Buffer {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range all {
		h := &tar.Header{Name: e[0], Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(e[1]))}
		if to, ok := strings.CutPrefix(e[1], "-> "); ok {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, to, 0
		} else if strings.HasSuffix(e[0], "/") {
			h.Typeflag = tar.TypeDir
		} else if e[1] == "a pipe" {
			h.Typeflag, h.Size = tar.TypeFifo, 0
		} else if e[1] == "a hard link" {
			h.Typeflag, h.Size, h.Linkname = tar.TypeLink, 0, "/etc/passwd"
		} else if e[1] == "holes" {
			h.PAXRecords = map[string]string{"XXX.sparse.map": "0,5", "XXX.sparse.size": "9", "XXX.sparse.numblocks": "1"}
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write([]byte(e[1])); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.NewBuffer(bytes.ReplaceAll(out.Bytes(), []byte("XXX.sparse"), []byte("GNU.sparse")))
}

// refused returns the names of the refused entries.
func refused(all []Fetched) map[string]string {
	out := make(map[string]string)
	for _, f := range all {
		if f.Refused != "" {
			out[f.Name] = f.Refused
		}
	}
	return out
}

// TestUnpack checks that the files, folders and links of an archive are unpacked and that
// nothing is written outside the folder, by name, by a link or through a link.
func TestUnpack(t *testing.T) {
	t.Parallel()
	outer := t.TempDir()
	dir := filepath.Join(outer, "in", "dir")
	all, err := unpack(dir, packed(t, [2]string{"./"}, [2]string{"sub/"}, [2]string{"sub/a", "an a"}, [2]string{"deep/er/b", "a b"}, [2]string{"sub/up", "-> ../deep/er"}, [2]string{"here", "-> ."},
		[2]string{"../../out", "x"}, [2]string{"/abs", "x"}, [2]string{"sub/../../out", "x"},
		[2]string{"l1", "-> /etc"}, [2]string{"l2", "-> .."}, [2]string{"sub/l3", "-> ../../out"}, [2]string{"l4", "-> here/here/.."}, [2]string{"l5", "-> sub/../.."},
		[2]string{"sub/up/c", "through a link"}, [2]string{"here/d", "through a link"}, [2]string{"sub/a/e", "under a file"},
		[2]string{"p", "a pipe"}, [2]string{"h", "a hard link"}, [2]string{"s", "holes"},
	), false)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"../../out": "it is outside the program's folder", "/abs": "it is outside the program's folder", "../out": "it is outside the program's folder",
		"l1": "the link leads to /etc, outside the program's folder", "l2": "the link leads to .., outside the program's folder", "sub/l3": "the link leads to ../../out, outside the program's folder",
		"l4": "the link leads to here/here/.., outside the program's folder", "l5": "the link leads to sub/../.., outside the program's folder",
		"sub/up/c": "sub/up exists, but is not a folder", "here/d": "here exists, but is not a folder", "sub/a/e": "sub/a exists, but is not a folder",
	}
	for _, name := range []string{"p", "h", "s"} {
		want[name] = "it is neither a file, nor a folder, nor a symbolic link"
	}
	if got := refused(all); !reflect.DeepEqual(got, want) {
		t.Errorf("refused %v, want %v", got, want)
	}
	for name, want := range map[string]string{"sub/a": "an a", "sub/up/b": "a b", "here/deep/er/b": "a b"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if names, err := filepath.Glob(filepath.Join(outer, "*")); err != nil || len(names) != 1 {
		t.Errorf("beside the folder: %v, %v", names, err)
	}
}

// TestUnpackAgain checks that existing files are replaced only with force, and that force
// does not write through a link.
func TestUnpackAgain(t *testing.T) {
	t.Parallel()
	dir, mine := t.TempDir(), filepath.Join(t.TempDir(), "mine")
	if err := errors.Join(os.WriteFile(mine, []byte("mine"), 0o600), os.WriteFile(filepath.Join(dir, "a"), []byte("before"), 0o600), os.Symlink(mine, filepath.Join(dir, "b")),
		os.Mkdir(filepath.Join(dir, "c"), 0o700)); err != nil {
		t.Fatal(err)
	}
	in := packed(t, [2]string{"a", "after"}, [2]string{"b", "after"}, [2]string{"c", "after"}, [2]string{"d/e", "new"}).Bytes()
	for _, force := range []bool{false, true} {
		all, err := unpack(dir, bytes.NewReader(in), force)
		want := map[string]string{"c": "a folder of that name exists"}
		if !force {
			want["a"], want["b"] = "a file of that name exists; use --force to replace it", "a file of that name exists; use --force to replace it"
		}
		if got := refused(all); err != nil || !reflect.DeepEqual(got, want) && !(force && len(got) == 1) {
			t.Errorf("force %v: %v, %v", force, got, err)
		}
		got, err := os.ReadFile(filepath.Join(dir, "a"))
		if want := map[bool]string{false: "before", true: "after"}[force]; err != nil || string(got) != want {
			t.Errorf("force %v: %q, %v, want %s", force, got, err, want)
		}
	}
	if got, err := os.ReadFile(mine); err != nil || string(got) != "mine" {
		t.Errorf("written through a link: %q, %v", got, err)
	}
}

// TestParts checks that a stream is read in parts and that a stream that ends early is not
// mistaken for a complete one.
func TestParts(t *testing.T) {
	t.Parallel()
	text := packed(t, [2]string{"a", strings.Repeat("text", 1000)}).Bytes()
	broken := errors.New("broken off")
	for _, end := range []int{len(text), 2000} {
		_, err := unpack(t.TempDir(), &parts{ask: func(from int64) ([]byte, bool, error) {
			to := min(int(from)+700, len(text))
			if to > end {
				return nil, false, broken
			}
			return text[from:to], to == len(text), nil
		}}, false)
		if want := end < len(text); errors.Is(err, broken) != want {
			t.Errorf("%d of %d bytes: %v", end, len(text), err)
		}
	}
}
