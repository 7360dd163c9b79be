package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// enterNetwork moves this program and its child processes into a network namespace created
// by 'ip netns add'. If the program is not in the namespace yet, enterNetwork executes the
// program again and does not return.
func enterNetwork(name string) error {
	file := filepath.Join("/run/netns", name)
	if filepath.Base(file) != name {
		return usagef("--netns: found %q, want a name listed by 'ip netns list'", name)
	}
	var here, there unix.Stat_t
	if err := unix.Stat(file, &there); errors.Is(err, fs.ErrNotExist) {
		return usagef("--netns: found %s, want a name listed by 'ip netns list'", name)
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
	runtime.LockOSThread() // never unlocked, because the new program runs in the namespace of this thread
	if err := unix.Setns(fd, unix.CLONE_NEWNET); errors.Is(err, unix.EPERM) {
		return usagef("--netns: only root may enter a network namespace")
	} else if err != nil {
		return usagef("--netns: %s is not a network namespace: %w", file, err)
	}
	return unix.Exec("/proc/self/exe", os.Args, os.Environ())
}
