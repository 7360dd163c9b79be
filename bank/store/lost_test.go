package store

import (
	"bytes"
	"errors"
	"iter"
	"strings"
	"testing"

	"bourse/bank"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A shortened backend has lost all values from a key on.
type shortened struct {
	Backend
	end []byte
}

func (s shortened) Scan(from, to []byte, err *error) iter.Seq2[[]byte, []byte] {
	if bytes.Compare(to, s.end) > 0 {
		to = s.end
	}
	return s.Backend.Scan(from, to, err)
}

// TestLostGroups checks that every backend detects missing groups at the end of a ledger when
// it is opened. No balances include these groups yet.
func TestLostGroups(t *testing.T) {
	t.Parallel()
	for lost := range 3 {
		j := create(t, "bank", Options{FS: vfs.NewMem()})
		l := bank.New(j)
		a, _ := l.Account("user:a")
		for range 3 {
			if err := errors.Join(l.Mint(0, a, bank.Micros(5)), j.Flush()); err != nil {
				t.Fatal(err)
			}
		}
		_, again, err := Resume(shortened{j.backend, seqKey(int64(4 - lost))}, "bank", j.Head(), Options{})
		switch {
		case lost == 0 && (err != nil || again.Entries() != 3):
			t.Errorf("a whole ledger: %v", err)
		case lost > 0 && (!errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "to 3 are missing")):
			t.Errorf("a ledger without its last %d entries: %v", lost, err)
		}
		j.release()
	}
}
