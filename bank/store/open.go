package store

import (
	"errors"
	"fmt"
	"iter"

	"bourse/bank"
)

// Open opens the ledger in dir and returns it with its journal. It replays only the entries
// written since the balances were last written. It returns an error wrapping [ErrNone],
// [ErrLocked], [ErrFormat], or [ErrDamaged] with a description of the damage.
func Open(dir string, opts Options) (*Journal, *bank.Ledger, error) {
	d := newDirectory(dir, opts)
	head, err := d.open()
	if err != nil {
		d.Release()
		return nil, nil, fmt.Errorf("open ledger %s: %w", dir, plain(err))
	}
	return Resume(d, dir, head, opts)
}

// Resume returns the ledger stored in k, with its journal. The ledger must reach at least
// head. If it returns an error, which wraps [ErrDamaged] or [ErrFormat], it has released k.
func Resume(k Backend, name string, head Head, opts Options) (*Journal, *bank.Ledger, error) {
	j := NewJournal(k, name, opts)
	l, err := j.replay(head)
	if err != nil {
		k.Release()
		return nil, nil, fmt.Errorf("open ledger %s: %w", name, plain(damaged(err)))
	}
	return j, l, nil
}

// damaged wraps err in [ErrDamaged]. If the ledger has another format, it returns [ErrFormat].
func damaged(err error) error {
	if errors.Is(err, ErrFormat) {
		return ErrFormat
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// replay restores the balances and replays the groups after them. The log must contain head.
func (j *Journal) replay(head Head) (*bank.Ledger, error) {
	l := bank.New(j)
	if err := j.restore(l); err != nil {
		return nil, err
	}
	from := j.tree.size
	if from == head.Size && j.tree.head() != head {
		return nil, fmt.Errorf("entries to %d do not match %s", from, headFile)
	}
	g := groupReader{tree: j.tree}
	for key, value := range j.backend.Scan(seqKey(from+1), []byte{groupTable + 1}, &g.err) {
		j.since++
		for e := range g.entries(key, value) {
			if err := l.Replay(e); err != nil {
				return nil, err
			}
			j.owners.Book(e)
			j.pending.add(e, &g.tree)
			if g.tree.size == head.Size && g.tree.head() != head {
				return nil, fmt.Errorf("entries to %d do not match %s", head.Size, headFile)
			}
		}
		if g.err != nil {
			return nil, g.err
		}
	}
	if g.err != nil {
		return nil, g.err
	}
	if g.tree.size < head.Size {
		return nil, fmt.Errorf("entries %d to %d are missing", g.tree.size+1, head.Size)
	}
	j.tree, j.time, j.replayed = g.tree, l.Now(), g.tree.size-from
	return l, nil
}

// restore restores the balances, if any were written.
func (j *Journal) restore(l *bank.Ledger) error {
	value, err := j.backend.Get([]byte{stateTable})
	if value == nil || err != nil {
		return err
	}
	d := decoder{b: value}
	size, now := d.int(), d.float()
	j.tree = d.tree(size)
	var holdings []bank.Holding
	for key, value := range j.backend.Scan([]byte{balanceTable}, []byte{balanceTable + 1}, &d.err) {
		s, err := decodeHolding(string(key[1:]), value)
		if err != nil {
			return err
		}
		holdings = append(holdings, s)
	}
	if d.err != nil || len(d.b) > 0 {
		return fmt.Errorf("balances: %w", errEncoding)
	}
	err = l.Restore(size, now, holdings, admitted(j.backend, &d.err))
	if d.err == nil && err == nil {
		err = j.restoreOwners()
	}
	if d.err != nil {
		return d.err
	}
	return err
}

// restoreOwners restores the owners' rows, if any were written.
func (j *Journal) restoreOwners() (err error) {
	for key, row := range j.backend.Scan([]byte{stateTable, 0}, []byte{stateTable + 1}, &err) {
		if err := j.owners.Restore(string(key[1:]), string(row)); err != nil {
			return err
		}
	}
	return err
}

// admitted yields the contracts ever admitted. It stores an error in err.
func admitted(values Values, err *error) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for key, page := range values.Scan([]byte{contractTable}, []byte{contractTable + 1}, err) {
			at, ok := keySeq(key)
			if !ok || len(page) != pageBytes {
				*err = fmt.Errorf("contracts admitted: %w", errEncoding)
				return
			}
			for i := range int64(pageBits) {
				if page[i/8]>>(i%8)&1 == 1 && !yield(at*pageBits+i) {
					return
				}
			}
		}
	}
}
