package audit

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
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
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// orFatal returns what ends the test at an error.
func orFatal(t *testing.T) func(error) {
	return func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
}

// ofRun makes the ledger of a run of n contracts, each of a note of up to 4 kB.
func ofRun(t *testing.T, fs vfs.FS, n int64) {
	t.Helper()
	must := orFatal(t)
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
		if i%1000 == 0 {
			must(j.Flush())
		}
	}
	must(j.Close())
}

// inThree divides the log of a run's ledger into three, as Pebble did that wrote them for
// versions before.
func inThree(t *testing.T, fs vfs.FS) {
	t.Helper()
	must := orFatal(t)
	whole := (&auditor{opts: Options{FS: fs}, dir: "ledger"}).readFile
	log, err := whole("000002.log")
	must(err)
	config := record.LogWriterConfig{WriteWALSyncOffsets: func() bool { return true }}
	begin := []func(w io.Writer) *record.LogWriter{
		func(w io.Writer) *record.LogWriter { return record.NewLogWriter(w, 2, config) },
		func(w io.Writer) *record.LogWriter { return record.NewLogWriter(w, 4, config) },
		func(w io.Writer) *record.LogWriter { return record.NewLogWriter(w, 5, config) },
	}
	names := []string{"000002.log", "000004.log", "000005.log"}
	var out *record.LogWriter
	in, at := record.NewReader(bytes.NewReader(log), 2), 0
	for r, err := in.Next(); err != io.EOF; r, err = in.Next() {
		must(err)
		batch, err := io.ReadAll(r)
		must(err)
		if at < len(names) {
			if out != nil {
				must(out.Close())
			}
			f, err := fs.Create("ledger/"+names[at], vfs.WriteCategoryUnspecified)
			must(err)
			out = begin[at](f)
			at++
		}
		_, err = out.WriteRecord(batch)
		must(err)
	}
	must(out.Close())
	if at < len(names) {
		t.Fatalf("a log of %d records, want 3", at)
	}

	head, err := whole("HEAD")
	must(err)
	var text bytes.Buffer
	for line := range strings.Lines(string(head)) {
		switch {
		case strings.HasSuffix(line, "000002.log\n"):
			for _, name := range names {
				b, err := whole(name)
				must(err)
				fmt.Fprintf(&text, "file %x %d %s\n", sha256.Sum256(b), len(b), name)
			}
		case strings.HasPrefix(line, "end "):
			fmt.Fprintf(&text, "end %x\n", sha256.Sum256(text.Bytes()))
		default:
			text.WriteString(line)
		}
	}
	put(t, fs, "ledger/HEAD", text.Bytes())
}

// TestUnflushed promises that a ledger of logs alone is read without Pebble to the same
// report, and that a file of it that differs in any bit, or that is cut short, is left to
// Pebble; so is a ledger that has tables.
func TestUnflushed(t *testing.T) {
	t.Parallel()
	for _, logs := range []int{1, 3} {
		t.Run(fmt.Sprint(logs), func(t *testing.T) { t.Parallel(); testUnflushed(t, logs) })
	}
}

func testUnflushed(t *testing.T, want int) {
	fs := vfs.NewMem()
	ofRun(t, fs, 4000)
	if want > 1 {
		inThree(t, fs)
	}
	opts := Options{FS: fs, Chance: rand.Reader}
	got := readUnflushed("ledger", opts)
	byPebble, doubt := read("ledger", opts)
	if doubt || !byPebble.Clean() || !reflect.DeepEqual(got, byPebble) {
		t.Fatalf("not clean, or in doubt, or another report: %v, want %v", got, byPebble.Findings)
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
	if r := readUnflushed("ledger", opts); logs != want || r == nil {
		t.Errorf("%d logs, want %d; mended, it is read: %t", logs, want, r != nil)
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

// TestUnflushedRest promises that what is kept beside the groups is held against them where
// all is read once: that it is left to Pebble if any of it is another, though checksums and
// HEAD go with that. It is not given before it is known.
func TestUnflushedRest(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	ofRun(t, fs, 8)
	opts := Options{FS: fs, Chance: rand.Reader}
	a := newAuditor(opts)
	a.dir = "ledger"
	a.checkHead()
	u, err := a.unflushed()
	if err != nil || len(u.numbers) == 0 {
		t.Fatal(err)
	}
	if _, err := u.Get([]byte("S")); err != errUnusual {
		t.Errorf("before all is read: %v", err)
	}
	if u.size--; a.read(u) != errUnusual {
		t.Error("balances of another entry than the last are read")
	}
	for range u.Scan([]byte("G"), []byte("H"), &err) {
		t.Error("groups are read twice")
	}
	if err != errUnusual {
		t.Errorf("groups read twice: %v", err)
	}
	files := map[string][]byte{headFile: nil}
	for _, n := range u.numbers {
		files[fmt.Sprintf("%06d.log", n)] = nil
	}
	for name := range files {
		if files[name], err = a.readFile(name); err != nil || len(files[name]) > blockSize {
			t.Fatal(len(files[name]), err)
		}
	}
	for _, key := range []string{"", "Buser:1", "Bhost:1", "Bescrow:0", "C\x00\x00\x00\x00\x00\x00\x00\x00", "S"} {
		changed, head := 0, string(files[headFile])
		for name, b := range files {
			if name == headFile {
				continue
			}
			forged := bytes.Clone(b)
			set := append([]byte{1, byte(len(key))}, key...)
			if at := bytes.LastIndex(b, set); at >= 0 && key != "" {
				forged[at+len(set)+1] ^= 2 // a byte of its value
				changed++
			}
			reseal(forged)
			head = strings.Replace(head, fmt.Sprintf("%x", sha256.Sum256(b)), fmt.Sprintf("%x", sha256.Sum256(forged)), 1)
			put(t, fs, "ledger/"+name, forged) // which may write over it, when races are looked for
		}
		head, _, _ = strings.Cut(head, "end ")
		put(t, fs, "ledger/HEAD", fmt.Appendf(nil, "%send %x\n", head, sha256.Sum256([]byte(head))))
		if r := readUnflushed("ledger", opts); (r != nil) != (key == "") || (changed > 0) != (key != "") {
			t.Errorf("with %d values at %q changed the ledger is clean: %t", changed, key, r != nil)
		}
	}
}

// reseal makes the checksums of chunks of a log that fits into one block anew.
func reseal(b []byte) {
	header, _ := chunksOf(b)
	for len(b) > closing && b[6] > 0 {
		n := header + int(binary.LittleEndian.Uint16(b[4:]))
		binary.LittleEndian.PutUint32(b, checksum(b[:n]))
		b = b[n:]
	}
}
