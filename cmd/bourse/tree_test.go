package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestTree checks that the archive of a folder contains relative names, executable bits and
// links, and that the same content always gives the same bytes. It also checks that links to
// the outside, other kinds of files and large folders are refused, with the name of the entry.
func TestTree(t *testing.T) {
	t.Parallel()
	made := func() string {
		dir := filepath.Join(t.TempDir(), "render")
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "lib", "empty"), 0o700), os.WriteFile(filepath.Join(dir, "run"), []byte("#!/bin/sh"), 0o700),
			os.WriteFile(filepath.Join(dir, "lib", "data"), []byte("x"), 0o600), os.Symlink("../run", filepath.Join(dir, "lib", "again"))); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	one := made()
	data, err := tree(one)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for in := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s%s %o", h.Name, h.Linkname, h.Mode))
	}
	if s := strings.Join(got, ", "); s != "lib/ 755, lib/again../run 755, lib/data 644, lib/empty/ 755, run 755" {
		t.Errorf("%s", s)
	}
	other := made()
	if err := os.Chtimes(filepath.Join(other, "run"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if again, err := tree(other); err != nil || !bytes.Equal(again, data) {
		t.Errorf("the same content gives other bytes, %v", err)
	}
	if baseName(one) != "render/" || baseName(one+"/") != "render/" || baseName(filepath.Join(one, "run")) != "run" {
		t.Errorf("%s, %s", baseName(one), baseName(filepath.Join(one, "run")))
	}
	for name, make := range map[string]func(dir string) error{
		"lib/up leads outside, to ../../x":            func(dir string) error { return os.Symlink("../../x", filepath.Join(dir, "lib", "up")) },
		"passwd leads outside, to /etc/passwd":        func(dir string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, "passwd")) },
		"pipe is neither a file, a folder nor a link": func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600) },
		"found more than 67108864 bytes, at z": func(dir string) error {
			return errors.Join(sparse(filepath.Join(dir, "y")), sparse(filepath.Join(dir, "z")))
		},
		"found more than 10000 files and folders, at ": func(dir string) error {
			for i := range mostTree {
				if err := os.Mkdir(filepath.Join(dir, fmt.Sprint(i)), 0o700); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		dir := made()
		if err := make(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := tree(dir); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %s", err, name)
		}
	}
}

// sparse creates a file of 40 MiB without content.
func sparse(path string) error {
	return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 40<<20))
}
