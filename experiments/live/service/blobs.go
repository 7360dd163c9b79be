package service

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"bourse/bank/whole"
	"bourse/hosts/link"
)

const (
	mostBlob = 64 << 20            // bytes of a file
	keeps    = 30 * 24 * time.Hour // maximum age of a file that has not been requested
)

// blobs are the files in a folder, named by their SHA-256 hashes in hexadecimal digits.
type blobs struct {
	dir    string
	most   int64                  // bytes of all
	wanted func() map[string]bool // files that must not be removed

	mu    sync.Mutex
	total int64 // bytes
}

// errFull means that the files in use occupy the maximum space.
var errFull = errors.New("the market's storage for files is full, and all files are in use")

// openBlobs returns the stored files in a folder. It creates the folder if necessary.
func openBlobs(dir string, most int64, wanted func() map[string]bool) (*blobs, error) {
	b := &blobs{dir: dir, most: most, wanted: wanted}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return b, b.sweep()
}

// put stores data and returns its hash. To make room, it removes files that are not in use,
// the least recently used first.
func (b *blobs) put(data []byte) (string, error) {
	if len(data) > mostBlob {
		return "", fmt.Errorf("found a file of %d bytes, want at most %d", len(data), mostBlob)
	}
	sum := sha256.Sum256(data)
	sha := hex.EncodeToString(sum[:])
	name := filepath.Join(b.dir, sha)
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if os.Chtimes(name, now, now) == nil {
		return sha, nil // the file exists
	}
	size := int64(len(data))
	if b.total+size > b.most {
		if err := b.remove(b.most-size, math.MaxInt64); err != nil {
			return "", err
		}
	}
	if b.total+size > b.most {
		return "", errFull
	}
	b.total += size
	return sha, whole.Write(name, data)
}

// name returns the path of the file with the given SHA-256 hash, whether or not the file
// exists.
func (b *blobs) name(sha string) (string, error) {
	if sum, err := hex.DecodeString(sha); err != nil || len(sum) != sha256.Size {
		return "", fmt.Errorf("%w: %.80q is no SHA-256", link.ErrUnknown, sha)
	}
	return filepath.Join(b.dir, sha), nil
}

// size returns the size in bytes of the data with the given SHA-256 hash.
func (b *blobs) size(sha string) (int64, error) {
	name, err := b.name(sha)
	if err != nil {
		return 0, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return 0, fmt.Errorf("%w: %s", link.ErrUnknown, sha)
	}
	return info.Size(), nil
}

// get returns the data with the given SHA-256 hash.
func (b *blobs) get(sha string) ([]byte, error) {
	name, err := b.name(sha)
	if err != nil {
		return nil, err
	}
	data, err := whole.Read(name, mostBlob)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", link.ErrUnknown, sha)
	}
	if err == nil {
		now := time.Now()
		err = os.Chtimes(name, now, now)
	}
	return data, err
}

// sweep removes files that have not been stored or requested for too long.
func (b *blobs) sweep() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.remove(b.most, keeps)
}

// remove removes unused files, the least recently used first, until at most the given
// number of bytes remain. It always removes unused files older than the given age.
func (b *blobs) remove(most int64, unused time.Duration) error {
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return err
	}
	b.total = 0
	var all []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		all = append(all, info)
		b.total += info.Size()
	}
	slices.SortFunc(all, func(x, y fs.FileInfo) int { return x.ModTime().Compare(y.ModTime()) })
	wanted := b.wanted()
	for _, info := range all {
		if wanted[info.Name()] || b.total <= most && time.Since(info.ModTime()) <= unused {
			continue
		}
		if err := os.Remove(filepath.Join(b.dir, info.Name())); err != nil {
			return err
		}
		b.total -= info.Size()
	}
	return nil
}
