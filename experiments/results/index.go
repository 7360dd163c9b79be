package results

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"bourse/bank/whole"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// Results store the values of each unit and the unit's position in the files. A run with more
// replications can therefore reuse the units.
const (
	indexName  = "units.json"
	valuesFile = "units.values"
)

// An index contains the plan of the results and the list of units, in order.
type index struct {
	Plan  Plan      `json:"plan"`
	Units []indexed `json:"units"`
}

// An indexed is the location of one unit.
type indexed struct {
	Name    string            `json:"name"`
	Files   map[string]span   `json:"files"`
	Values  span              `json:"values"` // position in the file units.values, in which each unit is compressed separately
	Ledgers map[string]string `json:"ledgers,omitempty"`
	Heard   string            `json:"heard,omitempty"` // SHA-256 of the questions to external programs and their answers
}

// A span is the range of bytes From to To−1 of a file. For a Parquet file, it also gives
// the row groups FirstGroup to LastGroup−1.
type span struct {
	From       int64 `json:"from"`
	To         int64 `json:"to"`
	FirstGroup int   `json:"first_group,omitempty"`
	LastGroup  int   `json:"last_group,omitempty"`
}

// here returns the position at which the next block of f is written.
func (t *file) here() (at int64, group int) {
	if t.meta == nil {
		return t.at, 0
	}
	return t.at, len(t.meta.RowGroups)
}

// A packer has memory for two compression windows. The values of most units fit into one
// window.
var (
	packer, _   = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(128<<10)) // the options are valid
	unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxTable))
)

// Unit appends the rows of unit and moves its journals from the directory from to the results.
func (w *Writer) Unit(name string, unit *Unit, from string) error {
	is := indexed{Name: name, Files: make(map[string]span), Ledgers: unit.Ledgers, Heard: unit.Heard}
	for _, f := range w.files {
		var s span
		s.From, s.FirstGroup = f.here()
		is.Files[f.name] = s
	}
	if err := w.Append(unit.Block); err != nil {
		return err
	}
	for _, t := range unit.long {
		at := slices.IndexFunc(w.files, func(f *file) bool { return f.name == t.name })
		if at < 0 {
			continue
		}
		if err := t.copyTo(w.files[at]); err != nil {
			return fmt.Errorf("%s: %s: %w", t.path, t.name, err)
		}
	}
	for _, f := range w.files {
		s := is.Files[f.name]
		s.To, s.LastGroup = f.here()
		if is.Files[f.name] = s; s.From == s.To {
			delete(is.Files, f.name)
		}
	}
	is.Values.From = int64(len(w.values))
	w.values = packer.EncodeAll(unit.bytes(), w.values)
	is.Values.To = int64(len(w.values))
	w.index = append(w.index, is)
	return w.adopt(unit, from)
}

// adopt moves the journals of unit from the directory dir to the results.
func (w *Writer) adopt(unit *Unit, dir string) error {
	for key := range unit.Ledgers {
		from, err := within(dir, key)
		if err != nil {
			return err
		}
		to, err := w.path(key)
		if err == nil {
			err = errors.Join(w.root.MkdirAll(key, 0o755), share(from, to))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// share hard-links the files in from into the directory to. If a file cannot be linked,
// share copies it.
func share(from, to string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		name, wrong := filepath.Rel(from, path)
		if err = errors.Join(err, wrong); err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if e.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		if os.Link(path, target) == nil {
			return nil
		}
		data, err := whole.Read(path, 1<<40)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o644)
	})
}

// Indexed writes the index of the appended units, with their plan.
func (w *Writer) Indexed(plan Plan) error {
	text, err := json.Marshal(index{plan, w.index})
	if err != nil {
		return err
	}
	return errors.Join(w.File(indexName, append(text, '\n')), w.File(valuesFile, w.values))
}

// A Source provides units.
type Source interface {
	Path() string // directory that contains the unit's journals
	Names() ([]string, error)
	Read(name string) (*Unit, error)
}

// A Whole provides the units of complete results.
type Whole struct {
	dir   string
	index index
	at    map[string]int
	metas map[string]*format.FileMetaData
}

