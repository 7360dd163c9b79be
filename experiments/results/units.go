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

// A Plan describes the computation of a run. It ensures that units of a different run are not
// used.
type Plan struct {
	Kind         string            `json:"kind"`
	Format       int               `json:"format"`
	Scenario     string            `json:"scenario"` // text of the scenario as it is run, with every default
	Replications int               `json:"replications"`
	Alike        []string          `json:"alike,omitempty"` // configurations whose replications all have the same jobs and hosts
	Tables       string            `json:"tables"`
	Ledgers      bool              `json:"ledgers"` // whether every replication stores its ledger
	Inputs       map[string]string `json:"inputs"`  // SHA-256 hash of every log, plan and trace that was read, by the path as it was given
	Source       map[string]string `json:"source"`  // hash of the scenario file, keyed by path
	Version      string            `json:"version"` // version and revision of the program
	Command      []string          `json:"command"` // command that repeats the run
	Notes        []string          `json:"notes"`   // additional notes for readers
	Units        []string          `json:"units"`   // names of all units, in order
}

const (
	planName  = "plan.json"
	planKind  = "bourse units"
	planForm  = 2
	unitKind  = ".unit"
	ledgerDir = "ledger"
)

// Units is a directory that stores the units of a run until all units are complete. Each
// unit is one file. A stopped run resumes from this directory, and several machines can
// share it. A file is written under a temporary name, made durable and then renamed, so
// every unit in the directory is complete.
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

// Unfinished returns the directory in which a run stores its units until the results
// directory dir is complete.
func Unfinished(dir string) (string, error) {
	dir, err := place(dir)
	return filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+".units"), err
}

// OpenUnits opens the directory of units for plan. It creates the directory if necessary. The
// error is an [*OtherError] if the directory was made for another plan. The number of
// replications may differ. The directory is locked until [Units.Close]. If shared is set,
// other runs may use it at the same time.
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
	u := &Units{dir, plan, held} // the lock is nil on systems without locks
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
		u.Plan = found // use the plan of the run that created the directory
	}
	if !shared {
		drafts, _ := filepath.Glob(filepath.Join(u.Dir, ".*")) // files left by killed runs
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

// program returns the version and revision of this program. If there is no clean revision, the
// result contains the build ID or, if there is none, the hash of the program.
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

// Same reports whether units of p can be used for the plan other. Both plans must describe
// the same experiment, apart from the number of replications.
func (p *Plan) Same(other *Plan) bool {
	return fixed(p.Scenario) == fixed(other.Scenario) && p.Tables == other.Tables && p.Ledgers == other.Ledgers &&
		p.Version == other.Version && maps.Equal(p.Inputs, other.Inputs)
}

// fixed returns a scenario text without the number of replications.
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
		err = fmt.Errorf("%s: %w: found no %s, which 'run --shard' writes", dir, ErrNotResults, planName)
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

// Close unlocks the directory.
func (u *Units) Close() {
	if u.lock != nil {
		u.lock.Close()
		u.lock = nil
	}
}

// Leave does the same as Close, but also removes the directory if it contains no units.
func (u *Units) Leave() {
	if names, err := u.Names(); err == nil && len(names) == 0 {
		u.Remove()
		return
	}
	u.Close()
}

// Remove removes the directory. Remove removes the plan last. If the run is killed before
// that, the remaining files are still a valid directory of units.
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

// A Draft is an unfinished unit in its own directory.
type Draft struct {
	units     *Units
	name, dir string
	files     map[string]*file // partly written tables
}

// Draft begins a unit with the given name.
func (u *Units) Draft(name string) (*Draft, error) {
	dir, err := os.MkdirTemp(u.Dir, "."+name+".")
	return &Draft{units: u, name: name, dir: dir, files: make(map[string]*file)}, err
}

// Drop removes the files of d.
func (d *Draft) Drop() error {
	for _, f := range d.files {
		f.abandon()
	}
	return os.RemoveAll(d.dir)
}

// Append writes the first rows of the unit, so that large tables need not stay in memory.
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

// table returns the complete table with the given name from unit.
func (d *Draft) table(name string, unit *Unit) (io.Reader, error) {
	rows := unit.Block[name]
	f := d.files[name]
	if f == nil {
		return bytes.NewReader(rows), nil
	}
	err := errors.Join(f.append(rows), f.end())
	return io.NewSectionReader(f.f, 0, f.at), err
}

// LedgerDir returns a new directory for a journal and its path within the results, such as
// "ledger/pareto-high/cac/0". The path is the key of the journal's head in [Unit.Ledgers].
func (d *Draft) LedgerDir(configuration, admission string, replication int) (dir, key string, err error) {
	key = fmt.Sprintf("%s/%s/%s/%d", ledgerDir, configuration, admission, replication)
	if dir, err = within(d.dir, key); err != nil {
		return "", "", err
	}
	return dir, key, os.MkdirAll(dir, 0o755)
}

// Write stores unit with its journals after the rows that were appended earlier. It ends d.
func (d *Draft) Write(unit *Unit) error {
	for key := range unit.Ledgers {
		to := filepath.Join(d.units.Dir, key)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		err := os.Rename(filepath.Join(d.dir, key), to)
		if _, there := os.Stat(to); err != nil && there != nil { // if the journal exists, another run has already written it
			return err
		}
		for at := filepath.Dir(to); at != d.units.Dir; at = filepath.Dir(at) { // make the directories durable before the unit becomes durable
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
			w, err := z.CreateHeader(&zip.FileHeader{Name: name}) // not compressed, because the large parts are already compressed
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

// write replaces the named file durably with the output of fill. After an error, the file
// is unchanged.
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

// syncDir makes the file names in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Read returns the unit with the given name.
func (u *Units) Read(name string) (*Unit, error) {
	path := filepath.Join(u.Dir, name+unitKind)
	unit, err := readUnit(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return unit, nil
}
