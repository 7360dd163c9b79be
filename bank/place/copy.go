package place

import (
	"context"
	"errors"
	"fmt"

	"bourse/bank/audit"
	"bourse/bank/store"
)

// ErrWithin means that a ledger would be copied into itself.
var ErrWithin = errors.New("want a place outside it")

// A Copying copies ledgers.
type Copying struct {
	// Audit verifies a ledger. Audit is called for the original before it is copied, and for
	// the copy.
	Audit func(p Place, opts audit.Options) (*audit.Report, error)

	// Fatal is called when the copy can no longer be written, and must not return. The
	// incomplete copy has then been removed or marked as unfinished. If removing or marking the
	// copy failed, err also contains that error.
	Fatal func(err error)
}

// Copy copies the ledger in from to another place and returns the audit of the copy. If the
// ledger or the copy is not clean, Copy returns the failed audit and leaves no copy.
func (c Copying) Copy(ctx context.Context, from, to Place) (report *audit.Report, err error) {
	part, err := to.part()
	if err != nil {
		return nil, err
	}
	if f, ok := from.(folder); ok && f.within(to) {
		return nil, fmt.Errorf("copy to %s: found a place in %s, %w", to, from, ErrWithin)
	}
	if report, err = c.Audit(from, audit.Options{}); err != nil || !report.Clean() {
		return report, err
	}
	head, err := store.ParseHead(report.Head)
	if err != nil {
		return nil, err
	}
	fatal := func(err error) { c.Fatal(errors.Join(err, part.discard())) }
	j, err := part.Create(store.Options{Unfinished: true, Fatal: fatal})
	if errors.Is(err, store.ErrExists) || errors.Is(err, store.ErrUnfinished) || errors.Is(err, store.ErrOccupied) {
		return nil, fmt.Errorf("%s remains from an interrupted copy: remove it, then copy again", part)
	}
	if err != nil {
		if _, ok := part.(folder); ok && !errors.Is(err, store.ErrLocked) { // remove the parts created so far
			err = errors.Join(err, part.discard())
		}
		return nil, err
	}
	whole := false
	defer func() {
		if !whole {
			err = errors.Join(err, part.discard())
		}
	}()
	if err := errors.Join(copyEntries(ctx, j, from, head.Size), j.Close()); err != nil {
		return nil, err
	}
	report, err = c.Audit(part, audit.Options{Head: head.String(), Whole: true, Unfinished: true})
	if err != nil || !report.Clean() {
		return report, err
	}
	if err := part.rename(to); err != nil {
		return nil, err
	}
	whole = true
	return report, to.finish()
}

// copyEntries adds the first n entries of the ledger in from to j.
func copyEntries(ctx context.Context, j *store.Journal, from Place, n int64) error {
	r, err := from.Reader()
	if err != nil {
		return err
	}
	defer r.Close()
	for e := range r.Entries() {
		if e.Seq > n {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := j.Append(e); err != nil {
			return err
		}
	}
	return r.Err()
}
