//go:build linux

package agent

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"bourse/hosts/remote"
)

// A host must continue to work when users fill its disk:
//
//   - The output of ended tasks is added up by account. If an account stores more than
//     Config.Stored, its oldest output is deleted.
//   - If less than [scarce] of the disk is free, the oldest output of the account that stores
//     most is deleted, too. If that is not enough, and less than [least] is free, the host
//     accepts no more tasks. Running tasks continue.
//   - A file called reserve holds disk blocks for the agent's own state. It is released when
//     the disk is full, and allocated again when there is space.
//
// If the output of a task was deleted, its other files remain until the folder is removed.

// scarce returns the free space, in bytes, that the agent maintains on a disk of the given
// size. It is the larger of 1 GB and a twentieth of the disk, but at most a quarter. Without
// this upper bound, small disks could not be used.
func scarce(total int64) int64 { return min(max(1e9, total/20), total/4) }

// least returns the free space, in bytes, required to start new tasks: the smaller of 1 GB and
// a twentieth of the disk.
func least(total int64) int64 { return min(1e9, total/20) }

// reserved returns the size of the reserve, in bytes, on a disk of the given size.
func reserved(total int64) int64 { return min(64<<20, total/32) }

// diskSpace returns the number of bytes of a folder's disk that this user can still write, and
// the total number of bytes.
func diskSpace(dir string) (free, total int64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	size := func(blocks uint64) int64 { return int64(min(blocks, uint64(math.MaxInt64/s.Bsize))) * s.Bsize }
	return size(s.Bavail), size(s.Blocks), nil
}

// A deleted is the content of the file "deleted" in the folder of a task whose output was
// deleted.
type deleted struct {
	Bytes int64
	Why   string
}

// makeRoom deletes stored output if there is too much of it. Depending on the free space, it
// then opens or closes the host for new tasks.
func (a *Agent) makeRoom() error {
	free, total, err := a.space(a.Dir)
	if err != nil {
		return err
	}
	var ended []*task
	stored := make(map[string]int64)
	for _, t := range a.tasks {
		if t.end != nil && t.swept && t.end.Stored > 0 && t.deleted.Bytes == 0 {
			ended = append(ended, t)
			stored[t.record.Account] += t.end.Stored
		}
	}
	slices.SortFunc(ended, func(s, t *task) int {
		if c := cmp.Compare(s.finished(a), t.finished(a)); c != 0 {
			return c
		}
		return cmp.Compare(s.name, t.name)
	})
	var errs []error
	remove := func(account, why string) {
		i := slices.IndexFunc(ended, func(t *task) bool { return t.record.Account == account })
		t := ended[i]
		ended = slices.Delete(ended, i, i+1)
		stored[account] -= t.end.Stored
		if err := a.deleteOutput(t, why); err != nil {
			errs = append(errs, err)
			return
		}
		free += t.end.Stored
	}
	if a.Stored > 0 {
		for account, n := range stored {
			for ; n > a.Stored; n = stored[account] {
				remove(account, fmt.Sprintf("%s stored more than %d bytes here", account, a.Stored))
			}
		}
	}
	for free < scarce(total) && len(ended) > 0 {
		most := ended[0].record.Account
		for _, t := range ended {
			if n := t.record.Account; stored[n] > stored[most] || stored[n] == stored[most] && n < most {
				most = n
			}
		}
		remove(most, "the disk of the host was nearly full")
	}
	if free, total, err = a.space(a.Dir); err != nil || len(errs) > 0 {
		return errors.Join(append(errs, err)...)
	}
	a.stored = 0
	for _, n := range stored {
		a.stored += n
	}
	a.scant = free < least(total)
	switch {
	case a.scant:
		if a.closed == "" {
			a.closed = diskFull
		}
	case free >= least(total)+reserved(total):
		return a.allocateReserve(reserved(total))
	}
	return nil
}

// finished returns the time at which t ended, on the clock of the current boot. Tasks that
// ended before the boot have earlier times.
func (t *task) finished(a *Agent) float64 {
	at := t.record.Began + t.end.Span
	if t.record.Boot != a.boot {
		at -= math.MaxInt32
	}
	return at
}

// deleteOutput deletes the files and the output of t, which must have ended.
func (a *Agent) deleteOutput(t *task, why string) error {
	a.closeArchives(t)
	err := os.RemoveAll(filepath.Join(t.folder, "dir"))
	for _, name := range []string{"out", "err"} {
		if wrong := os.Remove(filepath.Join(t.folder, name)); !errors.Is(wrong, fs.ErrNotExist) {
			err = errors.Join(err, wrong)
		}
	}
	if err != nil {
		return err
	}
	t.deleted = deleted{max(1, t.end.Stored), why}
	return put(filepath.Join(t.folder, "deleted"), t.deleted, true)
}

// missing returns an error that states why the output of t was deleted, or nil if t has its
// output.
func (t *task) missing() error {
	if t.deleted.Bytes == 0 {
		return nil
	}
	return fmt.Errorf("its output of %d bytes was deleted: %s", t.deleted.Bytes, t.deleted.Why)
}

// deletions returns the tasks whose output was deleted, sorted by number.
func (a *Agent) deletions() (all []remote.Deleted) {
	for _, t := range a.tasks {
		if t.deleted.Bytes > 0 {
			all = append(all, remote.Deleted{Name: t.number, Bytes: t.deleted.Bytes, Why: t.deleted.Why})
		}
	}
	slices.SortFunc(all, func(s, t remote.Deleted) int { return cmp.Compare(s.Name, t.Name) })
	return all
}

// allocateReserve allocates the reserve if it does not exist and the disk has enough space.
func (a *Agent) allocateReserve(size int64) error {
	f, err := os.OpenFile(a.path("reserve"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() < size {
		switch err = unix.Fallocate(int(f.Fd()), 0, 0, size); {
		case errors.Is(err, unix.EOPNOTSUPP):
			err = nil // a disk of this size has no reserve
		case err != nil:
			err = errors.Join(err, f.Truncate(0))
		}
	}
	return errors.Join(err, f.Close())
}

// releaseReserve releases the blocks of the reserve when the disk is full.
func (a *Agent) releaseReserve() error {
	err := os.Truncate(a.path("reserve"), 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
