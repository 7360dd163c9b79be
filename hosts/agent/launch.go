//go:build linux

package agent

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"bourse/hosts/linux"
)

// launch makes this process fit for the command of a task's folder and becomes it. What
// goes wrong it says on file 3, a line each: what the machine lacks, and at last the fault.
func launch(folder string) {
	syscall.CloseOnExec(3)
	say := os.NewFile(3, "faults")
	runtime.LockOSThread() // what follows is of threads, and this one becomes the command
	var r record
	_, err := get(filepath.Join(folder, "task.json"), &r)
	if err == nil {
		err = become(folder, &r, func(what string, err error) {
			if err != nil {
				fmt.Fprintf(say, "%s: %s\n", what, strings.ReplaceAll(err.Error(), "\n", "; "))
			}
		})
	}
	fmt.Fprintf(say, "fault: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
}

// become returns only with an error.
func become(folder string, r *record, lack func(what string, err error)) error {
	k, err := linux.Attach(r.Kind, r.Kernel)
	if err != nil {
		return err
	}
	memory, _ := k.Bounds()
	if err := k.Enter(r.Name, 0); err != nil {
		return err
	}
	dir := filepath.Join(folder, "dir")
	covered := false
	if os.Getppid() == 1 && os.Getpid() != 1 { // the minder is process 1: this has mounts of its own
		err := isolate(r, dir)
		lack("mounts", err)
		covered = err == nil
	}
	if !covered {
		os.Setenv("TMPDIR", dir)
	}
	if err := os.Chdir(dir); err != nil {
		return err
	}
	program, err := lookup(r.Job.Command, os.Environ())
	if err != nil {
		return err
	}
	lack("Landlock", confine(r, dir, covered))
	for _, l := range []struct {
		of    int
		limit int64
	}{
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_NOFILE, int64(r.Job.Limits.Files)},
		{unix.RLIMIT_FSIZE, r.Job.Limits.Disk},
		{unix.RLIMIT_NPROC, int64(r.Job.Limits.Processes)},
	} {
		if l.limit == 0 && l.of != unix.RLIMIT_CORE {
			continue
		}
		if l.of == unix.RLIMIT_NPROC && r.User == 0 && os.Getppid() != 1 {
			continue // it would count all that the agent's user runs
		}
		if err := syscall.Setrlimit(l.of, &syscall.Rlimit{Cur: uint64(l.limit), Max: uint64(l.limit)}); err != nil {
			return fmt.Errorf("limit %d: %w", l.of, err)
		}
	}
	if err := dropBound(); err != nil {
		return err
	}
	if r.User > 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setresgid(r.User, r.User, r.User), syscall.Setresuid(r.User, r.User, r.User)); err != nil {
			return err
		}
	}
	if err := drop(); err != nil {
		return err
	}
	data := r.Job.Limits.Memory
	if memory {
		data = 0 // the group is bounded
	}
	return fmt.Errorf("%s: %w", program, execute(program, r.Job.Command, os.Environ(), data))
}

// execute makes this process a program whose data are bounded, if data is not 0. This one
// has more than that already and could allocate no more: nothing is done in between.
func execute(program string, args, env []string, data int64) error {
	if data == 0 {
		return syscall.Exec(program, args, env)
	}
	path, err := syscall.BytePtrFromString(program)
	if err != nil {
		return err
	}
	argv, err := syscall.SlicePtrFromStrings(args)
	if err != nil {
		return err
	}
	envv, err := syscall.SlicePtrFromStrings(env)
	if err != nil {
		return err
	}
	limit := &syscall.Rlimit{Cur: uint64(data), Max: uint64(data)}
	debug.SetGCPercent(-1)
	if _, _, e := syscall.RawSyscall6(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_DATA, uintptr(unsafe.Pointer(limit)), 0, 0, 0); e != 0 {
		return e
	}
	_, _, e := syscall.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&envv[0])))
	return e
}

// lookup finds the program of a command in the PATH that it will have.
func lookup(command, env []string) (string, error) {
	if len(command) == 0 {
		return "", errors.New("there is none")
	}
	for i := len(env) - 1; i >= 0; i-- { // the last one counts
		if path, ok := strings.CutPrefix(env[i], "PATH="); ok {
			os.Setenv("PATH", path)
			break
		}
	}
	return exec.LookPath(command[0])
}

// dropBound takes from this thread what its programs could have of capabilities. Without
// the right to do so there is no need: then it is no root, and gains none.
func dropBound() error {
	for c := uintptr(0); ; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err == unix.EINVAL || err == unix.EPERM && os.Geteuid() != 0 {
			return nil // there is no such
		} else if err != nil {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
}

// drop takes the capabilities that this thread has, and the way to others.
func drop() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}
