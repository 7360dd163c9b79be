// Package byid finds the jobs of a list by their numbers. These are near one another as a
// rule, so that they are found in a list, too, and not in a map.
package byid

// spread is how far apart the numbers of jobs may be, in the mean, that are in the list.
const spread = 8

// An Index says where jobs are. The zero value is that of no jobs.
type Index struct {
	first, room int64           // so many numbers, from first on, are in near
	near        []int32         // place of a job by its number less first, from 1; 0 is none
	far         map[int64]int32 // of others, likewise
}

// Reset makes x, which keeps its memory, that of n jobs, of which none is put yet and the
// first is numbered so.
func (x *Index) Reset(first int64, n int) {
	x.first, x.room, x.near = first, spread*int64(n), x.near[:0]
	clear(x.far)
}

// Put notes that the job of a number is at a place.
func (x *Index) Put(id int64, place int) {
	n := id - x.first
	if n < 0 || n >= x.room {
		if x.far == nil {
			x.far = make(map[int64]int32)
		}
		x.far[id] = int32(place) + 1
		return
	}
	if more := int(n) + 1 - len(x.near); more > 0 {
		x.near = append(x.near, make([]int32, more)...)
	}
	x.near[n] = int32(place) + 1
}

// Find returns the place of the job of a number, -1 if there is none.
func (x *Index) Find(id int64) int {
	n := id - x.first
	switch {
	case n < 0 || n >= x.room:
		return int(x.far[id]) - 1
	case n >= int64(len(x.near)):
		return -1
	}
	return int(x.near[n]) - 1
}
