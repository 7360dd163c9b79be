package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// enterNetwork has this program run in a network namespace that 'ip netns add' has made,
// with all that it starts. It begins anew there if it does not, and then does not return.
func enterNetwork(name string) error {
	file := filepath.Join("/run/netns", name)
	if filepath.Base(file) != name {
		return usagef("--netns: found %q, want a name of 'ip netns list'", name)
	}
	var here, there unix.Stat_t
	if err := unix.Stat(file, &there); errors.Is(err, fs.ErrNotExist) {
		return usagef("--netns: found %s, want a name of 'ip netns list'", name)
	} else if err != nil {
		return err
	}
	if err := unix.Stat("/proc/self/ns/net", &here); err != nil || here.Dev == there.Dev && here.Ino == there.Ino {
		return err
	}
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	runtime.LockOSThread() // and never let go: what is executed is in this thread's namespace
	if err := unix.Setns(fd, unix.CLONE_NEWNET); errors.Is(err, unix.EPERM) {
		return usagef("--netns: only root may enter a network namespace")
	} else if err != nil {
		return usagef("--netns: %s is no network namespace: %w", file, err)
	}
	return unix.Exec("/proc/self/exe", os.Args, os.Environ())
}
