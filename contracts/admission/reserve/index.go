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

	states []state // state of each book

	few     []matchmaking.Seller // reused by quoting
	numbers []int32              // numbers of the books in few
	full    []int32
}

// A state contains the data about a book that quoting needs.
type state struct {
	kind int32
	free int32 // number of nodes without a job, if no job waits for nodes; unknown otherwise
}

// unknown means that a book must be asked for its quote.
const unknown = -1

// A kind is the set of books with equal nodes and speed. Vacant books of a kind return equal
// quotes, except for their past utilization.
type kind struct {
	nodes  int
	speed  int64 // permille
	books  int
	vacant []int32 // numbers of vacant books, descending, so that the first vacant book is the last element
	fits   bool    // whether quoting has found a book in use that can start the job
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
	x.states = append(x.states, state{int32(b.kind), unknown})
}

// update must be called after each change of b.
func (x *index) update(b *book) {
	k := &x.kinds[b.kind]
	x.states[b.number].free = unknown
	if plain, ok := b.keeper.(*timetable.Book); ok && plain.Waiting() == 0 {
		x.states[b.number].free = int32(plain.Free())
	}
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

// quoting returns the books that can be the best for j, in order, and their numbers: the books in
// use and the first vacant book of each kind. If a matchmaker does not compare utilizations and
// prefers the first of equal quotes, it chooses the same book among these as among all books.
//
// Books of a kind in which no job waits and that can start j now return equal quotes, so only the
// first of them is needed. If last is set, a later completion is worse, and then books in which j
// must wait for running jobs are not needed either.
func (x *index) quoting(books []*book, j *timetable.Job, last bool) ([]matchmaking.Seller, []int32) {
	x.few, x.numbers, x.full = x.few[:0], x.numbers[:0], x.full[:0]
	for k := range x.kinds {
		x.kinds[k].fits = false
	}
	for _, n := range x.used {
		s := &x.states[n]
		switch k := &x.kinds[s.kind]; {
		case s.free == unknown || j.Earliest > j.Arrival:
		case int(s.free) < j.Nodes && last:
			x.full = append(x.full, n)
			continue
		case int(s.free) >= j.Nodes && k.fits:
			continue
		case int(s.free) >= j.Nodes:
			k.fits = true
		}
		x.numbers = append(x.numbers, n)
	}
	for _, n := range x.full {
		if k := &x.kinds[x.states[n].kind]; !k.fits && len(k.vacant) == 0 {
			x.numbers = append(x.numbers, n)
		}
	}
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
