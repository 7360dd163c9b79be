package confine

import (
	"encoding/json"
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
)

// system lists the paths that every confined program sees, if they exist.
var system = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache",
	"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom",
}

// nobody is the user that runs programs if this process runs as root.
const nobody = 65534

// Prepare changes cmd, which must not have been started, so that its program runs confined. The
// program may read the given files. Relative paths start at the folder of cmd. A program of the
// system takes precedence over another program of the same name. The calling program must have
// called [Main].
func Prepare(cmd *exec.Cmd, files []string) error {
	path, err := cmd.Path, cmd.Err
	for _, dir := range []string{"/usr/local/bin", "/usr/bin", "/bin"} {
		if at, wrong := exec.LookPath(filepath.Join(dir, cmd.Args[0])); wrong == nil && filepath.Base(cmd.Args[0]) == cmd.Args[0] {
			path, err = at, nil
			break
		}
	}
	if err != nil {
		return err
	}
	folder, err := filepath.Abs(cmd.Dir)
	if err != nil {
		return err
	}
	in := func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(folder, path)
	}
	user, group := os.Geteuid(), os.Getegid()
	c := cell{Path: in(path), Args: cmd.Args, Folder: folder, Files: []string{in(path)}, Root: user == 0}
	for _, name := range files {
		c.Files = append(c.Files, in(name))
	}
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	cmd.Path, cmd.Args = "/proc/self/exe", []string{"bourse", role, string(text)}
	sys := &syscall.SysProcAttr{
		Setsid: true, Pdeathsig: syscall.SIGKILL,
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWNET | unix.CLONE_NEWUTS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: user, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: group, Size: 1}},
	}
	if c.Root {
		other := syscall.SysProcIDMap{ContainerID: nobody, HostID: nobody, Size: 1}
		sys.UidMappings, sys.GidMappings = append(sys.UidMappings, other), append(sys.GidMappings, other)
		sys.GidMappingsEnableSetgroups = true
	}
	cmd.SysProcAttr = sys
	return nil
}

// Main must be the first call of a program that uses [Prepare]. In a process that was started
// for a confined program, Main does not return.
func Main() {
	if len(os.Args) != 3 || os.Args[1] != role {
		return
	}
	runtime.LockOSThread()
	var c cell
	err := json.Unmarshal([]byte(os.Args[2]), &c)
	if err == nil {
		err = c.enter()
	}
	fmt.Fprintf(os.Stderr, "this machine cannot confine the program: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	os.Exit(1)
}

// enter executes the program in c. It returns only if there is an error.
func (c *cell) enter() error {
	if err := c.move(); err != nil {
		return fmt.Errorf("mounts: %w", err)
	}
	if err := landlock(); err != nil {
		return fmt.Errorf("restrict files by Landlock: %w", err)
	}
	for of, limit := range map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: Files, unix.RLIMIT_FSIZE: Space, unix.RLIMIT_NPROC: Processes} {
		if err := syscall.Setrlimit(of, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return fmt.Errorf("limit %d: %w", of, err)
		}
	}
	if err := DropBound(); err != nil {
		return err
	}
	if c.Root {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setresgid(nobody, nobody, nobody), syscall.Setresuid(nobody, nobody, nobody)); err != nil {
			return err
		}
	}
	if err := Drop(); err != nil {
		return err
	}
	if err := silence(); err != nil {
		return fmt.Errorf("restrict system calls: %w", err)
	}
	return Execute(c.Path, c.Args, os.Environ(), Data)
}

// silent are system calls by which confined programs could exchange messages: through locks and
// events of files that all of them see, keys, sockets that belong to no namespace, and the free
// memory and log of the machine.
var silent = []uint32{
	unix.SYS_FLOCK, unix.SYS_INOTIFY_ADD_WATCH, unix.SYS_FANOTIFY_INIT, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_SOCKET, unix.SYS_IO_URING_SETUP, unix.SYS_SYSINFO, unix.SYS_SYSLOG,
}

