package audit

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"bourse/bank/whole"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	headFile = "HEAD"
	title    = "bourse ledger 2\n"
	oldTitle = "bourse ledger 1\n"
	mostFile = 1 << 32 // maximum size of a log that is read as a whole, in bytes
)

// sizes contains the maximum size of files in bytes, by file name.
var sizes = map[string]int64{headFile: 1 << 20, acksFile: 4 * acksRegion}

// A headText is the content of the file HEAD.
type headText struct {
	head  string
	acks  bool              // whether the file ACKS records the acknowledged entries
	kept  map[string]string // "SHA256 SIZE" of each file that is no longer written, by name
	files map[string]string // "SHA256 SIZE" of each file of a closed ledger, by name
}

// checkHead reads HEAD and requires that the log contains the head in HEAD and the given head.
func (a *auditor) checkHead() {
	b, err := a.readFile(headFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a.fileFinding(headFile, "nothing", "the ledger's head")
	case err != nil:
		a.fileFinding(headFile, err.Error(), "the ledger's head")
	default:
		if a.head = parseHeadText(b); a.head == nil {
			a.fileFinding(headFile, "text that does not match the hash at its end", "the ledger's head, unchanged")
			break
		}
		a.expect(a.head.head, headFile)
		if a.head.acks {
			a.checkAcks()
		}
	}
	a.expect(a.opts.Head, "the head given")
}

// isOld reports whether the ledger in dir has the previous format.
func isOld(fsys vfs.FS, dir string) bool {
	a := auditor{opts: Options{FS: fsys}, dir: dir}
	b, err := a.readFile(headFile)
	return err == nil && bytes.HasPrefix(b, []byte(oldTitle))
}

// parseHeadText returns nil unless b is byte by byte a valid HEAD file.
func parseHeadText(b []byte) *headText {
	const end = "end "
	body, sum, ok := bytes.Cut(b, []byte("\n"+end))
	body = append(slices.Clone(body), '\n')
	if !ok || string(sum) != fmt.Sprintf("%x\n", sha256.Sum256(body)) {
		return nil
	}
	rest, ok := strings.CutPrefix(string(body), title+"head ")
	if !ok {
		return nil
	}
	h := &headText{kept: make(map[string]string), files: make(map[string]string)}
	h.head, rest, _ = strings.Cut(rest, "\n")
	if _, err := parseHead(h.head); err != nil {
		return nil
	}
	rest, h.acks = strings.CutPrefix(rest, "acks "+acksFile+"\n")
	for line := range strings.Lines(rest) {
		f := strings.Fields(line)
		switch {
		case len(f) == 4 && f[0] == "kept":
			h.kept[f[3]] = f[1] + " " + f[2]
		case len(f) == 4 && f[0] == "file":
			h.files[f[3]] = f[1] + " " + f[2]
		default:
			return nil
		}
	}
	return h
}

// checkFiles compares the files of a closed ledger with HEAD. The checksums of a table's blocks
// were checked when all keys were read.
func (a *auditor) checkFiles() {
	if !a.closed() {
		a.checkUnused()
		return
	}
	names, err := a.opts.FS.List(a.dir)
	if err != nil {
		a.fileFinding(a.dir, err.Error(), "a readable directory")
		return
	}
	slices.Sort(names)
	for _, name := range names {
		if strings.HasPrefix(name, headFile) || name == "LOCK" || name == unfinishedFile || name == acksFile && !a.head.acks {
			continue // ACKS was created by an interrupted opening
		}
		want, ok := a.head.files[name]
		if !ok {
			a.fileFinding(name, "a file", "no such file: it was absent when the ledger was closed")
		} else if found := a.sum(name); found != want {
			a.fileFinding(name, "SHA-256 and size "+found, want+", as when the ledger was closed")
		}
	}
	for name := range a.head.files {
		if !slices.Contains(names, name) {
			a.fileFinding(name, "nothing", "the file that was present when the ledger was closed")
		}
	}
}

// sum returns the size and the hash of a file, in the format of HEAD. For a table, a dash
// replaces the hash.
func (a *auditor) sum(name string) string {
	f, err := a.opts.FS.Open(a.opts.FS.PathJoin(a.dir, name))
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	h := sha256.New()
	if isTable(name) {
		info, err := f.Stat()
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("- %d", info.Size())
	}
	n, err := io.Copy(h, f)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%x %d", h.Sum(nil), n)
}

func isTable(name string) bool { return isNumbered(name, ".sst") }

func isLog(name string) bool { return isNumbered(name, ".log") }

// isNumbered reports whether name is a number followed by ext, as Pebble names its files.
func isNumbered(name, ext string) bool {
	number, ok := strings.CutSuffix(name, ext)
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

func isPebble(name string) bool {
	return isTable(name) || isLog(name) || strings.HasPrefix(name, "MANIFEST-") || strings.HasPrefix(name, "marker.")
}

func (a *auditor) readFile(name string) ([]byte, error) {
	f, err := a.opts.FS.Open(a.opts.FS.PathJoin(a.dir, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	most, known := sizes[name]
	if !known {
		most = mostFile
	}
	return whole.ReadAll(f, most)
}

// An unlocked is a file system in which every lock succeeds. An audit needs it to read ledgers
// that another process may be writing.
type unlocked struct{ vfs.FS }

func (unlocked) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }
