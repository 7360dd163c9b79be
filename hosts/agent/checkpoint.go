//go:build linux

package agent

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"bourse/hosts"
	"bourse/hosts/link"
	"bourse/hosts/remote"
)

// A program completes a checkpoint by renaming checkpoint/next, a file or a folder, to
// checkpoint/done. The agent sends the checkpoint to the market in parts, as a tar stream. The
// next attempt at the node finds the checkpoint in its own folder.

const (
	checkpointName = "checkpoint/done"
	checkpointPart = 4 << 20 // bytes
	mostSaving     = 60      // seconds after its end for which a task waits until its checkpoint has been sent
)

// A sight is the state of an entry of a checkpoint at the time at which the entry was read.
type sight struct {
	name string
	info fs.FileInfo
}

// version returns an identifier of the checkpoint of t, or an empty string if there is none.
func (t *task) version() string {
	root, err := os.OpenRoot(filepath.Join(t.folder, "dir"))
	if err != nil {
		return ""
	}
	defer root.Close()
	info, err := root.Lstat(checkpointName)
	if err != nil {
		return ""
	}
	of := info.Sys().(*syscall.Stat_t) // excludes the time of access, which reading changes
	return fmt.Sprint(of.Ino, of.Ctim, of.Size)
}

// unsaved returns the version of a checkpoint of t that should be sent now, or an empty
// string. For a running task, a checkpoint is sent at each interval, and immediately after a
// notice. For a task that has ended, it is sent if the node may be attempted again.
func (a *Agent) unsaved(t *task, now float64) string {
	o := &t.orders
	switch {
	case t.forgotten > 0 || t.record.Name == "" || now < t.again:
		return ""
	case t.end != nil:
		again := t.end.Status == remote.TryAgain || t.end.Why == hosts.Lost || t.end.Why == hosts.Killed && o.Reason != byOwner
		if !again || now > t.over+mostSaving || o.Until > 0 && now > o.Until {
			return ""
		}
	case o.KillAt > 0 && o.Reason != byOwner, o.Warn > 0 && o.Until > 0 && now >= o.Until-o.Warn:
	case t.wanted == nil || t.wanted.Checkpoint == 0 || now < max(t.savedAt, t.record.Began)+t.wanted.Checkpoint:
		return ""
	}
	if v := t.version(); v != t.saved {
		return v
	}
	return ""
}

// holds reports whether the end of t must not be reported yet, because the checkpoint of t must
// be sent first.
func (a *Agent) holds(t *task) bool {
	return a.sending == t || a.unsaved(t, a.clock()) != ""
}

// save sends the checkpoint of one task to the market, in the background.
func (c *conversation) save(ctx context.Context) {
	if c.sending != nil || !c.accepted {
		return
	}
	for _, t := range c.sorted() {
		now := c.clock()
		v := c.unsaved(t, now)
		if v == "" {
			continue
		}
		used, most := t.used, t.record.Job.Limits.Disk
		if t.wanted != nil {
			most = t.wanted.Most
		}
		c.sending = t
		go func() {
			sums, err := t.pack(most, func(data []byte) error {
				return c.market.PutCheckpoint(ctx, c.host, &remote.Checkpoint{Name: t.number, Data: data})
			})
			if err == nil {
				err = c.market.PutCheckpoint(ctx, c.host, &remote.Checkpoint{Name: t.number, Sums: sums, Used: used})
			}
			c.done <- func() error {
				c.sending, t.again = nil, c.clock()+lookEach.Seconds()
				switch {
				case errors.Is(err, errChanging):
					return nil // the program is replacing the checkpoint
				case err == nil, errors.Is(err, link.ErrUnknown), errors.Is(err, errSize):
					t.saved, t.savedAt = v, now
				}
				if t.end != nil && c.again == nil { // send the report of the end, which waited for the checkpoint
					c.hurries = true
					c.stop()
				}
				if err != nil {
					err = fmt.Errorf("checkpoint of %s: %w", t.name, err)
				}
				return err
			}
		}()
		return
	}
}

var (
	errChanging = errors.New("it changed while it was read")
	errSize     = errors.New("it is too large")
)

// pack passes the checkpoint of t to put, in parts, and returns the SHA-256 of each part. It
// returns errChanging if the checkpoint changes between the beginning and the end.
func (t *task) pack(most int64, put func([]byte) error) (sums []string, err error) {
	root, err := os.OpenRoot(filepath.Join(t.folder, "dir"))
	if err != nil {
		return nil, err
	}
	r := &archive{task: t, name: checkpointName, root: root, room: most, left: []string{checkpointName}}
	r.tar = tar.NewWriter(&r.buf)
	defer r.close()
	for !r.over || r.buf.Len() > 0 {
		for r.buf.Len() < checkpointPart && !r.over {
			if err := r.step(); errors.Is(err, fs.ErrNotExist) {
				return nil, errChanging
			} else if err != nil {
				return nil, fmt.Errorf("%w: %w", errSize, err)
			}
		}
		data := append([]byte(nil), r.buf.Next(checkpointPart)...)
		sum := sha256.Sum256(data)
		sums = append(sums, hex.EncodeToString(sum[:]))
		if err := put(data); err != nil {
			return nil, err
		}
	}
	for _, s := range r.seen {
		info, err := root.Lstat(s.name)
		if err != nil || !os.SameFile(info, s.info) || !info.ModTime().Equal(s.info.ModTime()) || info.Size() != s.info.Size() {
			return nil, errChanging
		}
	}
	return sums, nil
}

// unfetched returns the parts of a checkpoint that must still be fetched. If the market no
// longer has one of the parts, the attempt starts without a checkpoint.
func (a *Agent) unfetched(sums []string) (lacks []string) {
	for _, sum := range sums {
		if a.bad[sum] != nil {
			return nil
		}
		if _, err := os.Stat(a.blob(sum)); err != nil {
			lacks = append(lacks, sum)
		}
	}
	return lacks
}

// restore writes the last checkpoint of an earlier attempt into the folder of a task, owned by
// user.
func (a *Agent) restore(dir string, w *wanted, user int) error {
	if len(w.Saved) == 0 {
		return nil
	}
	var parts []io.Reader
	for _, sum := range w.Saved {
		f, err := os.Open(a.blob(sum))
		if err != nil {
			return nil // the market has lost the checkpoint, so the attempt starts from the beginning
		}
		defer f.Close()
		parts = append(parts, f)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	top := path.Dir(checkpointName)
	if err = root.Mkdir(top, 0o700); err == nil && user > 0 {
		err = root.Lchown(top, user, user)
	}
	if err == nil {
		err = unpack(root, checkpointName, tar.NewReader(io.MultiReader(parts...)), w.Most, user)
	}
	if err != nil {
		return fmt.Errorf("its checkpoint: %w", err)
	}
	return nil
}

// unpack writes the entries of a tar stream into root, owned by user. The entries must be at
// or below the name top. Their files must not exceed the given number of bytes in total.
func unpack(root *os.Root, top string, in *tar.Reader, room int64, user int) error {
	own := func(name string, err error) error {
		if err == nil && user > 0 {
			err = root.Lchown(name, user, user)
		}
		return err
	}
	for n := 0; ; n++ {
		h, err := in.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(h.Name, "/")
		if !filepath.IsLocal(name) || top != "." && name != top && !strings.HasPrefix(name, top+"/") {
			return fmt.Errorf("found %q, want names in %s", h.Name, top)
		}
		if room -= h.Size; room < 0 || n == mostEntries {
			return fmt.Errorf("found too many files or bytes, at %q", h.Name)
		}
		switch mode := fs.FileMode(h.Mode).Perm(); h.Typeflag {
		case tar.TypeDir:
			err = root.Mkdir(name, mode|0o700)
		case tar.TypeSymlink:
			err = root.Symlink(h.Linkname, name)
		case tar.TypeReg:
			var f *os.File
			if f, err = root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode); err == nil {
				_, err = io.Copy(f, in)
				err = errors.Join(err, f.Close())
			}
		default:
			err = fmt.Errorf("found an entry of type %q", h.Typeflag)
		}
		if err := own(name, err); err != nil {
			return err
		}
	}
}
