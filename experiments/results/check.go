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
	"strings"
	"syscall"

	"bourse/bank/whole"
)

// A Change is a file of the results that is not as the manifest says.
type Change struct {
	File  string // its path within the results
	Found string
	Want  string
}

// String says which file, what was found and what was wanted.
func (c Change) String() string { return fmt.Sprintf("%s: found %s, want %s", c.File, c.Found, c.Want) }

// Check reads every file that the manifest names, and returns each that is missing or is
// not as it was written, in order. Files that the manifest does not name are no concern
// of it. It cannot tell whether somebody changed files and manifest alike: that needs
// [Dir.Digest], kept elsewhere. An error means that a file could not be read.
func (d *Dir) Check(ctx context.Context) ([]Change, error) {
	var changes []Change
	if got := hashText(d.Manifest.Scenario); got != d.Manifest.ScenarioSHA256 {
		changes = append(changes, Change{manifestName, "a scenario of sha256 " + got, d.Manifest.ScenarioSHA256})
	}
	for _, name := range slices.Sorted(maps.Keys(d.Manifest.Outputs)) {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			changes = append(changes, Change{manifestName, fmt.Sprintf("output %q", name), "one within the results"})
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

// Digest returns the sha256 of the manifest, which stands for all files of the results.
func (d *Dir) Digest() string { return d.digest }

// compare returns what the file called name is and what it should be, in words that are
// the same if it is.
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

// open opens a file of at most so many bytes to read. It must be as the manifest describes
// it, unless d is [Dir.Unchecked]: every number that a command reads of results is read here.
func (d *Dir) open(name string, most int64) (*os.File, error) {
	if !d.unchecked {
		if err := d.Unchanged(name); err != nil {
			return nil, err
		}
	}
	return whole.OpenUpTo(d.file(name), most)
}

// Unchanged returns an error, which names file, size or hash found, and the one wanted, if a
// file is not as the manifest describes it, or scenario.yaml, of which the manifest has a
// copy. Commands ask before they use the scenario, or a file that this package does not read.
func (d *Dir) Unchanged(names ...string) error {
	if got := hashText(d.Manifest.Scenario); got != d.Manifest.ScenarioSHA256 {
		return d.changed(Change{manifestName, "a scenario of sha256 " + got, d.Manifest.ScenarioSHA256})
	}
	if _, ok := d.Manifest.Outputs[scenarioName]; ok {
		names = append(slices.Clip(names), scenarioName)
	}
	for _, name := range names {
		if _, ok := d.Manifest.Outputs[name]; !ok {
			return d.changed(Change{name, "no entry in " + manifestName, "one with its size and sha256"})
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

// Unchecked returns d with files that are read whether they are as the manifest describes
// them or not: for an audit, which reports more about them.
func (d *Dir) Unchecked() *Dir {
	like := *d
	like.unchecked = true
	return &like
}

// while is a reader that ends with ctx.
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

// Verify is [Dir.Check] with what it finds as an error, which names each file.
func (d *Dir) Verify() error {
	changes, err := d.Check(context.Background())
	if err != nil || len(changes) == 0 {
		return err
	}
	var all []string
	for _, c := range changes {
		all = append(all, filepath.Join(d.Path, c.String()))
	}
	return errors.New(strings.Join(all, "\n"))
}
