// Package tiles publishes a ledger as a log that anyone can mirror, audit and monitor. The log
// consists of hash tiles, bundles of entries and a signed checkpoint. These are static files
// that any web server or object store can serve (c2sp.org/tlog-tiles,
// c2sp.org/tlog-checkpoint).
//
// The records of the log are the lines of 'bank log', one per move. The size of the log is
// therefore a number of lines, not of entries. Its tree is the RFC 6962 tree of the records.
// The extension line "ledger SIZE:ROOT" of the checkpoint states the head of the ledger
// itself. An audit of the lines verifies both.
//
// A log only grows: published data are never rewritten, and a ledger that differs from the
// published one is refused.
package tiles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bourse/bank"
	"bourse/bank/export"
	"bourse/bank/proof"
	"bourse/bank/store"
	"bourse/bank/whole"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// ErrFork means that a ledger differs from the published one.
var ErrFork = errors.New("the published log belongs to another ledger, or this ledger was changed since")

// ErrRecord means that a record of a log is not exactly one line. If a record had several
// lines, the records that the tree counts and proves would differ from the records that readers
// read.
var ErrRecord = errors.New("a record is not one line")

// ErrTile means that a tile or bundle is missing or does not match the checkpoint.
var ErrTile = errors.New("a tile is missing or does not match the checkpoint")

const (
	checkpointFile = "checkpoint"
	extension      = "ledger "
	most           = 1<<16 - 1 // maximum number of bytes of a record
)

// A Log is a published log.
type Log struct {
	torchwood.Checkpoint
	Signed []byte // signed checkpoint as it was read

	tiles torchwood.TileReader
}

// IsLog reports whether address identifies a published log: a URL, or a folder with a log.
func IsLog(address string) bool {
	if isURL(address) {
		return true
	}
	_, err := os.Stat(filepath.Join(address, checkpointFile))
	return err == nil
}

func isURL(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https")
}

// Open reads the checkpoint of the log at the given address without verifying its signatures;
// see [Log.Verify]. Each file of the log is limited to the maximum size of its kind and must
// arrive within 30 s. In a folder, only regular files are read.
func Open(ctx context.Context, address string) (*Log, error) { return open(ctx, address, patience) }

func open(ctx context.Context, address string, patience time.Duration) (*Log, error) {
	l := &Log{tiles: folder(address)}
	if isURL(address) {
		l.tiles = server(address, patience)
	}
	var err error
	if l.Signed, err = l.tiles.ReadEndpoint(ctx, checkpointFile); err != nil {
		return nil, fmt.Errorf("log %s: %w", address, err)
	}
	if l.Checkpoint, err = Text(l.Signed); err != nil {
		return nil, fmt.Errorf("log %s: %w", address, err)
	}
	return l, nil
}

// Text parses a signed checkpoint without verifying its signatures.
func Text(signed []byte) (torchwood.Checkpoint, error) {
	_, err := note.Open(signed, note.VerifierList())
	var unverified *note.UnverifiedNoteError
	if !errors.As(err, &unverified) {
		return torchwood.Checkpoint{}, fmt.Errorf("checkpoint: %w", err)
	}
	return torchwood.ParseCheckpoint(unverified.Note.Text)
}

// Kept returns a log with a stored checkpoint, without verifying its signatures. The log can
// be verified, but it has no lines.
func Kept(signed []byte) (*Log, error) {
	c, err := Text(signed)
	return &Log{Checkpoint: c, Signed: signed}, err
}

// Verify returns an error unless the checkpoint is signed with one of keys (if there are any)
// and cosigned by at least quorum of the witnesses.
func (l *Log) Verify(keys []note.Verifier, witnesses []note.Verifier, quorum int) error {
	by := func(known []note.Verifier) int {
		n, err := note.Open(l.Signed, note.VerifierList(known...))
		if err != nil {
			return 0
		}
		return len(n.Sigs)
	}
	if len(keys) > 0 && by(keys) == 0 {
		return fmt.Errorf("checkpoint of %s: want a signature by %s", l.Origin, names(keys))
	}
	if n := by(witnesses); n < quorum {
		return fmt.Errorf("checkpoint of %s: found %d witnesses of %s, want %d", l.Origin, n, names(witnesses), quorum)
	}
	return nil
}

