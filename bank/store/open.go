package store

import (
	"fmt"
	"iter"

	"bourse/bank"

	"github.com/cockroachdb/pebble/v2"
)

// Open opens the ledger in dir and returns it with the journal that it goes on
// with. Only the entries since balances were last written are replayed. It returns
// an error wrapping [ErrNone], [ErrLocked], or [ErrDamaged] with what was found.
func Open(dir string, opts Options) (*Journal, *bank.Ledger, error) {
	j := newJournal(dir, opts)
	l, err := j.open()
	if err != nil {
		j.release()
		return nil, nil, fmt.Errorf("open ledger %s: %w", dir, plain(err))
	}
	return j, l, nil
}

func (j *Journal) open() (*bank.Ledger, error) {
	fsys := j.opts.FS
	s, err := readSeal(fsys, j.dir)
	if err != nil {
		return nil, damaged(err)
	}
	if s == nil {
		return nil, ErrNone
	}
	if err := j.lockDir(); err != nil {
		return nil, err
	}
	// Until now another process may have written.
	if s, err = readSeal(fsys, j.dir); err != nil || s == nil {
		return nil, damaged(err)
	}
	if len(s.files) > 0 {
		if err := s.check(fsys, j.dir); err != nil {
			return nil, damaged(err)
		}
	}
	if err := j.openDB(s.head); err != nil {
		return nil, err
	}
	l, err := j.replay(s.head)
	if err != nil {
		return nil, damaged(err)
	}
	return l, nil
}

func damaged(err error) error { return fmt.Errorf("%w: %w", ErrDamaged, err) }

// replay reads balances and the groups after them, which must lead through head.
func (j *Journal) replay(head Head) (*bank.Ledger, error) {
	l := bank.New(j)
	if err := j.restore(l); err != nil {
		return nil, err
	}
	from := j.tree.size
	if from == head.Size && j.tree.head() != head {
		return nil, fmt.Errorf("entries to %d are not those of %s", from, HeadFile)
	}
	g := groupReader{tree: j.tree}
	for key, value := range scan(j.db, seqKey(from+1), []byte{groupTable + 1}, &g.err) {
		j.since++
		for e := range g.entries(key, value) {
			if err := l.Replay(e); err != nil {
				return nil, err
			}
			j.standing.add(e, g.tree.last)
			if g.tree.size == head.Size && g.tree.head() != head {
				return nil, fmt.Errorf("entries to %d are not those of %s", head.Size, HeadFile)
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
		return nil, fmt.Errorf("entries %d to %d are gone", g.tree.size+1, head.Size)
	}
	j.tree, j.time, j.replayed = g.tree, l.Now(), g.tree.size-from
	return l, nil
}

// restore reads the balances, if any were written.
func (j *Journal) restore(l *bank.Ledger) error {
	value, err := get(j.db, []byte{standingTable})
	if value == nil || err != nil {
		return err
	}
	d := decoder{b: value}
	size, now := d.int(), d.float()
	j.tree = d.tree(size)
	var standings []bank.Standing
	for key, value := range scan(j.db, []byte{balanceTable}, []byte{balanceTable + 1}, &d.err) {
		s, err := decodeStanding(string(key[1:]), value)
		if err != nil {
			return err
		}
		standings = append(standings, s)
	}
	if d.err != nil || len(d.b) > 0 {
		return fmt.Errorf("balances: %w", errEncoding)
	}
	err = l.Restore(size, now, standings, admitted(j.db, &d.err))
	if d.err != nil {
		return d.err
	}
	return err
}

// admitted yields the contracts ever admitted, and leaves in err what went wrong.
func admitted(db *pebble.DB, err *error) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for key, page := range scan(db, []byte{contractTable}, []byte{contractTable + 1}, err) {
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

// scan yields keys and values in [from, to), valid until the next, and leaves in
// err what went wrong.
func scan(db pebble.Reader, from, to []byte, err *error) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		it, e := db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
		if e != nil {
			*err = e
			return
		}
		for ok := it.First(); ok; ok = it.Next() {
			value, e := it.ValueAndErr()
			if e != nil {
				*err = e
				break
			}
			if !yield(it.Key(), value) {
				break
			}
		}
		if e := it.Close(); e != nil && *err == nil {
			*err = e
		}
	}
}
