//go:build linux

package agent

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"bourse/hosts/confine"
	"bourse/hosts/linux"
)

// launch prepares this process for the command of a task's folder and then executes the
// command. On file 3 it reports, one per line, the isolation features that the machine does
// not have, and finally the fault, if any.
func launch(folder string) {
	syscall.CloseOnExec(3)
	say := os.NewFile(3, "faults")
	runtime.LockOSThread() // the following settings apply to a thread, and this thread executes the command
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

// become executes the command. It returns only if there is an error.
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
	if os.Getppid() == 1 && os.Getpid() != 1 { // the supervisor is process 1, so this process has its own mount namespace
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
	lack("Landlock", restrict(r, dir, covered))
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
	if err := confine.DropBound(); err != nil {
		return err
	}
	if r.User > 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setresgid(r.User, r.User, r.User), syscall.Setresuid(r.User, r.User, r.User)); err != nil {
			return err
		}
	}
	if err := confine.Drop(); err != nil {
		return err
	}
	data := r.Job.Limits.Memory
	if memory {
		data = 0 // the limit of the control group applies
	}
	return fmt.Errorf("%s: %w", program, confine.Execute(program, r.Job.Command, os.Environ(), data))
}

// lookup finds the program of a command in the PATH of the given environment.
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
