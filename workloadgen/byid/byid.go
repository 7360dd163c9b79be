// Package byid finds jobs by their numbers. The numbers are usually close to each other, so it
// stores most of them in a list instead of a map.
package byid

// spread is the maximum average distance between the numbers of jobs in the list.
const spread = 8

// An Index maps job numbers to positions. The zero value is empty.
type Index struct {
	first, room int64           // near covers the numbers from first to first + room - 1
	near        []int32         // position of a job plus 1, by number minus first; 0 means none
	far         map[int64]int32 // the same for other numbers
}

// Reset prepares x for n jobs and removes all entries. The first job has the given number. It
// reuses the memory of x.
func (x *Index) Reset(first int64, n int) {
	x.first, x.room, x.near = first, spread*int64(n), x.near[:0]
	clear(x.far)
}

// Put records the position of the job with the given number.
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

// Find returns the position of the job with the given number, or -1 if there is none.
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
