package verify

import (
	"iter"
	"math/bits"
)

// Rows are the rows of a run. They are stored in parts, each twice as long as the previous
// one, so that rows are never copied. Copying a very large number of rows would take longer
// than reading them.
type Rows struct {
	parts [][]Job
	n     int
}

const firstPart = 64 // rows

// Len returns the number of rows.
func (r *Rows) Len() int { return r.n }

// at returns row i, which must exist.
func (r *Rows) at(i int) *Job {
	part := bits.Len(uint(i/firstPart+1)) - 1
	return &r.parts[part][i-(1<<part-1)*firstPart]
}

// all yields all rows in order.
func (r *Rows) all() iter.Seq2[int, *Job] {
	return func(yield func(int, *Job) bool) {
		for i := range r.n {
			if !yield(i, r.at(i)) {
				return
			}
		}
	}
}

// add appends an empty row and returns a pointer to it.
func (r *Rows) add() *Job {
	if r.n == (1<<len(r.parts)-1)*firstPart {
		r.parts = append(r.parts, make([]Job, firstPart<<len(r.parts)))
	}
	r.n++
	return r.at(r.n - 1)
}