// A Cosignature is the name of a witness, with the time of its cosignature in Unix seconds.
type Cosignature struct {
	Witness string
	Unix    int64
}

// Cosignatures returns those cosignatures of the given witnesses that contain a time.
func (l *Log) Cosignatures(witnesses []note.Verifier) (all []Cosignature) {
	n, err := note.Open(l.Signed, note.VerifierList(witnesses...))
	if err != nil {
		return nil
	}
	for _, sig := range n.Sigs {
		if at, err := torchwood.CosignatureTimestamp(sig); err == nil {
			all = append(all, Cosignature{sig.Name, at})
		}
	}
	return all
}

func names(keys []note.Verifier) string {
	all := make([]string, len(keys))
	for i, k := range keys {
		all[i] = k.Name()
	}
	return strings.Join(all, ", ")
}

// Head returns the head of the published ledger.
func (l *Log) Head() (store.Head, error) {
	text, ok := strings.CutPrefix(strings.TrimSuffix(l.Extension, "\n"), extension)
	if !ok {
		return store.Head{}, fmt.Errorf("checkpoint of %s: found %q, want a line \"%sSIZE:ROOT\"", l.Origin, l.Extension, extension)
	}
	return store.ParseHead(text)
}

// Lines returns the log's lines in the format of 'bank log'. Before it returns a line, it
// verifies that the checkpoint's tree contains the line.
func (l *Log) Lines(ctx context.Context) io.ReadCloser {
	next, stop := iter.Pull2(l.records(ctx))
	return &lines{next: next, stop: stop}
}

// A lines is a reader of a log's lines.
type lines struct {
	next func() ([]byte, error, bool)
	stop func()
	n    int64  // number of records read
	rest []byte // unread part of the current line
}

func (l *lines) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		line, err, ok := l.next()
		if !ok {
			return 0, io.EOF
		}
		if err != nil {
			return 0, wrong(err)
		}
		if l.n++; bytes.IndexByte(line, '\n') >= 0 {
			return 0, fmt.Errorf("record %d: %w", l.n, ErrRecord)
		}
		l.rest = append(bytes.Clone(line), '\n')
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

func (l *lines) Close() error {
	l.stop()
	return nil
}

// Proof returns the proof that l extends the log with the given number of lines.
func (l *Log) Proof(ctx context.Context, lines int64) (tlog.TreeProof, error) {
	switch {
	case lines > l.N:
		return nil, fmt.Errorf("found a log of %d lines before, and %d now: %w", lines, l.N, ErrFork)
	case lines == 0 || lines == l.N:
		return nil, nil
	}
	path, err := tlog.ProveTree(l.N, lines, torchwood.TileHashReaderWithContext(ctx, l.Tree, l.tiles))
	return path, wrong(err)
}

// Extends returns an error unless l extends the log of an older checkpoint. The error wraps
// [ErrFork] if l does not extend that log, or [ErrTile] if a tile is missing or wrong.
func (l *Log) Extends(ctx context.Context, older torchwood.Checkpoint) error {
	if older.Origin != l.Origin {
		return fmt.Errorf("checkpoint of %s, want one of %s: %w", older.Origin, l.Origin, ErrFork)
	}
	path, err := l.Proof(ctx, older.N)
	if err != nil || older.N == 0 {
		return err
	}
	if err := tlog.CheckTree(path, l.N, l.Hash, older.N, older.Hash); err != nil {
		return fmt.Errorf("the tree of %d lines is not part of that of %d: %w", older.N, l.N, ErrFork)
	}
	return nil
}

