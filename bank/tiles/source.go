package tiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"bourse/bank/whole"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/tlog"
	"golang.org/x/sync/errgroup"
)

// These are limits for reading a published log from an untrusted place.
const (
	mostCheckpoint = 64 << 10         // maximum size in bytes
	patience       = 30 * time.Second // time for one file, including retries
	atOnce         = 8                // number of files read at the same time
	mostRoom       = 32 << 20         // maximum number of bytes of the files that are read at the same time; a single file is always smaller
)

// pauses are the times between the attempts to obtain a file that a server could not serve.
var pauses = []time.Duration{time.Second, 5 * time.Second}

// A source reads the files of a log, with limits for the size of each file and the time to
// read it.
type source struct {
	open     func(ctx context.Context, path string, most int64) (io.ReadCloser, error)
	patience time.Duration
}

var _ torchwood.TileReader = source{}

// folder returns a source for the log in the folder dir. It reads only regular files.
func folder(dir string) source {
	return source{func(_ context.Context, path string, most int64) (io.ReadCloser, error) {
		return whole.OpenUpTo(filepath.Join(dir, filepath.FromSlash(path)), most)
	}, patience}
}

// server returns a source for the log at url.
func server(url string, patience time.Duration) source {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost, t.MaxResponseHeaderBytes = atOnce, 64<<10
	h := &http.Client{Transport: t}
	return source{func(ctx context.Context, path string, _ int64) (io.ReadCloser, error) {
		return get(ctx, h, strings.TrimSuffix(url, "/")+"/"+path)
	}, patience}
}

// get requests a file, with retries.
func get(ctx context.Context, h *http.Client, url string) (io.ReadCloser, error) {
	for try := 0; ; try++ {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return nil, err
		}
		again := true
		answer, err := h.Do(r)
		if err == nil {
			if answer.StatusCode == http.StatusOK {
				return answer.Body, nil
			}
			answer.Body.Close()
			again = answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode >= http.StatusInternalServerError
			err = fmt.Errorf("%s: %s", url, answer.Status)
		}
		if !again || try == len(pauses) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(err, ctx.Err())
		case <-time.After(pauses[try]):
		}
	}
}

// read returns a file of at most the given number of bytes, and subtracts its size from room.
func (s source) read(ctx context.Context, path string, most int64, room *atomic.Int64) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.patience, fmt.Errorf("%s did not arrive within %v", path, s.patience))
	defer cancel()
	b, err := func() ([]byte, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := s.open(ctx, path, most)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return whole.ReadAll(&metered{f, room}, most)
	}()
	switch {
	case err == nil:
		return b, nil
	case errors.Is(err, errRoom), errors.Is(err, fs.ErrNotExist), errors.As(err, new(*whole.KindError)), errors.As(err, new(*whole.SizeError)):
		return nil, fmt.Errorf("%s: %w", path, err) // the file is missing or invalid
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	}
	return nil, unread{fmt.Errorf("%s: %w", path, err)}
}

// A metered is a reader that subtracts the bytes read from room.
type metered struct {
	io.Reader
	room *atomic.Int64
}

// errRoom means that the files being read at the same time exceed mostRoom.
var errRoom = errors.New("too large in total")

// Read implements [io.Reader].
func (m *metered) Read(b []byte) (int, error) {
	n, err := m.Reader.Read(b)
	if m.room.Add(-int64(n)) < 0 {
		return 0, errRoom
	}
	return n, err
}

// ReadEndpoint implements [torchwood.TileReader] for checkpoints.
func (s source) ReadEndpoint(ctx context.Context, path string) ([]byte, error) {
	var room atomic.Int64
	room.Store(mostRoom)
	return s.read(ctx, path, mostCheckpoint, &room)
}

