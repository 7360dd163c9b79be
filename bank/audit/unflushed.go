package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// unflushed are the values of a closed ledger whose database is write-ahead logs alone, as
// a run leaves it. Groups stand there in order and are read as they come, so that no more
// than one is in memory; Pebble would have all of them there. The rest is kept as it is
// at the end, on the way: it is known when all groups were read, and the logs are read once.
//
// Whatever is not as a writer leaves it that nothing disturbed is errUnusual, and Pebble is
// to be asked.
type unflushed struct {
	fs      vfs.FS
	dir     string
	numbers []int64           // of the logs, in order
	size    int64             // entries, by HEAD
	read    bool              // to the end: only then the rest is known
	rest    map[string]*value // all but groups, by key
	keys    []string          // of those, in order
	sums    map[string]string // of the logs, as HEAD says it
	record  []byte            // room for one of a log, to be used again
}

// A value is what stands at a key.
type value struct{ b []byte }

var errUnusual = errors.New("a ledger that Pebble has to read")

// readUnflushed returns the report on a ledger of logs alone if it is clean, else nil.
func readUnflushed(dir string, opts Options) *Report {
	a := newAuditor(opts)
	a.dir = dir
	a.checkHead()
	v, err := a.unflushed()
	if err == nil {
		err = a.read(v)
	}
	if err != nil || a.doubt {
		return nil
	}
	a.finishEntries()
	a.checkFiles()
	if r := a.report(); r.Clean() {
		return r
	}
	return nil
}

// unflushed returns the values of the ledger, of which nothing is read yet.
func (a *auditor) unflushed() (*unflushed, error) {
	if !a.closed() || a.head.acks {
		return nil, errUnusual
	}
	head, err := parseHead(a.head.head)
	if err != nil {
		return nil, err
	}
	names, err := a.opts.FS.List(a.dir)
	if err != nil {
		return nil, err
	}
	a.sums = make(map[string]string)
	u := &unflushed{fs: a.opts.FS, dir: a.dir, size: head.size, rest: make(map[string]*value), sums: a.sums}
	manifest := ""
	for _, name := range names {
		if n, ok := fileNumber(name, "", ".log"); ok {
			u.numbers = append(u.numbers, n)
		} else if isTable(name) || isLog(name) || manifest != "" && strings.HasPrefix(name, "MANIFEST-") {
			return nil, errUnusual
		} else if strings.HasPrefix(name, "MANIFEST-") {
			manifest = name
		}
	}
	slices.Sort(u.numbers)
	if b, err := a.readFile(manifest); err != nil || !isFirst(b) {
		return nil, errUnusual
	}
	return u, nil
}

// isFirst reports whether a manifest is that of a database in which nothing but logs has
// come to be.
func isFirst(manifest []byte) bool {
	edits := record.NewReader(bytes.NewReader(manifest), 0)
	r, err := edits.Next()
	if err != nil {
		return false
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return false
	}
	for in := (input{b: b}); len(in.b) > 0; {
		switch tag := in.int(); {
		case tag == 1 && string(in.text()) == "leveldb.BytewiseComparator":
		case tag == 3 || tag == 4: // numbers of files and entries
			in.int()
		default:
			return false
		}
		if in.bad {
			return false
		}
	}
	_, err = edits.Next()
	return err == io.EOF
}

// Get returns the value at key, which is of no group. Before all groups were read it is not
// known.
func (u *unflushed) Get(key []byte) ([]byte, error) {
	if !u.read {
		return nil, errUnusual
	}
	if v := u.rest[string(key)]; v != nil {
		return v.b, nil
	}
	return nil, nil
}

// Scan yields keys and values in [from, to), which are all groups, once, or after them what
// is none.
func (u *unflushed) Scan(from, to []byte, err *error) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		groups := from[0] == 'G'
		if groups == u.read {
			*err = errUnusual
			return
		}
		if groups {
			if *err = u.groups(yield); *err == nil {
				u.keys, u.read = slices.Sorted(maps.Keys(u.rest)), true
			}
			return
		}
		at, _ := slices.BinarySearch(u.keys, string(from))
		for ; at < len(u.keys) && u.keys[at] < string(to); at++ {
			if !yield([]byte(u.keys[at]), u.rest[u.keys[at]].b) {
				return
			}
		}
	}
}

// groups yields the groups, and keeps the rest.
func (u *unflushed) groups(yield func(key, value []byte) bool) error {
	return u.batches(func(key, b []byte, set bool) bool {
		if key[0] == 'G' {
			return yield(key, b)
		}
		switch old := u.rest[string(key)]; {
		case !set:
			delete(u.rest, string(key))
		case old != nil:
			old.b = append(old.b[:0], b...)
		default:
			u.rest[string(key)] = &value{bytes.Clone(b)}
		}
		return true
	})
}

