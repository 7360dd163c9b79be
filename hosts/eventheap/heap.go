// Package eventheap sorts numbered items by the time at which each is due, in an indexed 4-ary
// heap. It is independent of the meaning of the items.
//
// # Design
//
// Each node has four children rather than two, so the heap is half as deep and the children of
// a node share a cache line. A sorted list or a calendar queue would be faster on some
// workloads, but would need linear time on others. BenchmarkHold compares the heap with
// container/heap.
package eventheap

import "math"

// A Heap contains items with numbers 0, 1, 2 and so on, each with at most one due time (any
// float64 except NaN). Items due at the same time are in order of number. The zero value is
// empty. A heap allocates memory only to grow.
type Heap struct {
	heap  []entry
	place []int32 // for each item, its index in heap + 1, or 0 if the heap does not contain it
}

type entry struct {
	at   float64
	item int32
}

func (e entry) before(o entry) bool {
	return e.at < o.at || e.at == o.at && e.item < o.item
}

// Grow allocates memory for items 0 to n-1.
func (h *Heap) Grow(n int) {
	if n <= len(h.place) {
		return
	}
	h.place = append(h.place, make([]int32, n-len(h.place))...)
	if n > cap(h.heap) {
		h.heap = append(make([]entry, 0, cap(h.place)), h.heap...)
	}
}

// Reset removes all items and keeps the allocated memory.
func (h *Heap) Reset() {
	h.heap = h.heap[:0]
	clear(h.place)
}

// Len returns the number of items.
func (h *Heap) Len() int { return len(h.heap) }

// Min returns the item that is due first and its time, or false if the heap is empty.
func (h *Heap) Min() (item int32, at float64, ok bool) {
	if len(h.heap) == 0 {
		return 0, 0, false
	}
	return h.heap[0].item, h.heap[0].at, true
}

// First returns the earliest due time, or +Inf if the heap is empty.
func (h *Heap) First() float64 {
	if len(h.heap) == 0 {
		return math.Inf(1)
	}
	return h.heap[0].at
}

// At returns the due time of item, or false if the heap does not contain it.
func (h *Heap) At(item int32) (at float64, ok bool) {
	if int(item) >= len(h.place) || h.place[item] == 0 {
		return 0, false
	}
	return h.heap[h.place[item]-1].at, true
}

// Set sets the due time of item and adds the item if necessary.
func (h *Heap) Set(item int32, at float64) {
	if int(item) >= len(h.place) {
		h.Grow(int(item) + 1)
	}
	e := entry{at, item}
	i := int(h.place[item]) - 1
	if i < 0 {
		h.heap = append(h.heap, e)
		h.up(len(h.heap)-1, e)
		return
	}
	h.fix(i, e)
}

// Remove removes item if the heap contains it.
func (h *Heap) Remove(item int32) {
	if int(item) >= len(h.place) || h.place[item] == 0 {
		return
	}
	i, last := int(h.place[item])-1, len(h.heap)-1
	moved := h.heap[last]
	h.heap = h.heap[:last]
	h.place[item] = 0
	if i < last {
		h.fix(i, moved)
	}
}

// fix moves e, whose sort key has changed, to its position, starting from the free position i.
func (h *Heap) fix(i int, e entry) {
	if i > 0 && e.before(h.heap[(i-1)/4]) {
		h.up(i, e)
	} else {
		h.down(i, e)
	}
}

// up places e at i or above.
func (h *Heap) up(i int, e entry) {
	entries := h.heap
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(entries[parent]) {
			break
		}
		entries[i] = entries[parent]
		h.place[entries[i].item] = int32(i) + 1
		i = parent
	}
	entries[i] = e
	h.place[e.item] = int32(i) + 1
}

// down places e at i or below.
func (h *Heap) down(i int, e entry) {
	entries := h.heap
	for {
		first := 4*i + 1
		if first >= len(entries) {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, len(entries)); c++ {
			if entries[c].before(entries[least]) {
				least = c
			}
		}
		if !entries[least].before(e) {
			break
		}
		entries[i] = entries[least]
		h.place[entries[i].item] = int32(i) + 1
		i = least
	}
	entries[i] = e
	h.place[e.item] = int32(i) + 1
}
