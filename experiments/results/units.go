package results

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"bourse/bank/whole"
)

// A Plan says what a run is to find out, so that parts of another are not taken for its
// own.
type Plan struct {
	Kind         string            `json:"kind"`
	Format       int               `json:"format"`
	Scenario     string            `json:"scenario"` // as run
	Replications int               `json:"replications"`
	Alike        []string          `json:"alike,omitempty"` // configurations whose replications all have the same jobs and hosts
	Tables       string            `json:"tables"`
	Ledgers      bool              `json:"ledgers"` // of every replication
	Inputs       map[string]string `json:"inputs"`  // sha256 of every log, plan and trace read, by path as given
	Source       map[string]string `json:"source"`  // the scenario file, likewise
	Version      string            `json:"version"` // of the program, and its revision
	Command      []string          `json:"command"` // how to run it again
	Notes        []string          `json:"notes"`   // what a reader must know beside
	Units        []string          `json:"units"`   // all, in order
}

const (
	planName  = "plan.json"
	planKind  = "bourse units"
	planForm  = 2
	unitKind  = ".unit"
	ledgerDir = "ledger"
)

// Units is a directory that keeps the units of a run, a file each, until all are there:
// a run that was stopped goes on, and several machines can share one. A file is written
// under another name, made durable and renamed, so that what is there is whole.
type Units struct {
	Dir  string
	Plan Plan
	lock *os.File
}

// An OtherError is two plans for one directory.
type OtherError struct {
	Dir         string
	Found, Want Plan
	Whole       bool // found are results that are complete
}

// Error names the folder.
func (e *OtherError) Error() string { return e.Dir + " has units of another run" }

// Unfinished returns where a run of the results directory dir keeps its units until it is
// complete.
func Unfinished(dir string) (string, error) {
	dir, err := place(dir)
	return filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+".units"), err
}

// OpenUnits makes the directory of units for plan, or finds it: the error is an [*OtherError]
// if it was made for another plan, of which replications may be fewer or more. Until
// [Units.Close] it is the caller's alone, or of those who share it, who write other units
// or the same ones.
func OpenUnits(dir string, plan Plan, shared bool) (*Units, error) {
	plan.Kind, plan.Format = planKind, planForm
	plan.Version = program()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	lock := lockDir
	if shared {
		lock = shareDir
	}
	held, err := lock(dir)
	if errors.Is(err, ErrBusy) {
		return nil, fmt.Errorf("%s: %w", dir, ErrBusy)
	}
	u := &Units{dir, plan, held} // without a lock where there are none
	if err := u.open(shared); err != nil {
		u.Close()
		return nil, err
	}
	return u, nil
}

func (u *Units) open(shared bool) error {
	found, err := readPlan(u.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		entries, err := os.ReadDir(u.Dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") { // else another begins, too
				return fmt.Errorf("%s: %w: it has no %s", u.Dir, ErrNotResults, planName)
			}
		}
	case err != nil:
		return err
	case !found.Same(&u.Plan):
		return &OtherError{Dir: u.Dir, Found: found, Want: u.Plan}
	case slices.Equal(found.Units, u.Plan.Units):
		u.Plan = found // of who began it
	}
	if !shared {
		drafts, _ := filepath.Glob(filepath.Join(u.Dir, ".*")) // of who was killed
		for _, d := range drafts {
			if err := os.RemoveAll(d); err != nil {
				return err
			}
		}
	}
	text, err := json.MarshalIndent(u.Plan, "", "  ")
	if err != nil {
		return err
	}
	return u.write(planName, func(f io.Writer) error { _, err := f.Write(append(text, '\n')); return err })
}

// program says which program this is: its version and revision, or, where it is of no
// revision, its build ID or else its own hash.
var program = sync.OnceValue(func() string {
	v := BuildVersion()
	which := v.Revision
	if v.Modified != "false" {
		if path, err := os.Executable(); err == nil {
			if id, err := buildID(path); err == nil {
				which = id
			} else if sum, err := HashFile(path); err == nil {
				which = sum
			}
		}
	}
	return v.Version + " " + which
})

// Same reports whether units of p are of other, too: of the same experiment, but for the
// number of replications.
func (p *Plan) Same(other *Plan) bool {
	return fixed(p.Scenario) == fixed(other.Scenario) && p.Tables == other.Tables && p.Ledgers == other.Ledgers &&
		p.Version == other.Version && maps.Equal(p.Inputs, other.Inputs)
}

// fixed returns a scenario without the number of its replications.
func fixed(scenario string) string {
	var b strings.Builder
	for line := range strings.Lines(scenario) {
		if !strings.HasPrefix(line, "replications:") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// ReadUnits opens a directory of units to read.
func ReadUnits(dir string) (*Units, error) {
	plan, err := readPlan(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: %w: it has no %s, as run --shard writes", dir, ErrNotResults, planName)
	}
	return &Units{Dir: dir, Plan: plan}, err
}

func readPlan(dir string) (p Plan, err error) {
	path := filepath.Join(dir, planName)
	text, err := whole.Read(path, maxManifest)
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(text, &p); err != nil || p.Kind != planKind || p.Format != planForm {
		return p, fmt.Errorf("%s: found no plan of this version of bourse, want kind %q and format %d", path, planKind, planForm)
	}
	return p, nil
}

// Close lets others have the directory.
func (u *Units) Close() {
	if u.lock != nil {
		u.lock.Close()
		u.lock = nil
	}
}

// Leave is Close, and removes the directory if no unit is in it.
func (u *Units) Leave() {
	if names, err := u.Names(); err == nil && len(names) == 0 {
		u.Remove()
		return
	}
	u.Close()
}

// Remove removes the directory with all that is in it, the plan last: what is left by a
// run that is killed meanwhile is a directory of units.
func (u *Units) Remove() error {
	defer u.Close()
	entries, err := os.ReadDir(u.Dir)
	for _, e := range entries {
		if e.Name() != planName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(u.Dir, e.Name())))
		}
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(u.Dir)
}

