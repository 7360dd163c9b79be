package admission

import (
	"container/heap"
	"math"

	"bourse/hosts"
)

// ends keeps hosts in order of the instants up to which their bounds hold.
type ends struct {
	heap []hosts.ID
	of   []bounds
}

// first returns the earliest instant, +Inf if there is none.
func (e *ends) first() float64 {
	if len(e.heap) == 0 {
		return math.Inf(1)
	}
	return e.of[e.heap[0]].until
}

// set puts h where its instant has it. It stays, even at +Inf.
func (e *ends) set(h hosts.ID) {
	b := &e.of[h]
	if b.place == none {
		b.place = int32(len(e.heap))
		e.heap = append(e.heap, h)
	}
	heap.Fix(e, int(b.place))
}

// Len implements [heap.Interface].
func (e *ends) Len() int { return len(e.heap) }

// Less implements [heap.Interface].
func (e *ends) Less(i, j int) bool { return e.of[e.heap[i]].until < e.of[e.heap[j]].until }

// Swap implements [heap.Interface].
func (e *ends) Swap(i, j int) {
	a, b := e.heap[i], e.heap[j]
	e.heap[i], e.heap[j] = b, a
	e.of[a].place, e.of[b].place = int32(j), int32(i)
}

// Push implements [heap.Interface]; it is not called.
func (e *ends) Push(any) { panic("admission: hosts enter by set") }

// Pop implements [heap.Interface]; it is not called.
func (e *ends) Pop() any { panic("admission: hosts stay") }
