package reserve

import (
	"slices"

	"bourse/hosts/eventheap"
	"bourse/hosts/matchmaking"
	"bourse/hosts/timetable"
)

// An index orders books, so that the policy need not examine all of them. Books are identified
// by their numbers.
type index struct {
	due   eventheap.Heap // next second at which each book in use has an event
	used  []int32        // books in use, ascending; a book without jobs and events is vacant
	kinds []kind

	few     []matchmaking.Seller // reused by quoting
	numbers []int32              // their books
}

// A kind is the set of books with equal nodes and speed. Vacant books of a kind return equal
// quotes, except for their past utilization.
type kind struct {
	nodes  int
	speed  int64 // permille
	books  int
	vacant []int32 // descending, so that the first vacant book is the last element
}

// add adds b, which is vacant and has the highest number.
func (x *index) add(b *book) {
	b.kind = slices.IndexFunc(x.kinds, func(k kind) bool { return k.nodes == b.nodes && k.speed == b.speed })
	if b.kind < 0 {
		b.kind = len(x.kinds)
		x.kinds = append(x.kinds, kind{nodes: b.nodes, speed: b.speed})
	}
	k := &x.kinds[b.kind]
	k.books++
	k.vacant = slices.Insert(k.vacant, 0, b.number)
}

// update must be called after each change of b.
func (x *index) update(b *book) {
	k := &x.kinds[b.kind]
	_, was := x.due.At(b.number)
	i, _ := slices.BinarySearch(x.used, b.number)
	j, _ := slices.BinarySearchFunc(k.vacant, b.number, func(a, b int32) int { return int(b - a) })
	switch next := b.next(); {
	case next != timetable.Forever:
		if x.due.Set(b.number, float64(next)); !was {
			x.used, k.vacant = slices.Insert(x.used, i, b.number), slices.Delete(k.vacant, j, j+1)
		}
	case was:
		x.due.Remove(b.number)
		x.used, k.vacant = slices.Delete(x.used, i, i+1), slices.Insert(k.vacant, j, b.number)
	}
}

// quoting returns the books in use and the first vacant book of each kind, in order, with
// their numbers. If a matchmaker does not compare utilizations and prefers the first of equal
// quotes, it chooses the same book among these as among all books.
func (x *index) quoting(books []*book) ([]matchmaking.Seller, []int32) {
	x.few, x.numbers = x.few[:0], append(x.numbers[:0], x.used...)
	for k := range x.kinds {
		if v := x.kinds[k].vacant; len(v) > 0 {
			x.numbers = append(x.numbers, v[len(v)-1])
		}
	}
	slices.Sort(x.numbers)
	for _, n := range x.numbers {
		x.few = append(x.few, books[n])
	}
	return x.few, x.numbers
}
