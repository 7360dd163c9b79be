// Package agenda keeps numbered items in order of the instant at which each is
// due: an indexed 4-ary heap. It does not know what an item stands for.
//
// # Design
//
// Four children a node, not two: the heap is half as deep, and the children of
// a node share a cache line. A sorted list or a calendar would be faster on
// some workloads and linear on others.
package agenda

// An Agenda holds items 0, 1, 2... each with at most one instant, any float64
// but NaN. Among items due at one instant the lowest number comes first. The
// zero value is empty. Nothing is allocated once it has grown to its items.
type Agenda struct {
	heap  []entry
	place []int32 // by item: its index in heap + 1, 0 if it is not there
}

type entry struct {
	at   float64
	item int32
}

func (e entry) before(o entry) bool {
	return e.at < o.at || e.at == o.at && e.item < o.item
}

// Grow makes room for items 0 to n-1.
func (a *Agenda) Grow(n int) {
	if n <= len(a.place) {
		return
	}
	a.place = append(a.place, make([]int32, n-len(a.place))...)
	if n > cap(a.heap) {
		a.heap = append(make([]entry, 0, cap(a.place)), a.heap...)
	}
}

// Reset removes every item and keeps the room.
func (a *Agenda) Reset() {
	a.heap = a.heap[:0]
	clear(a.place)
}

// Len returns the number of items held.
func (a *Agenda) Len() int { return len(a.heap) }

// Min returns the item that is due first and its instant, and false if the
// agenda is empty.
func (a *Agenda) Min() (item int32, at float64, ok bool) {
	if len(a.heap) == 0 {
		return 0, 0, false
	}
	return a.heap[0].item, a.heap[0].at, true
}

// At returns the instant at which item is due, and false if it is not held.
func (a *Agenda) At(item int32) (at float64, ok bool) {
	if int(item) >= len(a.place) || a.place[item] == 0 {
		return 0, false
	}
	return a.heap[a.place[item]-1].at, true
}

// Set makes item due at that instant, whether or not it is held already.
func (a *Agenda) Set(item int32, at float64) {
	if int(item) >= len(a.place) {
		a.Grow(int(item) + 1)
	}
	e := entry{at, item}
	i := int(a.place[item]) - 1
	if i < 0 {
		a.heap = append(a.heap, e)
		a.up(len(a.heap)-1, e)
		return
	}
	a.fix(i, e)
}

// Remove takes item out, if it is held.
func (a *Agenda) Remove(item int32) {
	if int(item) >= len(a.place) || a.place[item] == 0 {
		return
	}
	i, last := int(a.place[item])-1, len(a.heap)-1
	moved := a.heap[last]
	a.heap = a.heap[:last]
	a.place[item] = 0
	if i < last {
		a.fix(i, moved)
	}
}

// fix puts e, whose order has changed, where i is free.
func (a *Agenda) fix(i int, e entry) {
	if i > 0 && e.before(a.heap[(i-1)/4]) {
		a.up(i, e)
	} else {
		a.down(i, e)
	}
}

// up puts e at i or above.
func (a *Agenda) up(i int, e entry) {
	h := a.heap
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(h[parent]) {
			break
		}
		h[i] = h[parent]
		a.place[h[i].item] = int32(i) + 1
		i = parent
	}
	h[i] = e
	a.place[e.item] = int32(i) + 1
}

// down puts e at i or below.
func (a *Agenda) down(i int, e entry) {
	h := a.heap
	for {
		first := 4*i + 1
		if first >= len(h) {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, len(h)); c++ {
			if h[c].before(h[least]) {
				least = c
			}
		}
		if !h[least].before(e) {
			break
		}
		h[i] = h[least]
		a.place[h[i].item] = int32(i) + 1
		i = least
	}
	h[i] = e
	a.place[e.item] = int32(i) + 1
}