// Forget removes the units in dir, unless a run is writing them.
func Forget(dir string) error {
	plan, err := readPlan(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	lock, err := lockDir(dir)
	if errors.Is(err, ErrBusy) {
		return fmt.Errorf("%s: %w", dir, ErrBusy)
	}
	return (&Units{dir, plan, lock}).Remove()
}

// Path implements [Source].
func (u *Units) Path() string { return u.Dir }

// Names returns the names of the units that are there.
func (u *Units) Names() (names []string, err error) {
	entries, err := os.ReadDir(u.Dir)
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), unitKind); ok {
			names = append(names, name)
		}
	}
	return names, err
}

// A Draft is a unit on the way: a directory that nobody else writes.
type Draft struct {
	units     *Units
	name, dir string
	files     map[string]*file // tables of which something is written already
}

// Draft begins the unit called name.
func (u *Units) Draft(name string) (*Draft, error) {
	dir, err := os.MkdirTemp(u.Dir, "."+name+".")
	return &Draft{units: u, name: name, dir: dir, files: make(map[string]*file)}, err
}

// Drop removes what d has left, if anything.
func (d *Draft) Drop() error {
	for _, f := range d.files {
		f.abandon()
	}
	return os.RemoveAll(d.dir)
}

// Append writes the first rows of the unit: what it has many of need not be kept in memory.
func (d *Draft) Append(b Block) (err error) {
	for name, rows := range b {
		f := d.files[name]
		if f == nil {
			if f, err = newFile(d.dir, name, nil, nil); err != nil {
				return err
			}
			d.files[name] = f
		}
		if err := f.append(rows); err != nil {
			return err
		}
	}
	return nil
}

// table returns the table called name of unit, whole.
func (d *Draft) table(name string, unit *Unit) (io.Reader, error) {
	rows := unit.Block[name]
	f := d.files[name]
	if f == nil {
		return bytes.NewReader(rows), nil
	}
	err := errors.Join(f.append(rows), f.end())
	return io.NewSectionReader(f.f, 0, f.at), err
}

// LedgerDir returns a new directory for a journal, and its path within the results, e.g.
// "ledger/pareto-high/cac/0", the key of its head in [Unit.Ledgers].
func (d *Draft) LedgerDir(configuration, admission string, replication int) (dir, key string, err error) {
	key = fmt.Sprintf("%s/%s/%s/%d", ledgerDir, configuration, admission, replication)
	if dir, err = within(d.dir, key); err != nil {
		return "", "", err
	}
	return dir, key, os.MkdirAll(dir, 0o755)
}

// Write keeps unit with its journals, behind what was appended, and ends d.
func (d *Draft) Write(unit *Unit) error {
	for key := range unit.Ledgers {
		to := filepath.Join(d.units.Dir, key)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		err := os.Rename(filepath.Join(d.dir, key), to)
		if _, there := os.Stat(to); err != nil && there != nil { // else somebody has written the same
			return err
		}
		for at := filepath.Dir(to); at != d.units.Dir; at = filepath.Dir(at) { // durable before the unit is
			if err := syncDir(at); err != nil {
				return err
			}
		}
	}
	return errors.Join(d.keep(unit), d.Drop())
}

// keep writes the file of the unit.
func (d *Draft) keep(unit *Unit) error {
	return d.units.write(d.name+unitKind, func(f io.Writer) error {
		z := zip.NewWriter(f)
		put := func(name string, data io.Reader) error {
			w, err := z.CreateHeader(&zip.FileHeader{Name: name}) // as it is: what is large is packed already
			if err == nil {
				_, err = io.Copy(w, data)
			}
			return err
		}
		of := contents{slices.Sorted(maps.Keys(unit.Block)), unit.Ledgers}
		text, err := json.Marshal(of)
		err = errors.Join(err, put(contentsName, bytes.NewReader(text)), put(valuesName, bytes.NewReader(unit.bytes())))
		for _, name := range of.Tables {
			table, wrong := d.table(name, unit)
			err = errors.Join(err, wrong, put(name, table))
		}
		return errors.Join(err, z.Close())
	})
}

// write makes the file name durable with what fill writes, or leaves what it was.
func (u *Units) write(name string, fill func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(u.Dir, "."+name+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if err = errors.Join(fill(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(u.Dir, name)); err != nil {
		return err
	}
	return syncDir(u.Dir)
}

// syncDir makes the names in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Read returns the unit called name.
func (u *Units) Read(name string) (*Unit, error) {
	path := filepath.Join(u.Dir, name+unitKind)
	unit, err := readUnit(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return unit, nil
}
