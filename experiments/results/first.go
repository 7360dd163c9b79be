package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// mostFirst is how many rows of a block are looked at for those of its first replication.
const mostFirst = 1 << 18

// FirstJobs returns the jobs of the first replication in b, of each policy at most that
// many, and how many there are among the rows that it looked at. There are none in a block
// without jobs.
func (b Block) FirstJobs(axes Axes, most int) (jobs []Job, of map[string]int, err error) {
	return firstRows(b, "jobs", axes, most, func(j *Job) whose { return whose{j.Admission, j.Replication} })
}

// FirstPrices returns prices as FirstJobs does jobs.
func (b Block) FirstPrices(axes Axes, most int) (prices []Price, of map[string]int, err error) {
	return firstRows(b, "prices", axes, most, func(p *Price) whose { return whose{p.Admission, p.Replication} })
}

// whose says of which run a row is.
type whose struct {
	Admission   string
	Replication int
}

func firstRows[R any](b Block, table string, axes Axes, most int, of func(*R) whose) (rows []R, count map[string]int, err error) {
	count = make(map[string]int)
	first := -1
	wants := func(w whose) (row, more bool) {
		if first < 0 {
			first = w.Replication
		}
		if w.Replication != first {
			return false, false
		}
		count[w.Admission]++
		return count[w.Admission] <= most, true
	}
	if packed := b[table+parquetKind]; len(packed) > 0 {
		err = undamaged(func() error {
			rows, err = unpackSome[R](packed, wants)
			return err
		})
	} else if text := b[table+csvKind]; len(text) > 0 {
		head := header(append(slices.Clip(columns[R]()), axes...))
		in := io.MultiReader(bytes.NewReader(head), bytes.NewReader(text))
		n := 0
		for row, wrong := range readCSV[R](table+csvKind, in, axes) {
			if n++; wrong != nil || n > mostFirst {
				err = wrong
				break
			}
			want, more := wants(of(&row))
			if !more {
				break
			}
			if want {
				rows = append(rows, row)
			}
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read %s of a block: %w", table, err)
	}
	return rows, count, nil
}

// unpackSome returns the rows of a whole Parquet file that are wanted, by whose they are, up
// to where no more are.
func unpackSome[R any](packed []byte, wants func(whose) (row, more bool)) (rows []R, err error) {
	var spans [][2]int // that are wanted
	at := 0
	err = unpackWhose(packed, mostFirst, func(w whose) bool {
		row, more := wants(w)
		if last := len(spans) - 1; row && last >= 0 && spans[last][1] == at {
			spans[last][1]++
		} else if row {
			spans = append(spans, [2]int{at, at + 1})
		}
		at++
		return more
	})
	for _, s := range spans {
		if err == nil {
			err = unpack(packed, s[0], s[1], func(row *R) bool { rows = append(rows, *row); return true })
		}
	}
	return rows, err
}

// unpackWhose tells take whose the rows of a whole Parquet file are, up to most of them, until
// it has enough. It reads two columns, in a tenth of the time that rows take.
func unpackWhose(packed []byte, most int, take func(whose) bool) error {
	f, err := parquet.OpenFile(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return err
	}
	var policies, replications [256]parquet.Value
	var w whose
	for _, g := range f.RowGroups() {
		of, err := columnOf(g, "admission")
		if err != nil {
			return err
		}
		nth, err := columnOf(g, "replication")
		if err != nil {
			return err
		}
		policy, replication := parquet.NewColumnChunkValueReader(of), parquet.NewColumnChunkValueReader(nth)
		for left := min(int64(most), g.NumRows()); left > 0 && err == nil; {
			n := min(left, int64(len(policies)))
			if err = errors.Join(readValues(policy, policies[:n]), readValues(replication, replications[:n])); err != nil {
				break
			}
			for i := range n {
				if b := policies[i].ByteArray(); w.Admission != string(b) {
					w.Admission = string(b)
				}
				if w.Replication = int(replications[i].Int64()); !take(w) {
					return errors.Join(policy.Close(), replication.Close())
				}
			}
			left, most = left-n, most-int(n)
		}
		if err = errors.Join(err, policy.Close(), replication.Close()); err != nil {
			return err
		}
	}
	return nil
}

// readValues reads as many values as there is room for.
func readValues(in parquet.ValueReader, values []parquet.Value) error {
	for len(values) > 0 {
		n, err := in.ReadValues(values)
		if values = values[n:]; len(values) > 0 && err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil && len(values) > 0 {
			return err
		}
	}
	return nil
}

// unpack gives rows of a whole Parquet file, from one to before another, to take until it has
// enough.
func unpack[R any](packed []byte, from, to int, take func(*R) bool) error {
	r := parquet.NewGenericReader[R](bytes.NewReader(packed))
	defer r.Close()
	if err := r.SeekToRow(int64(from)); err != nil {
		return err
	}
	buf := make([]R, min(to-from, 256))
	for from < to {
		clear(buf) // the reader keeps what it finds behind a pointer
		n, err := r.Read(buf[:min(to-from, len(buf))])
		for i := range buf[:n] {
			if !take(&buf[i]) {
				return nil
			}
		}
		if from += n; err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
