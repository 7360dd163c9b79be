package audit_test

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"
	"syscall"
	"testing"

	"bourse/bank/audit"
	"bourse/bank/store"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// TestUnread checks that a ledger that cannot be read completely, because of permissions or a
// disk failure, is not reported as bad, since its state is unknown. A ledger with a missing
// file is reported as bad.
func TestUnread(t *testing.T) {
	t.Parallel()
	mem := vfs.NewMem()
	makeLedger(t, mem, store.Options{}, 1, 3, 60)
	run(t, mem, audit.Options{}) // a ledger without faults must be clean
	names, err := mem.List("ledger")
	check(t, err)
	unread := 0
	for _, name := range names {
		for _, cause := range []error{syscall.EACCES, syscall.EIO, syscall.EMFILE, fs.ErrNotExist, syscall.ENOENT} {
			fsys := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
				if strings.HasSuffix(op.Path, "/"+name) && op.Kind.ReadOrWrite() == errorfs.OpIsRead {
					return cause
				}
				return nil
			}))
			r, err := audit.Audit("ledger", audit.Options{FS: fsys})
			gone := errors.Is(cause, fs.ErrNotExist)
			switch {
			case gone && err != nil:
				t.Errorf("%s, %v: %v, want a report", name, cause, err)
			case !gone && err == nil && !r.Clean():
				t.Errorf("%s, %v: found %v, want an error", name, cause, r.Findings)
			case err != nil && !errors.Is(err, cause):
				t.Errorf("%s: %v, want %v", name, err, cause)
			case err != nil:
				unread++
			}
		}
	}
	if unread < 3*4 {
		t.Errorf("%d times something could not be read", unread)
	}
}

// lostValues are the values of a server that is lost after a number of requests.
type lostValues struct {
	audit.Values
	left *int
}

var errLost = fmt.Errorf("the server was lost")

func (v lostValues) Get(key []byte) ([]byte, error) {
	if *v.left--; *v.left < 0 {
		return nil, errLost
	}
	return v.Values.Get(key)
}

func (v lostValues) Scan(from, to []byte, err *error) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		for key, value := range v.Values.Scan(from, to, err) {
			if *v.left--; *v.left < 0 {
				*err = errLost
				return
			}
			if !yield(key, value) {
				return
			}
		}
	}
}

// TestLostServer checks that a ledger on a server that is lost at any time is not reported as
// bad.
func TestLostServer(t *testing.T) {
	t.Parallel()
	values, kept := ledgerValues(t)
	for left := 0; ; left++ {
		n := left
		r, err := audit.From(lostValues{values, &n}, kept, audit.Options{})
		if n >= 0 { // the server was not lost
			if err != nil || !r.Clean() || left < 10 {
				t.Errorf("after %d answers: %v, %v", left, r, err)
			}
			return
		}
		if !errors.Is(err, errLost) {
			t.Fatalf("lost after %d answers: %v, %v; want %v", left, r, err, errLost)
		}
	}
}
