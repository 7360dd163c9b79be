package audit

import (
	"crypto/rand"
	"fmt"
	"io"
	randv2 "math/rand/v2"
	"path"
	"reflect"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/store"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// ofRun makes the ledger of a run of n contracts, each of a note of up to 4 kB, so that
// there are several logs.
func ofRun(t *testing.T, fs vfs.FS, n int64) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	src := randv2.New(randv2.NewPCG(7, 7))
	j, err := store.Create("ledger", store.Options{FS: fs, Reproducible: true})
	must(err)
	l := bank.New(j)
	for i := range n {
		user, err := l.Account(fmt.Sprintf("user:%d", i%9))
		must(err)
		host, err := l.Account(fmt.Sprintf("host:%d", i%20))
		must(err)
		must(l.Mint(float64(i), user, bank.Micros(100)))
		must(l.Hold(float64(i), i, user, bank.Micros(100), []byte(strings.Repeat("x", src.IntN(4000)))))
		if i%5 > 0 {
			_, err = l.Settle(float64(i), i, []bank.Payment{{To: host, Amount: bank.Micros(30)}}, nil)
			must(err)
		}
	}
	must(j.Close())
}

// TestUnflushed promises that a ledger of logs alone is read without Pebble to the same
// report, and that a file of it that differs in any bit, or that is cut short, is left to
// Pebble; so is a ledger that has tables.
func TestUnflushed(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	ofRun(t, fs, 4000)
	opts := Options{FS: fs, Chance: rand.Reader}
	got := readUnflushed("ledger", opts)
	want, doubt := read("ledger", opts)
	if doubt || !want.Clean() || !reflect.DeepEqual(got, want) {
		t.Fatalf("not clean, or in doubt, or another report: %v, want %v", got, want.Findings)
	}
	names, err := fs.List("ledger")
	if err != nil {
		t.Fatal(err)
	}
	logs, src := 0, randv2.New(randv2.NewPCG(randv2.Uint64(), 0))
	for _, name := range names {
		b, err := (&auditor{opts: opts, dir: "ledger"}).readFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if isLog(name) {
			logs++
		}
		if len(b) == 0 {
			continue
		}
		for i := range 12 {
			at := src.IntN(len(b))
			harmed := append(b[:at:at], b[at]^1<<src.IntN(8))
			if i%6 > 0 {
				harmed = append(harmed, b[at+1:]...)
			}
			put(t, fs, "ledger/"+name, harmed)
			if r := readUnflushed("ledger", opts); r != nil {
				t.Errorf("%s, harmed at byte %d of %d, is clean", name, at, len(b))
			}
		}
		put(t, fs, "ledger/"+name, b)
	}
	if r := readUnflushed("ledger", opts); logs < 3 || r == nil {
		t.Errorf("%d logs, want 3 or more; mended, it is read: %t", logs, r != nil)
	}
	j, _, err := store.Open("ledger", store.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if r := readUnflushed("ledger", opts); r != nil {
		t.Error("a ledger that was opened again is read without Pebble")
	}
}

func put(t *testing.T, fs vfs.FS, name string, b []byte) {
	t.Helper()
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err == nil {
		_, err = f.Write(b)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

// TestLogReader promises that logs are read as they were written, wherever their records
// end: with any room left in a block for the next.
func TestLogReader(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	for range 2 { // headers of chunks may differ in the first log
		db, err := pebble.Open("db", &pebble.Options{FS: fs, Logger: silent{}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20000 {
			n := i * 7919 % 211
			if err := db.Set(fmt.Appendf(nil, "%d", n), make([]byte, n), pebble.NoSync); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		names, err := fs.List("db")
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		for _, name := range names {
			n, ok := fileNumber(name, "", ".log")
			if !ok {
				continue
			}
			f, err := fs.Open(path.Join("db", name))
			if err != nil {
				t.Fatal(err)
			}
			r := newLogReader(f, n)
			for {
				b, err := r.next()
				if err == io.EOF {
					break
				}
				in := input{b: b}
				in.take(12)
				kind, key, value := in.byte(), in.text(), in.text()
				if err != nil || kind != 1 || string(key) != fmt.Sprint(len(value)) || len(in.b) > 0 {
					t.Fatalf("%s, record %d: %v, %d %q, %d bytes", name, read, err, kind, key, len(value))
				}
				read++
			}
		}
		if read < 20000 {
			t.Errorf("%d records, want 20000 or more", read)
		}
	}
}
