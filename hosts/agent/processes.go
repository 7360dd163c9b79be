//go:build linux

package agent

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// processes starts supervisors as processes of this machine and tracks them.
type processes struct {
	program string
	network bool
	env     []string // variables added to the environment of supervisors
	mine    []int
}

func (p *processes) alive(folder string) (bool, error) {
	lock, err := lockFolder(folder)
	if err != nil {
		return false, err
	}
	if lock == nil {
		return true, nil
	}
	return false, lock.Close()
}

func (p *processes) reap() {
	p.mine = slices.DeleteFunc(p.mine, func(pid int) bool {
		got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
		return got == pid || err == unix.ECHILD
	})
}

func (p *processes) ended() <-chan os.Signal {
	c := make(chan os.Signal, 1)
	signal.Notify(c, unix.SIGCHLD)
	return c
}

// start starts the supervisor of a folder in its own namespaces, or without namespaces if this
// user cannot create them. It detects that case and reports it.
func (p *processes) start(folder string) error {
	lock, err := lockFolder(folder)
	if err != nil {
		return err
	}
	if lock == nil {
		return errors.New("its folder is locked")
	}
	defer lock.Close() // the supervisor continues to hold the lock
	return p.fork(folder, lock)
}

// fork starts the supervisor of a folder. It passes the locked file to the supervisor.
func (p *processes) fork(folder string, lock *os.File) error {
	log, err := os.OpenFile(filepath.Join(folder, "minder"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer nothing.Close()
	program := p.program
	if program == "" {
		program = "/proc/self/exe"
	}
	apart := &syscall.SysProcAttr{Setsid: true, Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS}
	if !p.network {
		apart.Cloneflags |= unix.CLONE_NEWNET
	}
	if user, group := os.Geteuid(), os.Getegid(); user != 0 {
		apart.Cloneflags |= unix.CLONE_NEWUSER
		apart.UidMappings = []syscall.SysProcIDMap{{ContainerID: user, HostID: user, Size: 1}}
		apart.GidMappings = []syscall.SysProcIDMap{{ContainerID: group, HostID: group, Size: 1}}
		apart.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	}
	for _, sys := range []*syscall.SysProcAttr{apart, {Setsid: true}} {
		var pid int
		pid, err = syscall.ForkExec(program, []string{"bourse", supervisorRole, folder}, &syscall.ProcAttr{
			Dir: "/", Env: append([]string{"GOMAXPROCS=2", "GOMEMLIMIT=64MiB"}, p.env...),
			Files: []uintptr{nothing.Fd(), log.Fd(), log.Fd(), lock.Fd()}, Sys: sys})
		if err == nil {
			p.mine = append(p.mine, pid)
			return nil
		}
	}
	return err
}
