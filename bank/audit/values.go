package audit

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// Values are a ledger's, by key, as bank/store lists them.
type Values interface {
	// Get returns the value at key, nil if there is none.
	Get(key []byte) ([]byte, error)

	// Scan yields keys and values in [from, to) in order, valid until the next, and
	// leaves in err what went wrong.
	Scan(from, to []byte, err *error) iter.Seq2[[]byte, []byte]
}

// From proves a ledger that is not in a directory, from values that do not
// change meanwhile. Kept is the head that stands beside them, as text. An error
// means that the Head of opts is no head, or is that of values that cannot be read.
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
		a.fail(a.chain.size+1, err.Error(), "values that can be read")
	}
	a.finishEntries()
	r = a.report()
	r.Beyond = without(r.Beyond, lostTail, pebbleOwn)
	return r, a.doubt
}

// without returns what is said but for some of it.
func without(said []string, some ...string) []string {
	return slices.DeleteFunc(said, func(s string) bool { return slices.Contains(some, s) })
}

// pebbleValues are the values of a database.
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
