package live

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"syscall"

	"bourse/bank/pinned"
	"bourse/bank/store"
	"bourse/experiments/misuse"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// A log stores the market's data in Pebble:
//
//	N          parameters with which the market was created
//	L seq      a record, as a codec encodes it
//	O seq      outcome of that record, if there were calls to the bank or replies
//	K seq      checkpoint after that record (the last two checkpoints, and bases)
//	Q seq      checkpoint after that record, at a time without open contracts
//	B seq      the checkpoint after that record is a base
//	J contract outcome of the contract
//	T seq      tasks started in that step, if any
//	F seq      another version wrote the records up to that one
//	V          format of records, and the version of the program that writes them
//	R order    account/id: answer to an order, with the hash of the order
//
// Seq and contract are eight bytes, big-endian.
type log struct {
	dir   string
	db    *pebble.DB
	seq   int64 // number of the last record written
	first int64 // number of the first record that is retained
	codec codec // state of the encoding after the last record
	read  bool  // whether the log is opened only for reading
}

// Tables, identified by the first byte of a key.
const (
	madeTable       = 'N'
	recordTable     = 'L'
	outcomeTable    = 'O'
	contractTable   = 'J'
	checkpointTable = 'K'
	restTable       = 'Q'
	baseTable       = 'B'
	answerTable     = 'R'
	begunTable      = 'T'
	begunAgainTable = 'F'
	versionTable    = 'V'
)

// numberedTables are the tables with values of records, other than the records.
var numberedTables = string([]byte{outcomeTable, begunTable, checkpointTable, restTable, baseTable, begunAgainTable})

const (
	// blockBytes is the size of a compressed block. Records are similar to each other, so
	// larger blocks compress better. With blocks of 32 KB, a log is 25 % smaller than with
	// Pebble's default of 4 KB.
	blockBytes = 32 << 10

	// A log uses memory for the cache of decompressed blocks and for two memtables. These
	// sizes are small, so that memory use reaches its maximum within minutes. With larger
	// sizes, memory use would grow for an hour.
	cacheBytes = 2 << 20
	tableBytes = 1 << 20
)

func key(table byte, n int64) []byte {
	return binary.BigEndian.AppendUint64([]byte{table}, uint64(n))
}

