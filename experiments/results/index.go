package results

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"bourse/bank/whole"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Results keep where in their files each unit is, and its values, so that a run of more
// replications takes from them what is there.
const (
	indexName  = "units.json"
	valuesFile = "units.values"
)

// An index is of results: the plan, and its units in order.
type index struct {
	Plan  Plan      `json:"plan"`
	Units []indexed `json:"units"`
}

// An indexed unit is where it is.
type indexed struct {
	Name    string            `json:"name"`
	Files   map[string]span   `json:"files"`
	Values  span              `json:"values"` // of units.values: compressed by itself
	Ledgers map[string]string `json:"ledgers,omitempty"`
}

// A span is the bytes from From to before To; in Parquet of the groups FirstGroup to
// before LastGroup.
type span struct {
	From       int64 `json:"from"`
	To         int64 `json:"to"`
	FirstGroup int   `json:"first_group,omitempty"`
	LastGroup  int   `json:"last_group,omitempty"`
}

// here returns where f is written next.
func (t *file) here() (at int64, group int) {
	if t.meta == nil {
		return t.at, 0
	}
	return t.at, len(t.meta.RowGroups)
}

// A packer keeps memory of two windows; the values of a unit mostly fit one.
var (
	packer, _   = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(128<<10)) // options that are in order
	unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxTable))
)

// Unit appends the rows of unit, which is in from, with its journals.
func (w *Writer) Unit(name string, unit *Unit, from string) error {
	is := indexed{Name: name, Files: make(map[string]span), Ledgers: unit.Ledgers}
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

// adopt gives w the journals of unit, which are in the directory dir.
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

// share gives the files in from names in the directory to, too, or copies them where a
// file has one name only.
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

// Indexed keeps the units that were appended, which are of plan.
func (w *Writer) Indexed(plan Plan) error {
	text, err := json.Marshal(index{plan, w.index})
	if err != nil {
		return err
	}
	return errors.Join(w.File(indexName, append(text, '\n')), w.File(valuesFile, w.values))
}

// A Source is where units are.
type Source interface {
	Path() string // of the directory that has their journals
	Names() ([]string, error)
	Read(name string) (*Unit, error)
}

// Whole are the units of results that are complete.
type Whole struct {
	dir   string
	index index
	at    map[string]int
	metas map[string]*format.FileMetaData
}

// ReadWhole returns the units of the results in dir for a run of other replications, or
// nil if they keep none, are not as they were written, or are of another plan.
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
		return nil // they are not as they were written
	}
	return w
}

// Units returns the units of d and their plan. It must have the newest format, and units.json
// as the manifest describes it.
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

// Values returns a unit without its rows.
func (w *Whole) Values(name string) (*Unit, error) {
	at, ok := w.at[name]
	if !ok {
		return nil, fmt.Errorf("%s: no unit %s", w.dir, name)
	}
	is := &w.index.Units[at]
	unit := &Unit{Block: make(Block), Ledgers: is.Ledgers}
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

// bytes returns those of a file.
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
		return nil, fmt.Errorf("%s: bytes %d to %d of %s, which has %d", filepath.Join(w.dir, indexName), s.From, s.To, name, info.Size())
	}
	b := make([]byte, s.To-s.From)
	_, err = f.ReadAt(b, s.From)
	return b, err
}

// packed returns a Parquet file of the groups of s, which are body.
func (w *Whole) packed(name string, s span, body []byte) ([]byte, error) {
	meta, err := w.meta(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(w.dir, name), err)
	}
	part := *meta
	part.NumRows, part.RowGroups = 0, nil
	if s.From == 0 { // with what the file begins with
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

// meta returns the footer of a Parquet file.
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
	if err := checkFooter(f, info.Size()); err != nil {
		return nil, err
	}
	var end [footed]byte
	if _, err := f.ReadAt(end[:], info.Size()-int64(footed)); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	text, err := io.ReadAll(io.NewSectionReader(f, info.Size()-int64(footed)-length, length))
	if err != nil {
		return nil, err
	}
	m := new(format.FileMetaData)
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), text, m); err != nil {
		return nil, err
	}
	w.metas[name] = m
	return m, nil
}