// silence makes these calls fail in this thread. Commands of fcntl that lock files also fail.
func silence() error {
	const load, equal, least, end = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	arch, ok := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	if !ok {
		return fmt.Errorf("found the architecture %s, want amd64 or arm64", runtime.GOARCH)
	}
	// A statement that is true skips Jt statements, and one that is false Jf statements.
	fail := unix.SockFilter{Code: end, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}
	filter := []unix.SockFilter{
		{Code: load, K: 4}, {Code: equal, K: arch, Jt: 1}, fail, // calls of other architectures have other numbers
		{Code: load}, {Code: least, K: 1 << 30, Jf: 1}, fail, // and so do calls of x32
	}
	for _, call := range silent {
		filter = append(filter, unix.SockFilter{Code: equal, K: call, Jf: 1}, fail)
	}
	filter = append(filter, // the commands from F_GETLK to F_NOTIFY lock files, report events, or set their receiver
		unix.SockFilter{Code: equal, K: unix.SYS_FCNTL, Jf: 4}, unix.SockFilter{Code: load, K: 24}, // low half of the second argument
		unix.SockFilter{Code: least, K: unix.F_GETLK, Jf: 2}, unix.SockFilter{Code: least, K: unix.F_DUPFD_CLOEXEC, Jt: 1}, fail,
		unix.SockFilter{Code: end, K: unix.SECCOMP_RET_ALLOW})
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]})), 0, 0)
}

// landlock restricts this thread to read, and to write to /tmp and /dev/null. Package
// go-landlock requires /proc.
func landlock() error {
	const all = unix.LANDLOCK_ACCESS_FS_TRUNCATE<<1 - 1 // rights of version 3
	const read = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	attr := uint64(all)
	rules, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if e != 0 {
		return e
	}
	for path, allowed := range map[string]uint64{"/": read, "/tmp": all, "/dev/null": unix.LANDLOCK_ACCESS_FS_WRITE_FILE} {
		at, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		rule := unix.LandlockPathBeneathAttr{Allowed_access: allowed, Parent_fd: int32(at)}
		if _, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, rules, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); e != 0 {
			return e
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, e := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0); e != 0 {
		return e
	}
	return nil
}

// move creates a new root, in its own mount namespace, that contains only the paths that the
// program may see.
func (c *cell) move() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	const root = "/tmp"
	links, trees := make(map[string]string), make(map[string]int)
	for i, path := range append(append([]string(nil), system...), c.Files...) {
		if to, err := os.Readlink(path); err == nil && i < len(system) {
			links[path] = to
			continue
		}
		tree, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
		switch {
		case err == unix.ENOENT && i < len(system):
		case err != nil:
			return fmt.Errorf("%s: %w", path, err)
		case i < len(system) || !strings.HasPrefix(path, "/usr/"): // all other paths in /usr are visible in any case
			trees[path] = tree
		}
	}
	if err := unix.Mount("tmpfs", root, "tmpfs", unix.MS_NOSUID, fmt.Sprintf("mode=755,size=%d", Space)); err != nil {
		return err
	}
	for path, tree := range trees {
		var of unix.Stat_t
		if err := unix.Fstat(tree, &of); err != nil {
			return err
		}
		at, err := root+path, error(nil)
		if of.Mode&unix.S_IFMT == unix.S_IFDIR {
			err = os.MkdirAll(at, 0o755)
		} else if err = os.MkdirAll(filepath.Dir(at), 0o755); err == nil {
			err = os.WriteFile(at, nil, 0o644)
		}
		if err == nil {
			err = unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID})
		}
		if err == nil {
			err = unix.MoveMount(tree, "", unix.AT_FDCWD, at, unix.MOVE_MOUNT_F_EMPTY_PATH)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	for path, to := range links {
		if err := os.Symlink(to, root+path); err != nil {
			return err
		}
	}
	err := errors.Join(os.MkdirAll(root+"/tmp", 0o755), os.Chmod(root+"/tmp", 0o1777), os.MkdirAll(root+c.Folder, 0o755),
		os.Chdir(root), unix.PivotRoot(".", "."), unix.Unmount(".", unix.MNT_DETACH))
	return errors.Join(err, os.Chdir(c.Folder))
}

// Execute replaces this process with a program. If data is not 0, the program's data segment is
// limited to data bytes. This process already uses more than that, and can allocate no memory
// once the limit is set. Execute therefore does nothing between setting the limit and replacing
// the process.
func Execute(program string, args, env []string, data int64) error {
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

// DropBound removes capabilities from the bounding set of this thread, so that its programs
// cannot obtain them. A process that may not do this is not root, and its programs cannot
// obtain capabilities anyway; DropBound then returns nil.
func DropBound() error {
	for c := uintptr(0); ; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err == unix.EINVAL || err == unix.EPERM && os.Geteuid() != 0 {
			return nil // this capability does not exist
		} else if err != nil {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
}

// Drop removes the capabilities of this thread and prevents it from gaining others.
func Drop() error {
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