// Write publishes the entries of a ledger with the given head in dir, which may already contain
// a part of them. Write does not write the checkpoint; see [Log.Publish].
func Write(dir, origin string, head store.Head, entries export.Entries) (*Log, error) {
	if err := proof.CheckOrigin(origin); err != nil {
		return nil, err
	}
	var had torchwood.Checkpoint
	signed, err := whole.Read(filepath.Join(dir, checkpointFile), mostCheckpoint)
	switch {
	case err == nil:
		if had, err = Text(signed); err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		if had.Origin != origin {
			return nil, fmt.Errorf("%s: found the log %s, want %s", dir, had.Origin, origin)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	w := writer{dir: dir, had: had}
	if err := w.addAll(entries); err != nil {
		return nil, err
	}
	l := &Log{Checkpoint: torchwood.Checkpoint{Origin: origin, Tree: tlog.Tree{N: w.n}, Extension: fmt.Sprintf("%s%v\n", extension, head)}}
	if l.Hash, err = tlog.TreeHash(w.n, w.hashes); err != nil {
		return nil, err
	}
	l.tiles = folder(dir)
	return l, w.tiles()
}

// Publish writes the signed checkpoint of l to dir.
func (l *Log) Publish(dir string, signed []byte) error {
	l.Signed = signed
	return whole.Write(filepath.Join(dir, checkpointFile), signed)
}

// A writer writes the tiles of a log that have not been published yet.
type writer struct {
	dir    string
	had    torchwood.Checkpoint
	n      int64 // number of lines
	hashes proof.Hashes
	bundle []byte // lines since the last full bundle
}

// addAll adds the lines of entries and writes their bundles.
func (w *writer) addAll(entries export.Entries) error {
	var text bytes.Buffer
	for e, hash := range entries {
		text.Reset()
		one := func(yield func(*bank.Entry, tlog.Hash) bool) { yield(e, hash) }
		if err := export.Write(&text, "json", one, export.Options{}); err != nil {
			return err
		}
		for line := range bytes.Lines(text.Bytes()) {
			if err := w.add(bytes.TrimSuffix(line, []byte{'\n'})); err != nil {
				return fmt.Errorf("entry %d: %w", e.Seq, err)
			}
		}
	}
	if w.n < w.had.N {
		return fmt.Errorf("%d lines are published, but the ledger has %d: %w", w.had.N, w.n, ErrFork)
	}
	return w.write(false)
}

// add adds a line.
func (w *writer) add(line []byte) (err error) {
	if len(line) > most {
		return fmt.Errorf("a line of %d bytes, want at most %d", len(line), most)
	}
	more, err := tlog.StoredHashes(w.n, line, w.hashes)
	if err != nil {
		return err
	}
	w.hashes = append(w.hashes, more...)
	if w.bundle, err = torchwood.AppendTileEntry(w.bundle, line); err != nil {
		return err
	}
	if w.n++; w.n == w.had.N {
		if root, err := tlog.TreeHash(w.n, w.hashes); err != nil || root != w.had.Hash {
			return errors.Join(err, fmt.Errorf("the first %d lines: %w", w.n, ErrFork))
		}
	}
	if w.n%torchwood.TileWidth == 0 {
		return w.write(true)
	}
	return nil
}

// write writes the bundle of the last lines, unless it is already published.
func (w *writer) write(full bool) error {
	width := int(w.n % torchwood.TileWidth)
	if full {
		width = torchwood.TileWidth
	}
	defer func() { w.bundle = w.bundle[:0] }()
	if width == 0 || w.n <= w.had.N {
		return nil
	}
	return w.file(tlog.Tile{H: torchwood.TileHeight, L: -1, N: (w.n - 1) / torchwood.TileWidth, W: width}, w.bundle)
}

// tiles writes the hash tiles.
func (w *writer) tiles() error {
	for _, t := range tlog.NewTiles(torchwood.TileHeight, w.had.N, w.n) {
		data, err := tlog.ReadTileData(t, w.hashes)
		if err != nil {
			return err
		}
		if err := w.file(t, data); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) file(t tlog.Tile, data []byte) error {
	name := filepath.Join(w.dir, filepath.FromSlash(torchwood.TilePath(t)))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return whole.Write(name, data)
}
