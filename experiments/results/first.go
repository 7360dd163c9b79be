package results

import (
	"bytes"
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
	return firstRows(b, "jobs", axes, most, func(j *Job) (string, int) { return j.Admission, j.Replication })
}

// FirstPrices returns prices as FirstJobs does jobs.
func (b Block) FirstPrices(axes Axes, most int) (prices []Price, of map[string]int, err error) {
	return firstRows(b, "prices", axes, most, func(p *Price) (string, int) { return p.Admission, p.Replication })
}

func firstRows[R any](b Block, table string, axes Axes, most int, where func(*R) (admission string, replication int)) (rows []R, of map[string]int, err error) {
	of = make(map[string]int)
	first := -1
	take := func(row *R) bool {
		admission, replication := where(row)
		if first < 0 {
			first = replication
		}
		if replication != first {
			return false
		}
		if of[admission]++; of[admission] <= most {
			rows = append(rows, *row)
		}
		return true
	}
	if packed := b[table+parquetKind]; len(packed) > 0 {
		err = whole(func() error { return unpack(packed, take) })
	} else if text := b[table+csvKind]; len(text) > 0 {
		head := header(append(slices.Clip(columns[R]()), axes...))
		in := io.MultiReader(bytes.NewReader(head), bytes.NewReader(text))
		n := 0
		for row, wrong := range readCSV[R](table+csvKind, in, axes) {
			if n++; wrong != nil || n > mostFirst || !take(&row) {
				err = wrong
				break
			}
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read %s of a block: %w", table, err)
	}
	return rows, of, nil
}

// unpack gives the rows of a whole Parquet file to take until it has enough.
func unpack[R any](packed []byte, take func(*R) bool) error {
	r := parquet.NewGenericReader[R](bytes.NewReader(packed))
	defer r.Close()
	buf := make([]R, 256)
	for seen := 0; seen < mostFirst; {
		clear(buf) // the reader keeps what it finds behind a pointer
		n, err := r.Read(buf)
		for i := range buf[:n] {
			if !take(&buf[i]) {
				return nil
			}
		}
		if seen += n; err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
