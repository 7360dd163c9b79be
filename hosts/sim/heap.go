package sim

import "bourse/hosts"

// A heap holds entries as a 4-ary heap, the least first. None is taken out from the
// middle: an entry is void once its task has another stamp, and goes when it comes to
// the front or when void ones are many. So nobody needs to know where an entry is, and
// moving one writes nothing else.
type heap struct {
	entries []entry
	void    int32 // how many of them are
}

// An entry is a task with the number by which it is ordered.
type entry struct {
	key   twoFloat
	slot  hosts.Slot
	stamp uint32 // the task's when it was entered
}

// push adds e.
func (h *heap) push(e entry) {
	h.entries = append(h.entries, e)
	h.up(len(h.entries)-1, e)
}

// first returns the first entry that is not void, nil if there is none.
func (h *heap) first(tasks []hotTask) *entry {
	for h.void > 0 && tasks[h.entries[0].slot].stamp != h.entries[0].stamp {
		h.void--
		h.pop()
	}
	if len(h.entries) == 0 {
		return nil
	}
	return &h.entries[0]
}

// pop takes the first entry out.
func (h *heap) pop() {
	last := len(h.entries) - 1
	moved := h.entries[last]
	if h.entries = h.entries[:last]; last > 0 {
		h.down(0, moved)
	}
}

// lose notes that an entry has become void. It takes all that are out once they are
// more than half.
func (h *heap) lose(tasks []hotTask) {
	if h.void++; 2*int(h.void) <= len(h.entries) {
		return
	}
	kept := h.entries[:0]
	for _, e := range h.entries {
		if tasks[e.slot].stamp == e.stamp {
			kept = append(kept, e)
		}
	}
	h.entries, h.void = kept, 0
	for i := (len(kept)+2)/4 - 1; i >= 0; i-- { // from the last that has children
		h.down(i, kept[i])
	}
}

// reset empties h.
func (h *heap) reset() { h.entries, h.void = h.entries[:0], 0 }

// up puts e at i or above.
func (h *heap) up(i int, e entry) {
	es := h.entries
	for i > 0 {
		parent := (i - 1) / 4
		if !e.key.less(es[parent].key) {
			break
		}
		es[i] = es[parent]
		i = parent
	}
	es[i] = e
}

// down puts e at i or below.
func (h *heap) down(i int, e entry) {
	es := h.entries
	for {
		first := 4*i + 1
		if first >= len(es) {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, len(es)); c++ {
			if es[c].key.less(es[least].key) {
				least = c
			}
		}
		if !es[least].key.less(e.key) {
			break
		}
		es[i] = es[least]
		i = least
	}
	es[i] = e
}