// openLog opens the log in dir. It creates the log if necessary.
func openLog(dir string, fs vfs.FS, read bool, fatal func(error)) (*log, error) {
	if fs == nil {
		fs = pinned.Disk()
	}
	if !read { // only the owner may read the log, because it contains jobs
		if err := fs.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("open market %s: %w", dir, err)
		}
	}
	o := &pebble.Options{
		FS: fs, ReadOnly: read, FormatMajorVersion: pebble.FormatValueSeparation,
		CacheSize: cacheBytes, MemTableSize: tableBytes,
	}
	store.Reporting("market log "+dir, fatal, o)
	o.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionGood })
	for i := range o.Levels {
		o.Levels[i].BlockSize = blockBytes
	}
	db, err := pebble.Open(dir, o)
	if errors.Is(err, syscall.EAGAIN) { // another process has locked the log
		err = errors.New("the market is running: stop it first")
	}
	if err != nil && read {
		if files, wrong := fs.List(dir); len(files) == 0 || errors.Is(wrong, syscall.ENOTDIR) {
			err = misuse.Errorf("found no market")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open market %s: %w", dir, err)
	}
	l := &log{dir: dir, db: db, first: 1, read: read}
	for l.first = range l.each(recordTable, 0, &err) {
		break
	}
	for l.seq = range l.back(recordTable, &err) {
		break
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return l, nil
}

// get reads the value of key into v and reports whether the key exists.
func (l *log) get(key []byte, v any) (bool, error) {
	b, err := l.raw(key)
	if b == nil || err != nil {
		return false, err
	}
	err = json.Unmarshal(b, v)
	return err == nil, err
}

// raw returns the value of key, or nil if the key does not exist.
func (l *log) raw(key []byte) ([]byte, error) {
	b, closer, err := l.db.Get(key)
	if err != nil {
		if errors.Is(err, pebble.ErrNotFound) {
			err = nil
		}
		return nil, err
	}
	return append([]byte{}, b...), closer.Close()
}

// set writes several values atomically. It returns once they are durable.
func (l *log) set(values map[string]any) error {
	b := l.db.NewBatch()
	defer b.Close()
	for key, v := range values {
		text, err := json.Marshal(v)
		if err == nil {
			err = b.Set([]byte(key), text, nil)
		}
		if err != nil {
			return err
		}
	}
	return b.Commit(pebble.Sync)
}

// add adds a record.
func (l *log) add(r *record) error {
	text, err := l.codec.encode(r)
	if err == nil {
		err = l.db.Set(key(recordTable, l.seq+1), text, pebble.Sync)
	}
	if err == nil {
		l.seq++
	}
	return err
}

// records yields the records from number n on. Record n must be the first record or the first
// after a checkpoint. It stores errors in err; a missing record is one.
func (l *log) records(n int64, err *error) iter.Seq2[int64, *record] {
	return func(yield func(int64, *record) bool) {
		var c codec
		for seq, text := range l.each(recordTable, n, err) {
			if seq > n {
				*err = fmt.Errorf("found record %d, want record %d, which is missing", seq, n)
				return
			}
			n++
			r, e := c.decode(text)
			if errors.Is(e, errFormat) && l.read {
				e = fmt.Errorf("%w: check or export the log with that version, or start and stop this version to begin a new log", e)
			}
			if e != nil {
				*err = fmt.Errorf("record %d: %w", seq, e)
				return
			}
			if !yield(seq, r) {
				return
			}
		}
	}
}

// each yields the values of a table from number n on. It stores errors in err.
func (l *log) each(table byte, n int64, err *error) iter.Seq2[int64, []byte] {
	return l.over(key(table, n), []byte{table + 1}, err, (*pebble.Iterator).First, (*pebble.Iterator).Next)
}

// back yields the values of a table in reverse order. It stores errors in err.
func (l *log) back(table byte, err *error) iter.Seq2[int64, []byte] {
	return l.over([]byte{table}, []byte{table + 1}, err, (*pebble.Iterator).Last, (*pebble.Iterator).Prev)
}

func (l *log) over(from, to []byte, err *error, begin, on func(*pebble.Iterator) bool) iter.Seq2[int64, []byte] {
	return func(yield func(int64, []byte) bool) {
		it, e := l.db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
		if e != nil {
			*err = e
			return
		}
		for ok := begin(it); ok; ok = on(it) {
			k := it.Key()
			if len(k) != 9 {
				*err = errors.Join(*err, fmt.Errorf("found the key %q, want a letter and eight bytes", k))
				break
			}
			if !yield(int64(binary.BigEndian.Uint64(k[1:])), it.Value()) {
				break
			}
		}
		*err = errors.Join(*err, it.Error(), it.Close())
	}
}

// prune removes the outcomes of contracts that ended before base b, and the answers to the
// orders for them. It stops when ctx is done. The next call continues the removal.
func (l *log) prune(ctx context.Context, b base) error {
	over := func(id int64) (bool, error) {
		var c struct{ Ended float64 }
		there, err := l.get(key(contractTable, id), &c)
		return there && c.Ended <= b.At, err
	}
	it, err := l.db.NewIter(&pebble.IterOptions{LowerBound: []byte{answerTable}, UpperBound: []byte{answerTable + 1}})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil && ctx.Err() == nil; ok = it.Next() {
		var a answered
		if err = json.Unmarshal(it.Value(), &a); err != nil || a.Answer.At > b.At {
			continue
		}
		gone, e := over(a.Answer.Contract)
		if err = e; gone && err == nil {
			err = l.db.Delete(it.Key(), pebble.NoSync)
		}
	}
	err = errors.Join(err, it.Error(), it.Close())
	for id := range l.each(contractTable, 0, &err) {
		if id >= b.Next || err != nil || ctx.Err() != nil {
			break
		}
		gone, e := over(id)
		if err = e; gone && err == nil {
			err = l.db.Delete(key(contractTable, id), pebble.NoSync)
		}
	}
	return err
}

// An answered is the stored answer to an order.
type answered struct {
	Sum    string `json:"sum"` // hash of the signed order
	Answer Answer `json:"answer"`
}

func answerKey(account, id string) string { return string(answerTable) + account + "/" + id }