// batches calls do for all that was set or deleted, in that order, until it says no, which
// is an error, as the rest is then not known. Key and value are good until the next.
func (u *unflushed) batches(do func(key, value []byte, set bool) bool) error {
	next := uint64(0) // number of what was written; the first is Pebble's choice
	for _, n := range u.numbers {
		name := fmt.Sprintf("%06d.log", n)
		f, err := u.fs.Open(u.fs.PathJoin(u.dir, name))
		if err != nil {
			return err
		}
		h := sha256.New()
		r := newLogReader(io.TeeReader(f, h), n)
		r.record = u.record
		err = u.log(r, &next, do)
		u.record = r.record
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			return err
		}
		u.sums[name] = fmt.Sprintf("%x %d", h.Sum(nil), r.size)
	}
	return nil
}

// log is batches of one log. A batch is its first number, 8 bytes, and how many it has, 4
// bytes, then that many records: a kind, 1 to set and 0 to delete, a key, and of a set a
// value.
func (u *unflushed) log(r *logReader, next *uint64, do func(key, value []byte, set bool) bool) error {
	for {
		b, err := r.next()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if len(b) < 12 || *next > 0 && binary.LittleEndian.Uint64(b) != *next {
			return errUnusual
		}
		count := binary.LittleEndian.Uint32(b[8:])
		*next = binary.LittleEndian.Uint64(b) + uint64(count)
		in := input{b: b[12:]}
		for ; count > 0; count-- {
			kind := in.byte()
			key := in.text()
			var value []byte
			if kind == 1 {
				value = in.text()
			}
			if in.bad || kind > 1 || len(key) == 0 || kind == 0 && key[0] == 'G' {
				return errUnusual
			}
			if !do(key, value, kind == 1) {
				return errUnusual
			}
		}
		if len(in.b) > 0 {
			return errUnusual
		}
	}
}

// A logReader reads the records of a log that Pebble closed; see [harmedLog]. It goes block
// by block.
type logReader struct {
	in     io.Reader
	number int64
	block  [blockSize]byte
	left   []byte // of the block
	full   bool   // the block is not cut by the log's end
	header int    // length of the headers of chunks, and
	least  byte   // the least of their types
	size   int64  // bytes read
	record []byte
}

// start is the length of headers before the first chunk.
const start = blockSize

func newLogReader(in io.Reader, number int64) *logReader {
	return &logReader{in: in, number: number, full: true, header: start}
}

// next returns the next record, good until the one after it, [io.EOF] if the log was
// closed there, or errUnusual.
func (r *logReader) next() ([]byte, error) {
	r.record = r.record[:0]
	for first := true; ; first = false {
		place, data, err := r.chunk()
		switch begins := place == wholeChunk || place == firstChunk; {
		case err == io.EOF && !first:
			return nil, errUnusual
		case err != nil:
			return nil, err
		case begins != first:
			return nil, errUnusual
		case place == wholeChunk:
			return data, nil
		}
		if n := len(r.record); n+len(data) > cap(r.record) {
			r.record = slices.Grow(r.record, n+len(data)) // twice as much: records are of megabytes
		}
		if r.record = append(r.record, data...); place == lastChunk {
			return r.record, nil
		}
	}
}

// Places of a chunk in its record.
const (
	wholeChunk = iota
	firstChunk
	middleChunk
	lastChunk
)

// chunk returns the next chunk's place in its record, and what it has of it.
func (r *logReader) chunk() (place int, data []byte, err error) {
	if r.full && len(r.left) < r.header {
		if !zero(r.left) {
			return 0, nil, errUnusual
		}
		n, err := io.ReadFull(r.in, r.block[:])
		if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
			return 0, nil, err
		}
		r.left, r.full, r.size = r.block[:n], n == blockSize, r.size+int64(n)
		if r.header == start {
			r.header, r.least = chunksOf(r.left)
		}
	}
	b, header, least := r.left, r.header, r.least
	if len(b) == closing && isClosing(b, r.number) {
		if n, _ := io.ReadFull(r.in, make([]byte, 1)); n > 0 {
			return 0, nil, errUnusual
		}
		return 0, nil, io.EOF
	}
	if len(b) < header {
		return 0, nil, errUnusual
	}
	n := header + int(binary.LittleEndian.Uint16(b[4:]))
	if n > len(b) || b[6] < least || b[6] > least+lastChunk || binary.LittleEndian.Uint32(b[7:]) != uint32(r.number) || !isSummed(b[:n]) {
		return 0, nil, errUnusual
	}
	r.left = b[n:]
	return int(b[6] - least), b[header:n], nil
}
