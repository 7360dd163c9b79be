package audits

import (
	"sync"

	"bourse/bank/store"
)

// A tally adds up the progress of several audits, in entries.
type tally struct {
	mu       sync.Mutex
	done     []int64
	total    []int64
	progress func(done, total int)
}

// newTally returns a tally for ledgers with the given heads. The head of a ledger is empty if
// it is unknown. The tally reports to progress, which may be nil.
func newTally(heads []string, progress func(done, total int)) *tally {
	t := &tally{done: make([]int64, len(heads)), total: make([]int64, len(heads)), progress: progress}
	for i, head := range heads {
		if h, err := store.ParseHead(head); err == nil {
			t.total[i] = h.Size
		}
	}
	return t
}

// of returns the progress function for the audit of ledger i.
func (t *tally) of(i int) func(done, total int64) {
	if t.progress == nil {
		return nil
	}
	return func(done, total int64) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.done[i], t.total[i] = done, max(total, t.total[i])
		var all [2]int64
		for i := range t.done {
			all[0], all[1] = all[0]+t.done[i], all[1]+t.total[i]
		}
		t.progress(int(all[0]), int(all[1]))
	}
}
