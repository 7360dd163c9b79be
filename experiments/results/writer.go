package results

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bourse/bank/whole"

	"golang.org/x/sync/errgroup"
)

// ErrNotResults reports that a directory is not a results directory.
var ErrNotResults = errors.New("not a results directory")

// A Writer writes a results directory. Rows are appended in blocks, in the order in which
// they will be read. No file is visible under the directory's name before [Writer.Close].
type Writer struct {
	dir, temp string   // final and temporary directory
	root      *os.Root // root of the directory temp
	lock      *os.File // lock on temp; nil on systems without locks
	closed    bool

	axes    Axes
	summary *table[Summary]
	curve   *table[Point]
	files   []*file

	index  []indexed
	values []byte            // compressed values of the units
	known  map[string]Output // hashes that are already known
}

// Create begins the results directory dir with tables in the forms of t and additional
// columns for axes. Create may replace an empty directory or older results. If dir contains
// anything else, the error is [ErrNotResults].
func Create(dir string, t Tables, axes Axes) (*Writer, error) {
	w := &Writer{axes: axes, known: make(map[string]Output), summary: newTable[Summary]("summary", axes, csvKind), curve: newTable[Point]("curve", axes, csvKind)}
	err := w.create(dir, t)
	if err != nil {
		w.Abort()
		return nil, fmt.Errorf("write results: %w", err)
	}
	return w, nil
}

func (w *Writer) create(dir string, t Tables) (err error) {
	if w.dir, err = place(dir); err != nil {
		return err
	}
	if err := replaceable(w.dir); err != nil {
		return err
	}
	if mounted(w.dir) {
		return fmt.Errorf("a file system is mounted at %s, so results cannot replace this directory; use a subdirectory", w.dir)
	}
	if err := os.MkdirAll(filepath.Dir(w.dir), 0o755); err != nil {
		return err
	}
	for {
		w.temp, err = os.MkdirTemp(filepath.Dir(w.dir), "."+filepath.Base(w.dir)+partial)
		if err != nil {
			return err
		}
		if w.lock, err = lockDir(w.temp); err != nil && !errors.Is(err, ErrBusy) && !errors.Is(err, fs.ErrNotExist) {
			break // without locks, other runs never remove this directory
		}
		if w.lock == nil {
			continue // another process is removing this directory
		}
		here, err := os.Stat(w.temp)
		if locked, wrong := w.lock.Stat(); err == nil && wrong == nil && os.SameFile(here, locked) {
			break
		}
		w.lock.Close()
	}
	return w.open(t)
}

// place returns the absolute path of the results dir, after resolving a symbolic link.
func place(dir string) (string, error) {
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			return "", err
		}
	}
	return filepath.Abs(dir)
}

// replaceable returns an error if dir contains files that are not results.
func replaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	_, _, err = readManifest(dir)
	if errors.Is(err, ErrNotResults) {
		return err
	}
	return nil // results in another format may also be replaced
}

func (w *Writer) open(t Tables) (err error) {
	if err := os.Chmod(w.temp, 0o755); err != nil {
		return err
	}
	if w.root, err = os.OpenRoot(w.temp); err != nil {
		return err
	}
	empty, err := NewEncoder(t, w.axes).Block() // creates every file
	err = errors.Join(err, w.summary.take(empty), w.curve.take(empty))
	for _, name := range slices.Sorted(maps.Keys(empty)) {
		var first []byte
		if filepath.Ext(name) == csvKind {
			first = header(columnsOf(name, w.axes))
		}
		f, wrong := newFile(w.temp, name, first, sha256.New())
		if err = errors.Join(err, wrong); f != nil {
			w.files = append(w.files, f)
		}
	}
	if err != nil {
		return err
	}
	return w.Append(empty)
}

// Append adds encoded rows.
func (w *Writer) Append(b Block) error {
	var all errgroup.Group
	for _, f := range w.files {
		if rows := b[f.name]; len(rows) > 0 {
			all.Go(func() error { return f.append(rows) })
		}
	}
	return all.Wait()
}

// Summary appends rows to summary.csv.
func (w *Writer) Summary(rows []Summary) error { return w.summary.append(rows) }

// Curve appends rows to curve.csv.
func (w *Writer) Curve(rows []Point) error { return w.curve.append(rows) }

