//go:build linux

package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	ll "github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// isolate restricts the file system that the task sees, in its own mount namespace. All files
// are read-only and the agent's folder is hidden. The task can write only to /tmp, /dev/shm
// and its own folder. In /proc it sees only its own processes.
func isolate(r *record, dir string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts apart: %w", err)
	}
	// Clone the task's folder before the agent's folder is hidden.
	own, err := unix.OpenTree(unix.AT_FDCWD, dir, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return fmt.Errorf("open %s: %w", dir, err)
	}
	defer unix.Close(own)
	if err := unix.MountSetattr(-1, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID}); err != nil {
		return fmt.Errorf("make all read-only: %w", err)
	}
	for _, m := range []struct {
		kind, at, options string
		flags             uintptr
	}{
		{"proc", "/proc", "", unix.MS_NOEXEC},
		{"tmpfs", "/tmp", fmt.Sprintf("mode=1777,size=%d", r.Job.Limits.Disk), 0},
		{"tmpfs", "/dev/shm", fmt.Sprintf("mode=1777,size=%d", r.Job.Limits.Memory), 0},
	} {
		if err := unix.Mount(m.kind, m.at, m.kind, m.flags|unix.MS_NOSUID|unix.MS_NODEV, m.options); err != nil {
			return fmt.Errorf("mount %s: %w", m.at, err)
		}
	}
	if err := hide(r.Hidden); err != nil {
		return err
	}
	if _, err := os.Stat(r.Root); err == nil { // if not, it was in /tmp and is no longer visible
		if err := unix.Mount("tmpfs", r.Root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755"); err != nil {
			return fmt.Errorf("cover %s: %w", r.Root, err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := unix.MountSetattr(own, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV, Attr_clr: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("make %s its own: %w", dir, err)
	}
	if err := unix.MoveMount(own, "", unix.AT_FDCWD, dir, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("mount %s: %w", dir, err)
	}
	return nil
}

// restrict limits this process so that it can write only to dir, and to /tmp and /dev/shm if
// they are private. If the agent's folder is not hidden, the process may read all files except
// those in that folder.
func restrict(r *record, dir string, covered bool) error {
	readable := []string{"/"}
	if !covered {
		readable = beside(r.Root)
	}
	held := append(slices.Clip(r.Files), r.drivers()...)
	devices := []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}
	var files, folders []string
	for _, path := range readable {
		if info, err := os.Stat(path); err != nil {
			continue
		} else if info.IsDir() {
			folders = append(folders, path)
		} else {
			files = append(files, path)
		}
	}
	writable := []string{dir}
	if covered {
		writable = append(writable, "/tmp", "/dev/shm")
	}
	err := ll.V5.RestrictPaths(
		ll.ROFiles(files...).IgnoreIfMissing(),
		ll.RODirs(folders...).IgnoreIfMissing(),
		ll.RWDirs(writable...).IgnoreIfMissing().WithRefer(),
		ll.RWFiles(held...).WithIoctlDev().IgnoreIfMissing(),
		ll.RWFiles(devices...).IgnoreIfMissing())
	if err == nil {
		return nil
	}
	// An older version of Landlock enforces the rules that it supports. Without Landlock no
	// rule is enforced, and this is reported.
	if older := ll.V1.RestrictPaths(
		ll.ROFiles(files...).IgnoreIfMissing(),
		ll.RODirs(folders...).IgnoreIfMissing(),
		ll.RWDirs(writable...).IgnoreIfMissing(),
		ll.RWFiles(append(devices, held...)...).IgnoreIfMissing()); older != nil {
		return errors.Join(err, older)
	}
	return nil
}

// beside returns the siblings of path and of each of its parent folders.
func beside(path string) (found []string) {
	for at := path; at != "/"; {
		parent := filepath.Dir(at)
		entries, _ := os.ReadDir(parent)
		for _, e := range entries {
			if p := filepath.Join(parent, e.Name()); p != at {
				found = append(found, p)
			}
		}
		at = parent
	}
	return found
}
