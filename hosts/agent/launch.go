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

// launch prepares this process for the command of a task's folder and then executes the
// command. It reports on file 3, one line each, the features that the machine lacks and finally
// the fault, if any.
func launch(folder string) {
	syscall.CloseOnExec(3)
	say := os.NewFile(3, "faults")
	runtime.LockOSThread() // the following settings are per thread, and this thread executes the command
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

// become returns only if there is an error.
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
	if os.Getppid() == 1 && os.Getpid() != 1 { // the supervisor is process 1, so this process has its own mounts
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
			continue // the limit would count all processes of the agent's user
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
		data = 0 // the control group has a limit
	}
	return fmt.Errorf("%s: %w", program, execute(program, r.Job.Command, os.Environ(), data))
}

// execute replaces this process by a program whose data segment is limited to data bytes, if
// data is not 0. This process already uses more and could allocate no more memory, so nothing
// is done in between.
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

// lookup finds the program of a command in the PATH of its environment.
func lookup(command, env []string) (string, error) {
	if len(command) == 0 {
		return "", errors.New("there is none")
	}
	for i := len(env) - 1; i >= 0; i-- { // the last value counts
		if path, ok := strings.CutPrefix(env[i], "PATH="); ok {
			os.Setenv("PATH", path)
			break
		}
	}
	return exec.LookPath(command[0])
}

// dropBound removes capabilities from the bounding set of this thread, so that its programs
// cannot obtain them. If this is not permitted, it is unnecessary: the process is not root and
// gains none.
func dropBound() error {
	for c := uintptr(0); ; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err == unix.EINVAL || err == unix.EPERM && os.Geteuid() != 0 {
			return nil // this capability does not exist
		} else if err != nil {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
}

// drop removes the capabilities of this thread and prevents it from gaining others.
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
