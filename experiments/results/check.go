package results

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"bourse/bank/whole"
)

// A Change is a file of the results that does not match the manifest.
type Change struct {
	File  string // path of the file within the results
	Found string
	Want  string
}

// String returns the path, the value found and the value wanted.
func (c Change) String() string { return fmt.Sprintf("%s: found %s, want %s", c.File, c.Found, c.Want) }

// Check reads every file listed in the manifest. It returns the missing and changed files in
// order. It ignores other files. It cannot detect a change to a file if the manifest was
// changed accordingly. To detect such a change, compare [Dir.Digest] with a copy stored
// elsewhere. An error means that a file could not be read.
func (d *Dir) Check(ctx context.Context) ([]Change, error) {
	var changes []Change
	if got := hashText(d.Manifest.Scenario); got != d.Manifest.ScenarioSHA256 {
		changes = append(changes, Change{manifestName, "a scenario of sha256 " + got, d.Manifest.ScenarioSHA256})
	}
	for _, name := range slices.Sorted(maps.Keys(d.Manifest.Outputs)) {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			changes = append(changes, Change{manifestName, fmt.Sprintf("output %q", name), "a path within the results"})
			continue
		}
		found, want, err := d.compare(ctx, name)
		if err != nil {
			return nil, err
		}
		if found != want {
			changes = append(changes, Change{name, found, want})
		}
	}
	return changes, nil
}

// Digest returns the SHA-256 hash of the manifest, which covers all files of the results.
func (d *Dir) Digest() string { return d.digest }

// compare returns a description of the named file as it is and as the manifest describes it. If
// the file is unchanged, the two descriptions are equal.
func (d *Dir) compare(ctx context.Context, name string) (found, want string, err error) {
	o := d.Manifest.Outputs[name]
	bytes := func(n int64) string { return fmt.Sprintf("%d bytes", n) }
	f, err := whole.Open(d.file(name))
	var kind *whole.KindError
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ELOOP):
		return "no file", bytes(o.Size), nil
	case errors.As(err, &kind):
		return kind.Kind, bytes(o.Size), nil
	case err != nil:
		return "", "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", "", err
	}
	if info.Size() != o.Size {
		return bytes(info.Size()), bytes(o.Size), nil
	}
	got, err := sum(d.file(name), while{ctx, f})
	return "sha256 " + got.SHA256, "sha256 " + o.SHA256, err
}

// open opens a file for reading. The file must not be larger than the given size. The file
// must match the manifest, unless d is [Dir.Unchecked]. Commands use this method for every
// number that they read from results.
func (d *Dir) open(name string, most int64) (*os.File, error) {
	if !d.unchecked {
		if err := d.Unchanged(name); err != nil {
			return nil, err
		}
	}
	return whole.OpenUpTo(d.file(name), most)
}

// Unchanged returns an error if one of the files does not match the manifest. It also checks
// scenario.yaml against the copy in the manifest. The error states the size or hash that was
// found and the one that was expected. Commands call Unchanged before they use the scenario or
// a file that this package does not read.
func (d *Dir) Unchanged(names ...string) error {
	if got := hashText(d.Manifest.Scenario); got != d.Manifest.ScenarioSHA256 {
		return d.changed(Change{manifestName, "a scenario of sha256 " + got, d.Manifest.ScenarioSHA256})
	}
	if _, ok := d.Manifest.Outputs[scenarioName]; ok {
		names = append(slices.Clip(names), scenarioName)
	}
	for _, name := range names {
		if _, ok := d.Manifest.Outputs[name]; !ok {
			return d.changed(Change{name, "no entry in " + manifestName, "a file with its size and sha256"})
		}
		found, want, err := d.compare(context.Background(), name)
		if err != nil {
			return err
		}
		if found != want {
			return d.changed(Change{name, found, want})
		}
	}
	return nil
}

func (d *Dir) changed(c Change) error {
	c.File = filepath.Join(d.Path, c.File)
	return fmt.Errorf("%s; 'bourse ledger audit %s' lists all changes", c, d.Path)
}

// Unchecked returns a copy of d that reads files even if they do not match the manifest.
// Audits use it, because they describe the differences in more detail.
func (d *Dir) Unchecked() *Dir {
	like := *d
	like.unchecked = true
	return &like
}

// A while is a reader that returns an error after ctx is done.
type while struct {
	ctx context.Context
	io.Reader
}

func (w while) Read(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.Reader.Read(b)
}
