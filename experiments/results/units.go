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

// A Plan describes the computation of a run. It prevents the use of units from another run.
type Plan struct {
	Kind         string            `json:"kind"`
	Format       int               `json:"format"`
	Scenario     string            `json:"scenario"` // as run
	Replications int               `json:"replications"`
	Alike        []string          `json:"alike,omitempty"` // configurations whose replications all have the same jobs and hosts
	Tables       string            `json:"tables"`
	Ledgers      bool              `json:"ledgers"` // for every replication
	Inputs       map[string]string `json:"inputs"`  // SHA-256 of every log, plan and trace read, by path as given
	Source       map[string]string `json:"source"`  // hash of the scenario file, by path
	Version      string            `json:"version"` // version of the program, and its revision
	Command      []string          `json:"command"` // command that repeats the run
	Notes        []string          `json:"notes"`   // additional notes for readers
	Units        []string          `json:"units"`   // all, in order
}

const (
	planName  = "plan.json"
	planKind  = "bourse units"
	planForm  = 2
	unitKind  = ".unit"
	ledgerDir = "ledger"
)

// Units is a directory that stores the units of a run, one file each, until all are complete.
// A stopped run continues from it, and several machines can share one. A file is written under
// another name, made durable and renamed, so every unit in the directory is complete.
type Units struct {
	Dir  string
	Plan Plan
	lock *os.File
}

// An OtherError reports that a directory belongs to another plan.
type OtherError struct {
	Dir         string
	Found, Want Plan
	Whole       bool // Found describes complete results
}

// Error names the directory.
func (e *OtherError) Error() string { return e.Dir + " contains units of another run" }

// Unfinished returns the directory in which a run of the results directory dir stores its
// units until it is complete.
func Unfinished(dir string) (string, error) {
	dir, err := place(dir)
	return filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+".units"), err
}

// OpenUnits creates the directory of units for plan, or opens an existing one. The error is an
// [*OtherError] if it was made for another plan; the number of replications may differ. Until
// [Units.Close], the caller has the directory exclusively, or shares it with others who write
// other units or the same ones.
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
	u := &Units{dir, plan, held} // held is nil on systems without locks
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
			if !strings.HasPrefix(e.Name(), ".") { // hidden files mean that another run is starting
				return fmt.Errorf("%s: %w: it has no %s", u.Dir, ErrNotResults, planName)
			}
		}
	case err != nil:
		return err
	case !found.Same(&u.Plan):
		return &OtherError{Dir: u.Dir, Found: found, Want: u.Plan}
	case slices.Equal(found.Units, u.Plan.Units):
		u.Plan = found // plan of the run that created it
	}
	if !shared {
		drafts, _ := filepath.Glob(filepath.Join(u.Dir, ".*")) // left by killed runs
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

// program identifies this program by its version and revision. Without a clean revision, it
// uses the build ID or else the hash of the program.
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

// Same reports whether units of p can be used for other: the plans describe the same
// experiment, apart from the number of replications.
func (p *Plan) Same(other *Plan) bool {
	return fixed(p.Scenario) == fixed(other.Scenario) && p.Tables == other.Tables && p.Ledgers == other.Ledgers &&
		p.Version == other.Version && maps.Equal(p.Inputs, other.Inputs)
}

// fixed returns a scenario without its number of replications.
func fixed(scenario string) string {
	var b strings.Builder
	for line := range strings.Lines(scenario) {
		if !strings.HasPrefix(line, "replications:") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// ReadUnits opens a directory of units for reading.
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

// Close releases the directory for others.
func (u *Units) Close() {
	if u.lock != nil {
		u.lock.Close()
		u.lock = nil
	}
}

// Leave is like Close, but also removes the directory if it has no units.
func (u *Units) Leave() {
	if names, err := u.Names(); err == nil && len(names) == 0 {
		u.Remove()
		return
	}
	u.Close()
}

// Remove removes the directory. It removes the plan last, so that if the run is killed
// meanwhile, the rest is still a directory of units.
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

// Forget removes the units in dir unless a run is writing them.
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

// Names returns the names of the stored units.
func (u *Units) Names() (names []string, err error) {
	entries, err := os.ReadDir(u.Dir)
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), unitKind); ok {
			names = append(names, name)
		}
	}
	return names, err
}

// A Draft is an unfinished unit in a directory of its own.
type Draft struct {
	units     *Units
	name, dir string
	files     map[string]*file // partly written tables
}

// Draft begins the unit called name.
func (u *Units) Draft(name string) (*Draft, error) {
	dir, err := os.MkdirTemp(u.Dir, "."+name+".")
	return &Draft{units: u, name: name, dir: dir, files: make(map[string]*file)}, err
}

// Drop removes the remains of d, if any.
func (d *Draft) Drop() error {
	for _, f := range d.files {
		f.abandon()
	}
	return os.RemoveAll(d.dir)
}

// Append writes the first rows of the unit, so that large tables need not be held in memory.
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

// table returns the complete table called name of unit.
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
// "ledger/pareto-high/cac/0", which is the key of its head in [Unit.Ledgers].
func (d *Draft) LedgerDir(configuration, admission string, replication int) (dir, key string, err error) {
	key = fmt.Sprintf("%s/%s/%s/%d", ledgerDir, configuration, admission, replication)
	if dir, err = within(d.dir, key); err != nil {
		return "", "", err
	}
	return dir, key, os.MkdirAll(dir, 0o755)
}

// Write stores unit with its journals, after the rows already appended, and ends d.
func (d *Draft) Write(unit *Unit) error {
	for key := range unit.Ledgers {
		to := filepath.Join(d.units.Dir, key)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		err := os.Rename(filepath.Join(d.dir, key), to)
		if _, there := os.Stat(to); err != nil && there != nil { // otherwise another run has written the same journal
			return err
		}
		for at := filepath.Dir(to); at != d.units.Dir; at = filepath.Dir(at) { // the directories must be durable before the unit
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
			w, err := z.CreateHeader(&zip.FileHeader{Name: name}) // uncompressed, because large parts are already compressed
			if err == nil {
				_, err = io.Copy(w, data)
			}
			return err
		}
		of := contents{slices.Sorted(maps.Keys(unit.Block)), unit.Ledgers, unit.Heard}
		text, err := json.Marshal(of)
		err = errors.Join(err, put(contentsName, bytes.NewReader(text)), put(valuesName, bytes.NewReader(unit.bytes())))
		for _, name := range of.Tables {
			table, wrong := d.table(name, unit)
			err = errors.Join(err, wrong, put(name, table))
		}
		return errors.Join(err, z.Close())
	})
}

// write replaces the file name durably with what fill writes, or leaves it unchanged on error.
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
