package results

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"slices"
)

// mostFirst is the maximum number of rows of a block that are searched for the first
// replication.
const mostFirst = 1 << 18

// FirstJobs returns the jobs of the first replication in b, up to most jobs per policy. The
// map contains the number of the replication's jobs per policy, among the searched rows. If
// the block contains no jobs, FirstJobs returns no rows.
func (b Block) FirstJobs(axes Axes, most int) (jobs []Job, of map[string]int, err error) {
	return firstRows(b, "jobs", axes, most, func(j *Job) whose { return whose{j.Admission, j.Replication} })
}

// Jobs yields all jobs in b. It stops after an error.
func (b Block) Jobs(axes Axes) iter.Seq2[Job, error] { return rowsIn[Job](b, "jobs", axes) }

// FirstPrices does the same as FirstJobs for prices.
func (b Block) FirstPrices(axes Axes, most int) (prices []Price, of map[string]int, err error) {
	return firstRows(b, "prices", axes, most, func(p *Price) whose { return whose{p.Admission, p.Replication} })
}

// A whose identifies the run to which a row belongs.
type whose struct {
	Admission   string
	Replication int
}

func firstRows[R any](b Block, table string, axes Axes, most int, of func(*R) whose) (rows []R, count map[string]int, err error) {
	count = make(map[string]int)
	first, n := -1, 0
	for row, err := range rowsIn[R](b, table, axes) {
		if err != nil {
			return nil, nil, fmt.Errorf("read %s of a block: %w", table, err)
		}
		w := of(&row)
		if first < 0 {
			first = w.Replication
		}
		if n++; w.Replication != first || n > mostFirst {
			break
		}
		if count[w.Admission]++; count[w.Admission] <= most {
			rows = append(rows, row)
		}
	}
	return rows, count, nil
}

// rowsIn yields the rows of a table in b. It stops after an error.
func rowsIn[R any](b Block, table string, axes Axes) iter.Seq2[R, error] {
	if packed := b[table+parquetKind]; len(packed) > 0 {
		return unpack[R](table+parquetKind, bytes.NewReader(packed), nil, new(int))
	}
	text := b[table+csvKind]
	if len(text) == 0 {
		return func(func(R, error) bool) {}
	}
	head := header(append(slices.Clip(columns[R]()), axes...))
	return readCSV[R](table+csvKind, io.MultiReader(bytes.NewReader(head), bytes.NewReader(text)), axes)
}
