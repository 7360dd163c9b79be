package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"bourse/bank/audit"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestHarmTold checks that if 512 bytes of a bank were zeroed, readers, audits and writers
// either work or report the damage in one line, without Pebble's stack traces.
func TestHarmTold(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 0))
	told := 0
	for n := range 40 {
		mem, _ := crashed(t, 30+n, 100, false, src)
		if n%2 == 0 { // damage a bank that was closed
			j, _, err := Open("bank", Options{FS: mem})
			if err != nil {
				t.Fatal(err)
			}
			closeJournal(t, j)
		}
		name := zeroBlock(t, mem, src)
		check := func(who string, err error) {
			if err == nil {
				return
			}
			if told++; strings.Contains(err.Error(), "\n") {
				t.Errorf("seed %d, case %d, %s: %s is told %q, want one line", seed, n, name, who, err)
			}
		}
		if r, err := OpenReader("bank", Options{FS: mem}); err != nil {
			check("who opens it to read", err)
		} else {
			for range r.Entries() {
			}
			check("who reads", r.Err())
			check("who closes", r.Close())
		}
		report, err := audit.Audit("bank", audit.Options{FS: mem})
		check("who audits", err)
		if err == nil {
			for _, f := range report.Findings {
				check("who audits", errors.New(f.String()))
			}
		}
		check("who writes", work(mem))
	}
	if told == 0 {
		t.Errorf("seed %d: nobody was told anything", seed)
	}
	t.Logf("%d messages", told)
}

// zeroBlock zeroes a block of a file that is not already zero.
func zeroBlock(t *testing.T, fs vfs.FS, src *rand.Rand) string {
	t.Helper()
	names, err := fs.List("bank")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	for {
		name := names[src.IntN(len(names))]
		b, err := readFile(fs, "bank/"+name, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) == 0 {
			continue
		}
		at := src.IntN(len(b)) / 512 * 512
		clear(b[at:min(at+512, len(b))])
		f, err := fs.Create("bank/"+name, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(b); err != nil {
			t.Fatal(err)
		}
		return name
	}
}

// work opens the bank and books entries until tables are written or an error is returned.
func work(fs vfs.FS) error {
	told := make(chan error, 10)
	opts := Options{FS: fs, memTable: 32 << 10, BalancesEvery: 3, Fatal: func(err error) {
		select {
		case told <- err:
		default:
		}
		select {} // Fatal must not return
	}}
	go func() {
		s, err := OpenSequencer("bank", opts)
		for n := 0; err == nil && n < 400; n++ {
			_, err = s.Do(context.Background(), transfer(fmt.Sprint("told", n), "mint", fmt.Sprint("user:", n%20), 1))
		}
		if err == nil {
			err = s.Close()
		}
		told <- err
	}()
	select {
	case err := <-told:
		return err
	case <-time.After(hang):
		return errors.New("nothing,\nfor long")
	}
}