// File writes an additional file, such as report.html or figures/curve.svg. It returns an
// error if the file exists.
func (w *Writer) File(name string, data []byte) error {
	path, err := w.path(name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// Known sets the size and hash of the named file, so that the writer need not read the file to
// compute them.
func (w *Writer) Known(name string, o Output) { w.known[name] = o }

// Path returns the current location of the named file or folder. It is valid until Close.
func (w *Writer) Path(name string) (string, error) { return w.path(name) }

// path returns the location to which the named file is written.
func (w *Writer) path(name string) (string, error) {
	return within(w.temp, name)
}

// within returns the path of the named file in dir. The file must be inside dir.
func within(dir, name string) (string, error) {
	if !fs.ValidPath(name) || !filepath.IsLocal(name) || name == manifestName || checkText(name) != nil {
		return "", fmt.Errorf("%q is not a valid name for a results file", name)
	}
	return filepath.Join(dir, filepath.FromSlash(name)), nil
}

// Close completes every table, writes README.txt and the manifest, and renames the directory
// to its final name. If it replaces older results, it keeps the files that users added to
// them. After an error, Close removes all files that it has written.
func (w *Writer) Close(m Manifest) (err error) {
	if w.closed {
		return errors.New("results are already closed")
	}
	defer func() {
		if err != nil {
			w.Abort()
			err = fmt.Errorf("write %s: %w", w.dir, err)
		}
	}()
	last := make(Block)
	if err := errors.Join(w.summary.take(last), w.curve.take(last)); err != nil {
		return err
	}
	if err := w.Append(last); err != nil {
		return err
	}
	var all errgroup.Group // Flush all files in parallel.
	for _, f := range w.files {
		all.Go(f.close)
	}
	if err := all.Wait(); err != nil {
		return err
	}
	for _, f := range w.files {
		w.Known(f.name, Output{f.at, hex.EncodeToString(f.sum.Sum(nil))})
	}
	m.Kind, m.Format, m.Rules = kind, Format, Rules
	m.ScenarioSHA256 = hashText(m.Scenario)
	m.Version = BuildVersion()
	m.Columns = make(map[string][]Column)
	for _, f := range w.files {
		m.Columns[f.name] = columnsOf(f.name, w.axes)
	}
	if m.Inputs == nil {
		m.Inputs = map[string]string{}
	}
	if m.Ledgers == nil {
		m.Ledgers = map[string]string{}
	}
	if err := w.File("README.txt", readme(m.Columns)); err != nil {
		return err
	}
	if m.Outputs, err = outputs(w.temp, w.known); err != nil {
		return err
	}
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(w.temp, manifestName), append(b, '\n'), 0o644); err != nil {
		return err
	}
	if err := errors.Join(w.root.Close(), w.publish()); err != nil {
		return err
	}
	w.closed = true
	w.unlock()
	return nil
}

// unlock releases the lock. Other runs then know that this run has ended.
func (w *Writer) unlock() {
	if w.lock != nil {
		w.lock.Close()
	}
}

// publish renames the directory to its final name.
func (w *Writer) publish() error {
	if err := replaceable(w.dir); err != nil { // check again, because dir may have changed
		return err
	}
	old := w.temp + older
	err := os.Rename(w.dir, old)
	if errors.Is(err, fs.ErrNotExist) {
		return os.Rename(w.temp, w.dir)
	}
	if err != nil {
		return err
	}
	if err := os.Rename(w.temp, w.dir); err != nil {
		return errors.Join(err, os.Rename(old, w.dir))
	}
	if empty(old) {
		return os.Remove(old)
	}
	if err := discard(old, w.dir); err != nil {
		return fmt.Errorf("the older results are in %s: %w", old, err)
	}
	return nil
}

// keep moves files that users added to the results in old to dir. It does not move files
// and directories that a run writes.
func keep(old, dir string) error {
	entries, err := os.ReadDir(old)
	if err != nil {
		return err
	}
	var m struct {
		Outputs map[string]json.RawMessage `json:"outputs"`
	}
	b, err := whole.Read(filepath.Join(old, manifestName), maxManifest)
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		return err
	}
	written := map[string]bool{manifestName: true, "figures": true} // commands may add figures later
	for name := range m.Outputs {
		top, _, _ := strings.Cut(name, "/")
		written[top] = true
	}
	for _, e := range entries {
		if _, err := os.Lstat(filepath.Join(dir, e.Name())); err == nil || written[e.Name()] {
			continue
		}
		if err := os.Rename(filepath.Join(old, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Abort removes the written files. It does nothing after [Writer.Close].
func (w *Writer) Abort() {
	if w.closed {
		return
	}
	w.closed = true
	for _, f := range w.files {
		f.abandon()
	}
	if w.root != nil {
		w.root.Close()
	}
	defer w.unlock()
	if w.temp == "" {
		return
	}
	for range 100 { // repeat, because another goroutine may still be writing a ledger there
		if os.RemoveAll(w.temp) == nil {
			return
		}
	}
}
