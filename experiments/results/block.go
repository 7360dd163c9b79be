package results

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"math"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	csvKind     = ".csv"
	parquetKind = ".parquet"
)

// A Block contains encoded rows, keyed by file name. Blocks can be concatenated as bytes,
// so rows are encoded only once and in parallel.
type Block map[string][]byte

// An Encoder encodes the tables whose number of rows grows with the replications. It is not
// safe for concurrent use.
type Encoder struct {
	jobs    *table[Job]
	prices  *table[Price]
	metrics *table[Metric]
}

// NewEncoder returns an encoder for the tables t with the columns of axes.
func NewEncoder(t Tables, axes Axes) *Encoder {
	return &Encoder{
		newTable[Job]("jobs", axes, t.jobs()...), newTable[Price]("prices", axes, t.prices()...), newTable[Metric]("metrics", axes, t.metrics()...),
	}
}

// Jobs appends rows to jobs.parquet and jobs.csv. Like the other methods, Jobs rejects all the
// rows if one of them contains a NaN, an infinity, a control character or an amount out of
// range. The caller may reuse the slice. Rows are written in batches of 1,024. The data to
// which a row points must not change until its batch is written or Block is called.
func (e *Encoder) Jobs(rows []Job) error { return e.jobs.append(rows) }

// Prices appends rows to prices.parquet.
func (e *Encoder) Prices(rows []Price) error { return e.prices.append(rows) }

// Metrics appends rows to metrics.csv or metrics.parquet.
func (e *Encoder) Metrics(rows []Metric) error { return e.metrics.append(rows) }

// Full returns the text rows since the last call. It also returns the Parquet tables whose
// rows since the last block exactly fill row groups. The next block continues these files. The
// complete files have the same bytes as if they had been written as a single block. The result
// is valid until the next row is appended.
func (e *Encoder) Full() (Block, error) {
	b := make(Block)
	return b, errors.Join(e.jobs.full(b), e.prices.full(b), e.metrics.full(b))
}

// Block returns all rows since the last block. It is valid until the next row is appended.
func (e *Encoder) Block() (Block, error) {
	b := make(Block)
	return b, errors.Join(e.jobs.take(b), e.prices.take(b), e.metrics.take(b))
}

// A file is a table file that is written block by block.
type file struct {
	name string
	f    *os.File
	at   int64
	meta *format.FileMetaData // Parquet metadata; nil for CSV, and before the first block
	sum  hash.Hash            // hash of the written bytes; nil if no hash is requested
}

// newFile creates the named file in dir with the given header. If sum is not nil, it hashes
// all written bytes.
func newFile(dir, name string, header []byte, sum hash.Hash) (*file, error) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	t := &file{name: name, f: f, sum: sum}
	return t, t.write(header)
}

// Write implements [io.Writer].
func (t *file) Write(b []byte) (n int, err error) {
	n, err = t.f.Write(b)
	t.at += int64(n)
	if t.sum != nil {
		t.sum.Write(b[:n])
	}
	return n, err
}

func (t *file) write(b []byte) error {
	_, err := t.Write(b)
	return err
}

// append adds the bytes of one block.
func (t *file) append(b []byte) error {
	if filepath.Ext(t.name) == csvKind {
		return t.write(b)
	}
	if err := t.join(b); err != nil {
		return fmt.Errorf("write %s: %w", t.name, err)
	}
	return nil
}

const (
	magic  = "PAR1"
	footed = 4 + int64(len(magic)) // number of bytes for the length of the footer and the magic number
)

// join adds the row groups of a complete Parquet file.
func (t *file) join(b []byte) error {
	end, meta, err := foot(b)
	if err != nil {
		return err
	}
	if t.meta == nil {
		t.meta = meta
		return t.write(b[:end])
	}
	for i := range meta.RowGroups {
		g := &meta.RowGroups[i]
		shiftGroup(g, t.at-int64(len(magic)))
		t.meta.RowGroups = append(t.meta.RowGroups, *g)
	}
	t.meta.NumRows += meta.NumRows
	return t.write(b[len(magic):end])
}

// foot returns the footer of a complete Parquet file and the offset at which the row groups
// end.
func foot(b []byte) (end int64, meta *format.FileMetaData, err error) {
	if end, meta, err = footerOf(bytes.NewReader(b), int64(len(b))); err != nil {
		return 0, nil, fmt.Errorf("block: %w", err)
	}
	// Drop the page indexes. Readers expect the indexes of all groups in one place. Groups
	// have only a few pages, so indexes are not needed.
	for i := range meta.RowGroups {
		g := &meta.RowGroups[i]
		for k := range g.Columns {
			c := &g.Columns[k]
			for _, at := range []int64{c.OffsetIndexOffset, c.ColumnIndexOffset} {
				if at > 0 {
					end = min(end, at)
				}
			}
			c.OffsetIndexOffset, c.OffsetIndexLength, c.ColumnIndexOffset, c.ColumnIndexLength = 0, 0, 0, 0
		}
	}
	return end, meta, nil
}

// shiftGroup adjusts the file offsets in g.
func shiftGroup(g *format.RowGroup, by int64) {
	move(&g.FileOffset, by)
	for k := range g.Columns {
		c := &g.Columns[k]
		move(&c.FileOffset, by)
		move(&c.MetaData.DataPageOffset, by)
		move(&c.MetaData.DictionaryPageOffset, by)
	}
}

// move adjusts an offset by the given number; an offset of 0 means that there is none.
func move(at *int64, by int64) {
	if *at != 0 {
		*at += by
	}
}

// end completes the file.
func (t *file) end() error {
	if t.meta == nil {
		return nil
	}
	return t.write(footer(t.meta))
}

// close completes the file and makes it durable.
func (t *file) close() error {
	err := errors.Join(t.end(), t.f.Sync(), t.f.Close())
	t.f = nil
	if err != nil {
		return fmt.Errorf("close %s: %w", t.name, err)
	}
	return nil
}

// footer returns the bytes at the end of a Parquet file. It numbers the row groups in
// order. If there are more groups than the format can number, it omits the numbers.
func footer(meta *format.FileMetaData) []byte {
	for i := range meta.RowGroups {
		g := &meta.RowGroups[i]
		if g.Ordinal = int16(i); len(meta.RowGroups) > math.MaxInt16+1 {
			g.Ordinal = 0
		}
	}
	b, err := thrift.Marshal(new(thrift.CompactProtocol), meta)
	if err != nil {
		panic("results: " + err.Error()) // plain data cannot fail
	}
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(b))), magic...)
}

// abandon closes the file without completing it.
func (t *file) abandon() {
	if t.f != nil {
		t.f.Close()
	}
}
