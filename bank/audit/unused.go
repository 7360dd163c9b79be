package audit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/sstable"
)

// checkUnused looks for damage to data on which no entry depends, in a ledger that was not
// closed. It checks the files that are no longer written, if Pebble has not removed them. It
// does not check the remains of an interrupted write, because they have no valid checksum.
func (a *auditor) checkUnused() {
	names, err := a.opts.FS.List(a.dir)
	if err != nil || a.head == nil || len(a.head.kept) == 0 { // the opening of the ledger was interrupted
		return
	}
	options := newest(a.head.kept, "OPTIONS-", "")
	for name, want := range a.head.kept {
		if name == options || slices.Contains(names, name) {
			a.sameFile(name, want)
		}
	}
	there := make(map[string]string)
	for _, name := range names {
		there[name] = ""
	}
	log, added, live := newest(there, "", ".log"), make(map[int64]bool), make(map[int64]bool)
	if b, err := a.readFile(newest(there, "MANIFEST-", "")); err == nil {
		added, live = tables(b)
	}
	for _, name := range names {
		n, ok := fileNumber(name, "", ".log")
		if _, kept := a.head.kept[name]; ok && name != log && !kept {
			a.closedLog(name, n)
		}
		if n, ok := fileNumber(name, "", ".sst"); ok && added[n] && !live[n] {
			a.oldTable(name)
		}
	}
}

// sameFile requires that a file is unchanged since HEAD recorded it.
func (a *auditor) sameFile(name, want string) {
	if found := a.sum(name); found != want {
		a.fileFinding(name, "SHA-256 and size "+found, want+", as when the ledger was opened")
	}
}

// closedLog requires that a log that is followed by another log is complete.
func (a *auditor) closedLog(name string, number int64) {
	b, err := a.readFile(name)
	if err != nil {
		a.fileFinding(name, err.Error(), "a readable log")
		return
	}
	log := numbered(record.NewReader, bytes.NewReader(b), number)
	for err == nil {
		var r io.Reader
		if r, err = log.Next(); err == nil {
			_, err = io.Copy(io.Discard, r)
		}
	}
	if err != io.EOF || log.Offset() != int64(len(b)-trailer) {
		a.fileFinding(name, fmt.Sprintf("data that Pebble cannot read from byte %d on: %v", log.Offset(), err), "a properly closed log")
	}
}

// trailer is the length of the end of a log that Pebble has closed. It has no checksum.
const trailer = 11

// numbered calls open with the number of a log. The type of this number is internal to Pebble.
func numbered[N ~uint64, R any](open func(io.Reader, N) R, in io.Reader, number int64) R {
	return open(in, N(number))
}

// oldTable requires that a table that Pebble no longer uses is intact.
func (a *auditor) oldTable(name string) {
	err := func() error {
		f, err := a.opts.FS.Open(a.opts.FS.PathJoin(a.dir, name))
		if err != nil {
			return err
		}
		file, err := sstable.NewSimpleReadable(f)
		if err != nil {
			return err
		}
		t, err := sstable.NewReader(context.Background(), file, sstable.ReaderOptions{})
		if err != nil {
			return err
		}
		defer t.Close()
		return t.ValidateBlockChecksums()
	}()
	if err != nil {
		a.fileFinding(name, err.Error(), "an unchanged table")
	}
}

// newest returns the name with the highest number, among names with the given prefix and
// suffix.
func newest(names map[string]string, before, after string) (name string) {
	most := int64(-1)
	for x := range names {
		if n, ok := fileNumber(x, before, after); ok && n > most {
			name, most = x, n
		}
	}
	return name
}

// fileNumber returns the number between the given prefix and suffix of a name.
func fileNumber(name, before, after string) (int64, bool) {
	s, ok := strings.CutPrefix(name, before)
	s, end := strings.CutSuffix(s, after)
	n, err := strconv.ParseInt(s, 10, 64)
	return n, ok && end && err == nil
}

// tables returns the numbers of all tables that a manifest has added, and of those that are
// still in use at its end. It returns nil if it finds an unknown record.
func tables(manifest []byte) (added, live map[int64]bool) {
	added, live = make(map[int64]bool), make(map[int64]bool)
	for edits := record.NewReader(bytes.NewReader(manifest), 0); ; {
		r, err := edits.Next()
		if err != nil {
			return added, live
		}
		b, err := io.ReadAll(r)
		in := input{b: b}
		for err == nil && !in.bad && len(in.b) > 0 {
			switch tag := in.int(); tag {
			case 1: // name of the comparer
				in.text()
			case 2, 3, 4, 9: // numbers of logs, files and entries
				in.int()
			case 6: // table removed
				in.int()
				delete(live, in.int())
			case 103: // table added
				n := in.newTable()
				added[n], live[n] = !in.bad, !in.bad
			default:
				in.bad = true
			}
		}
		if err != nil || in.bad {
			return nil, nil
		}
	}
}

// text reads bytes of any length.
func (in *input) text() []byte { return in.bytes(int64(len(in.b))) }

// newTable reads a manifest's record of a new table and returns the table's number.
func (in *input) newTable() int64 {
	in.int() // level
	n := in.int()
	in.int() // size
	in.text()
	in.text() // keys
	in.int()
	in.int() // sequence numbers
	for !in.bad {
		switch field := in.int(); {
		case field == 1:
			return n
		case field >= 64: // virtual tables, which are parts of other tables
			in.bad = true
		default:
			in.text()
		}
	}
	return n
}
