package store

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/wal"
)

// logs are the groups of a closed ledger whose database is write-ahead logs alone, as a run
// leaves it. They stand there in order and are read as they come; Pebble would first have
// all in memory.
type logs wal.Logs

// logsOf returns the logs of a closed ledger, or none if its groups stand elsewhere too.
func logsOf(fsys vfs.FS, dir string, s *seal) (logs, error) {
	elsewhere := func(f sealedFile) bool {
		kind, _ := numbered(f.name)
		return kind == "" && path.Ext(f.name) != ".log" && !strings.HasPrefix(f.name, "marker.")
	}
	if len(s.files) == 0 || s.acks || slices.ContainsFunc(s.files, elsewhere) {
		return nil, nil
	}
	all, err := wal.Scan(wal.Dir{FS: fsys, Dirname: dir})
	return logs(all), err
}

// Scan yields the groups, which are all that is asked for.
func (l logs) Scan(_, _ []byte, err *error) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		var batch bytes.Buffer
		for _, log := range l {
			more, e := readLog(log.OpenForRead(), &batch, func(key, value []byte) bool {
				return key[0] != groupTable || yield(key, value)
			})
			if e != nil {
				*err = damaged(e)
			}
			if e != nil || !more {
				return
			}
		}
	}
}

// readLog gives what a log set to take, until it has enough. A batch of it is read into
// batch.
func readLog(in wal.Reader, batch *bytes.Buffer, take func(key, value []byte) bool) (more bool, err error) {
	defer func() { err = errors.Join(err, in.Close()) }()
	for {
		r, _, err := in.NextRecord()
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		batch.Reset()
		if _, err := batch.ReadFrom(r); err != nil {
			return false, err
		}
		for rest := batchrepr.Read(batch.Bytes()); len(rest) > 0; {
			kind, key, value, _, err := rest.Next()
			if err != nil {
				return false, err
			}
			if kind == pebble.InternalKeyKindSet && len(key) > 0 && !take(key, value) {
				return false, nil
			}
		}
	}
}
