package audit

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// Values provides read access to the values of a ledger by key. bank/store lists the keys.
type Values interface {
	// Get returns the value at key, or nil if there is none.
	Get(key []byte) ([]byte, error)

	// Scan yields the keys and values in [from, to) in order. Each key and value is valid until
	// the next iteration. Scan stores an error in err.
	Scan(from, to []byte, err *error) iter.Seq2[[]byte, []byte]
}

// From verifies a ledger that is not in a directory. The values must not change during the
// audit. The argument kept is the head stored with the values, as text. An error means that the
// Head of opts is malformed or that the values cannot be read.
func From(v Values, kept string, opts Options) (*Report, error) {
	if opts.Head != "" {
		if _, err := parseHead(opts.Head); err != nil {
			return nil, fmt.Errorf("audit: %w", err)
		}
	}
	unread := newUnread()
	v = watchedValues{v, unread}
	r, doubt := auditValues(v, kept, opts)
	if err := unread.err(); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	if doubt {
		opts.Chance = nil
		r, _ = auditValues(v, kept, opts)
	}
	if err := unread.err(); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	return r, nil
}

func auditValues(v Values, kept string, opts Options) (r *Report, doubt bool) {
	a := newAuditor(opts)
	if _, err := parseHead(kept); err != nil {
		a.fileFinding(headFile, fmt.Sprintf("%.80q", kept), "the ledger's head")
	}
	a.expect(kept, headFile)
	a.expect(opts.Head, "the head given")
	if err := a.read(v); err != nil && a.bad == nil {
		a.fail(a.chain.size+1, err.Error(), "readable values")
	}
	a.finishEntries()
	r = a.report()
	r.Beyond = without(r.Beyond, lostTail, pebbleOwn)
	return r, a.doubt
}

// without returns the strings in said that some does not contain.
func without(said []string, some ...string) []string {
	return slices.DeleteFunc(said, func(s string) bool { return slices.Contains(some, s) })
}

// A pebbleValues provides the values of a Pebble database.
type pebbleValues struct{ *pebble.DB }

func (db pebbleValues) Get(key []byte) ([]byte, error) {
	v, closer, err := db.DB.Get(key)
	if err == pebble.ErrNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	return bytes.Clone(v), nil
}

func (db pebbleValues) Scan(from, to []byte, err *error) iter.Seq2[[]byte, []byte] {
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