// ReadTiles implements [torchwood.TileReader]. ReadTiles returns an error that wraps errRoom
// if the tiles are too large to be read at the same time. A single tile is never too large.
func (s source) ReadTiles(ctx context.Context, tiles []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(tiles))
	var room atomic.Int64
	room.Store(mostRoom)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, t := range tiles {
		group.Go(func() (err error) {
			data[i], err = s.read(ctx, torchwood.TilePath(t), sizeOf(t), &room)
			return err
		})
	}
	return data, group.Wait()
}

// SaveTiles implements [torchwood.TileReader].
func (s source) SaveTiles([]tlog.Tile, [][]byte) {}

// sizeOf returns the size of a tile, or the maximum size of a bundle of entries, in bytes.
func sizeOf(t tlog.Tile) int64 {
	if t.L < 0 {
		return int64(t.W) * (2 + most)
	}
	return int64(t.W) * tlog.HashSize
}

// An unread is the error for a file that may exist but could not be read.
type unread struct{ error }

func (u unread) Unwrap() error { return u.error }

// wrong returns the error for a failure to read a log. The error wraps [ErrTile] unless a tile
// could not be read or the reading was canceled.
func wrong(err error) error {
	if err == nil || errors.As(err, new(unread)) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrTile, err)
}

// records yields the log's records in order. Before it yields a record, it verifies that the
// checkpoint's tree contains the record. After an error it yields no more records.
func (l *Log) records(ctx context.Context) func(yield func([]byte, error) bool) {
	return func(yield func([]byte, error) bool) {
		tree := torchwood.TileHashReaderWithContext(ctx, l.Tree, l.tiles)
		for first, atOnce := int64(0), mostBundles; first < l.N; {
			tiles := bundles(first, l.N, atOnce)
			data, err := l.tiles.ReadTiles(ctx, tiles)
			if errors.Is(err, errRoom) && atOnce > 1 {
				atOnce /= 2
				continue
			}
			var hashes []tlog.Hash
			if err == nil {
				hashes, err = tree.ReadHashes(indexes(tiles))
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for i, t := range tiles {
				err := records(data[i], first, hashes[:t.W], func(record []byte) bool { return yield(record, nil) })
				if errors.Is(err, errEnough) {
					return
				}
				if err != nil {
					yield(nil, err)
					return
				}
				first, hashes = first+int64(t.W), hashes[t.W:]
			}
		}
	}
}

const mostBundles = 50 // maximum number of bundles of entries that are read at the same time

var errEnough = errors.New("the reader needs no more records")

// bundles returns the bundles of entries that start at record first, in a log of n records.
func bundles(first, n int64, most int) (tiles []tlog.Tile) {
	for at := first; at < n && len(tiles) < most; at += torchwood.TileWidth {
		tiles = append(tiles, tlog.Tile{H: torchwood.TileHeight, L: -1, N: at / torchwood.TileWidth, W: int(min(torchwood.TileWidth, n-at))})
	}
	return tiles
}

// indexes returns the indexes of the hashes of the bundles' records in the tree.
func indexes(tiles []tlog.Tile) (all []int64) {
	for _, t := range tiles {
		for i := range t.W {
			all = append(all, tlog.StoredHashIndex(0, t.N*torchwood.TileWidth+int64(i)))
		}
	}
	return all
}

// records calls do with the records of a bundle, whose first record has the number first. It
// returns an error if a record does not match its hash.
func records(bundle []byte, first int64, hashes []tlog.Hash, do func([]byte) bool) error {
	for i, hash := range hashes {
		record, rest, err := torchwood.ReadTileEntry(bundle)
		if err != nil {
			return fmt.Errorf("record %d: %w", first+int64(i)+1, err)
		}
		if tlog.RecordHash(record) != hash {
			return fmt.Errorf("record %d is not in the tree", first+int64(i)+1)
		}
		if bundle = rest; !do(record) {
			return errEnough
		}
	}
	if len(bundle) > 0 {
		return fmt.Errorf("%d bytes after record %d, the last of its bundle", len(bundle), first+int64(len(hashes)))
	}
	return nil
}