// ReadWhole returns the units of the results in dir, for a run with another number of
// replications. It returns nil if there are no units, if files have changed, or if the plan
// differs in more than the number of replications.
func ReadWhole(dir string, plan *Plan) *Whole {
	d, err := Open(dir)
	if err != nil || d.Manifest.Format != Format {
		return nil
	}
	w, kept, err := d.Units()
	if err != nil || !kept.Same(plan) || kept.Replications == plan.Replications {
		return nil
	}
	if changes, err := d.Check(context.Background()); err != nil || len(changes) > 0 {
		return nil // files have changed
	}
	return w
}

// Units returns the units of d and the plan of these units. The results must have the
// newest format, and units.json must match the manifest.
func (d *Dir) Units() (*Whole, *Plan, error) {
	if err := d.Unchanged(indexName); err != nil {
		return nil, nil, err
	}
	text, err := whole.Read(d.file(indexName), maxTable)
	if err != nil {
		return nil, nil, err
	}
	w := &Whole{dir: d.Path, at: make(map[string]int), metas: make(map[string]*format.FileMetaData)}
	if err := json.Unmarshal(text, &w.index); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", d.file(indexName), err)
	}
	for i := range w.index.Units {
		w.at[w.index.Units[i].Name] = i
	}
	return w, &w.index.Plan, nil
}

// Path implements [Source].
func (w *Whole) Path() string { return w.dir }

// Names implements [Source].
func (w *Whole) Names() (names []string, err error) {
	for i := range w.index.Units {
		names = append(names, w.index.Units[i].Name)
	}
	return names, nil
}

// Read implements [Source].
func (w *Whole) Read(name string) (*Unit, error) {
	unit, err := w.Values(name)
	if err != nil {
		return nil, err
	}
	for file, s := range w.index.Units[w.at[name]].Files {
		rows, err := w.bytes(file, s)
		if err == nil && filepath.Ext(file) == parquetKind {
			rows, err = w.packed(file, s, rows)
		}
		if err != nil {
			return nil, err
		}
		unit.Block[file] = rows
	}
	return unit, nil
}

// Values returns a unit with its values but without its rows.
func (w *Whole) Values(name string) (*Unit, error) {
	at, ok := w.at[name]
	if !ok {
		return nil, fmt.Errorf("%s: no unit %s", w.dir, name)
	}
	is := &w.index.Units[at]
	unit := &Unit{Block: make(Block), Ledgers: is.Ledgers, Heard: is.Heard}
	values, err := w.bytes(valuesFile, is.Values)
	if err == nil {
		values, err = unpacker.DecodeAll(values, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(w.dir, valuesFile), err)
	}
	unit.read(values)
	return unit, nil
}

// bytes returns the bytes in the range s of a file.
func (w *Whole) bytes(name string, s span) ([]byte, error) {
	path, err := within(w.dir, name)
	if err != nil {
		return nil, err
	}
	f, err := whole.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if s.From < 0 || s.From > s.To || s.To > info.Size() {
		return nil, fmt.Errorf("%s: found the range of bytes from %d to %d of %s, want an end of at most %d, the size of the file", filepath.Join(w.dir, indexName), s.From, s.To, name, info.Size())
	}
	b := make([]byte, s.To-s.From)
	_, err = f.ReadAt(b, s.From)
	return b, err
}

// packed returns a Parquet file that consists of the row groups of s. The bytes of these
// groups are in body.
func (w *Whole) packed(name string, s span, body []byte) ([]byte, error) {
	meta, err := w.meta(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(w.dir, name), err)
	}
	part := *meta
	part.NumRows, part.RowGroups = 0, nil
	if s.From == 0 { // body includes the magic number at the start of the file
		body = body[len(magic):]
		s.From = int64(len(magic))
	}
	for _, g := range meta.RowGroups[s.FirstGroup:s.LastGroup] {
		moved := g
		moved.Columns = append([]format.ColumnChunk(nil), g.Columns...)
		shiftGroup(&moved, int64(len(magic))-s.From)
		part.RowGroups = append(part.RowGroups, moved)
		part.NumRows += g.NumRows
	}
	return append(append([]byte(magic), body...), footer(&part)...), nil
}

// meta returns the metadata in the footer of a Parquet file.
func (w *Whole) meta(name string) (*format.FileMetaData, error) {
	if m := w.metas[name]; m != nil {
		return m, nil
	}
	f, err := whole.Open(filepath.Join(w.dir, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	_, m, err := footerOf(f, info.Size())
	if err != nil {
		return nil, err
	}
	w.metas[name] = m
	return m, nil
}
