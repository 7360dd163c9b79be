//go:build linux

package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"bourse/hosts"
	"bourse/hosts/linux"
)

// These are the additional roles of this program.
const (
	supervisorRole = "bourse-minder" // the arguments are a folder, or --spool and a folder
	launchRole     = "bourse-launch" // + folder
)

// Main must be the first call of every program that uses agents. If the process was started as
// a supervisor, or by a supervisor, Main performs the corresponding role and does not return.
func Main() {
	if len(os.Args) < 3 {
		return
	}
	switch os.Args[1] {
	case supervisorRole:
		begin := supervise
		if os.Args[2] == "--spool" && len(os.Args) == 4 {
			begin = superviseSpool
		}
		if err := begin(os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case launchRole:
		launch(os.Args[2])
		os.Exit(1)
	}
}

// look is the interval at which a supervisor polls its orders if it is not notified of
// changes. It performs expensive checks only at some of these polls.
const (
	look   = 100 * time.Millisecond
	seldom = 5
)

// A supervisor supervises one task.
type supervisor struct {
	record
	folder string
	kernel linux.Kernel
	main   int // process of the command
	exit   exit
	state  *unix.WaitStatus // exit state of the command, once it has ended

	reaped chan ended // closed when no process is left
	copied chan error

	orders  orders
	ordered version // version of the orders file that was read last
	until   float64 // end of the lease
	leased  version // version of the lease file that was read last
	bounded bool    // whether the control group of the task limits memory
	again   float64 // time of the next expensive check

	hears  bool // receives a value when there are new orders
	frozen bool
	warned bool // whether the task was notified of its deadline
	asked  bool // whether the task was asked to end
	walk   time.Time

	spooled spooled
}

// now returns the current time on the clock that orders use.
func (m *supervisor) now() float64 {
	if m.Spool {
		return SpoolTime()
	}
	return boottime()
}

// An ended is a process that has ended and was waited for.
type ended struct {
	pid   int
	state unix.WaitStatus
}

// note records the exit state of the command.
func (m *supervisor) note(e ended) {
	if e.pid == m.main {
		m.state = &e.state
	}
}

// supervise starts the task of a folder, whose lock is file 3, and supervises the task until
// it ends.
func supervise(folder string) error {
	syscall.CloseOnExec(3)
	m := &supervisor{folder: folder, reaped: make(chan ended), copied: make(chan error, 2)}
	if _, err := get(filepath.Join(folder, "task.json"), &m.record); err != nil {
		return err
	}
	// Handle these signals so that the supervisor survives them. Process 1 cannot be killed by
	// its own children if it has no handlers. Signals that are ignored here would also be
	// ignored by the command.
	signal.Notify(make(chan os.Signal, 1), unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGPIPE)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	var err error
	if m.kernel, err = linux.Attach(m.Kind, m.Kernel); err != nil {
		return err
	}
	if err := m.kernel.Supervise(m.Name); err != nil {
		return err
	}
	m.bounded, _ = m.kernel.Bounds()
	if os.Getpid() == 1 { // the supervisor has its own process IDs, so it can signal and inspect the processes
		err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
		if err == nil {
			err = unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
		}
		if err != nil {
			m.lack("its own /proc", err)
		}
	} else {
		m.lack("namespaces", errors.New("the machine makes none"))
	}
	// Allocate the space for the exit record now, because the disk may be full later.
	if err := os.WriteFile(m.last(), []byte(strings.Repeat(" ", 4096)), 0o600); err != nil {
		return err
	}
	if err := m.start(); err != nil {
		m.exit.Why, m.exit.Fault = hosts.Failed, "command: "+err.Error()
		return m.finish()
	}
	if m.Spool {
		go m.guard()
	}
	heard, timer := m.listen(), time.NewTimer(look)
	for {
		over := false
		select {
		case e, more := <-m.reaped:
			m.note(e)
			over = !more || m.state != nil
		case <-heard:
			over = m.tick(m.now())
		case <-timer.C:
			over = m.tick(m.now())
		}
		if over {
			return m.finish()
		}
		timer.Reset(m.rest(m.now()))
	}
}

// listen returns a channel that receives when a file in the folder was replaced, such as
// orders. The channel is nil if the machine does not support this. Inotify would also work,
// but the number of watches per user is small.
func (m *supervisor) listen() <-chan os.Signal {
	dir, err := unix.Open(m.folder, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, unix.SIGIO)
	const renamed, always = 0x10, -1 << 31 // DN_RENAME and DN_MULTISHOT as 32-bit integers
	if _, err := unix.FcntlInt(uintptr(dir), unix.F_NOTIFY, renamed|always); err != nil {
		unix.Close(dir)
		return nil
	}
	m.hears = true
	return heard
}

// rest returns how long the supervisor can sleep if it is not notified. Wake-ups cause most of
// the cost of a supervisor.
func (m *supervisor) rest(now float64) time.Duration {
	if !m.Spool && (!m.hears || m.frozen) {
		return look
	}
	rest, o := (seldom * look).Seconds(), &m.orders
	for _, at := range [...]float64{m.until, o.Until, o.Until - o.Warn, o.KillAt} {
		if at > now {
			rest = min(rest, at-now)
		}
	}
	return time.Duration(rest*1e9) + time.Millisecond
}

func (m *supervisor) lack(what string, err error) {
	m.exit.Lacks = append(m.exit.Lacks, fmt.Sprintf("%s: %v", what, err))
}

func (m *supervisor) last() string { return filepath.Join(m.folder, ".exit") }

// start starts a process that prepares itself and then executes the command.
func (m *supervisor) start() error {
	const program = "/proc/self/exe"
	faults, toFaults, err := os.Pipe()
	if err != nil {
		return err
	}
	from := os.DevNull
	if m.Job.Stdin != "" {
		from = filepath.Join(m.folder, "dir", m.Job.Stdin)
	}
	input, err := os.OpenFile(from, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	files := []uintptr{input.Fd()}
	written := []*os.File{input, toFaults}
	for _, name := range []string{"out", "err"} {
		log, err := os.OpenFile(filepath.Join(m.folder, name), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		from, to, err := os.Pipe()
		if err != nil {
			return err
		}
		go func() { m.copied <- errors.Join(cut(log, from, m.Job.Limits.Log), log.Close()) }()
		files, written = append(files, to.Fd()), append(written, to)
	}
	sys := &syscall.SysProcAttr{Setsid: true}
	if os.Getpid() == 1 {
		sys.Cloneflags = unix.CLONE_NEWNS
		if os.Geteuid() != 0 {
			sys.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
		}
	}
	m.main, err = syscall.ForkExec(program, []string{program, launchRole, m.folder}, &syscall.ProcAttr{
		Env: m.environment(), Files: append(files, toFaults.Fd()), Sys: sys})
	for _, f := range written {
		f.Close()
	}
	if err != nil {
		return err
	}
	go m.reap()
	// The first process that enters a control group waits for the kernel for about 10 ms. The
	// supervisor therefore moves the new process into its group while that process is still
	// starting. The new process also moves itself.
	m.kernel.Enter(m.Name, m.main)
	// The pipe is closed when the command starts.
	text, err := io.ReadAll(faults)
	faults.Close()
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if fault, ok := strings.CutPrefix(line, "fault: "); ok {
			return errors.New(fault)
		}
		m.exit.Lacks = append(m.exit.Lacks, line)
	}
	return err
}

// environment returns the environment of the command, with each name only once. The values of
// the job override the defaults, and the values of the agent and the kernel override both.
func (m *supervisor) environment() []string {
	dir := filepath.Join(m.folder, "dir")
	all := append([]string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=" + dir, "TMPDIR=/tmp", "LANG=C.UTF-8",
	}, m.Job.Env...)
	if m.Spool && m.Units[gpu] > 0 { // these variables are in the environment of the supervisor
		all = append(all, devices(os.Environ())...)
	}
	return once(append(all, linux.Mark(m.Kernel, m.Name)))
}

// once returns env with only the last value of each name, at the position of the name's first
// value.
func once(env []string) (all []string) {
	at := make(map[string]int)
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if i, twice := at[name]; twice {
			all[i] = e
			continue
		}
		at[name] = len(all)
		all = append(all, e)
	}
	return all
}

// cut copies up to limit bytes to log and discards the rest as it arrives. The log records
// where it was cut, and how many bytes were discarded. If the log cannot be written, the
// program is not stopped. cut then discards the remaining data and returns the error.
func cut(log io.Writer, from *os.File, limit int64) error {
	defer from.Close()
	n, err := io.Copy(log, io.LimitReader(from, limit))
	first, _ := io.CopyN(io.Discard, from, 1)
	if err == nil && n == limit && first > 0 {
		_, err = fmt.Fprintf(log, "\n[cut after %d bytes]\n", limit)
	}
	lost := first + discard(from)
	if err == nil && lost > 0 {
		_, err = fmt.Fprintf(log, "[%d bytes were discarded]\n", lost)
	}
	return err
}

// discard discards the data of a pipe until its end and returns the number of bytes. The
// kernel discards the data without copying them, so only the writer uses processor time.
func discard(from *os.File) (n int64) {
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		n, _ = io.Copy(io.Discard, from)
		return n
	}
	defer nowhere.Close()
	for {
		m, err := unix.Splice(int(from.Fd()), nil, int(nowhere.Fd()), nil, 1<<20, 0)
		switch {
		case err == unix.EINTR:
		case err != nil:
			m, _ := io.Copy(io.Discard, from)
			return n + m
		case m == 0:
			return n
		}
		n += int64(m)
	}
}

// reap waits for every process that ends, including orphans, until none is left.
func (m *supervisor) reap() {
	defer close(m.reaped)
	for {
		var s unix.WaitStatus
		pid, err := unix.Wait4(-1, &s, 0, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return
		}
		m.reaped <- ended{pid, s}
	}
}

// tick applies the orders and the lease, and reports whether the task is over.
func (m *supervisor) tick(now float64) (over bool) {
	if _, err := os.Stat(m.folder); errors.Is(err, fs.ErrNotExist) {
		m.exit.Why = hosts.Killed // the agent has gone, so no one can want or end the task any more
		return true
	}
	again := now >= m.again
	if again {
		m.again = now + (seldom * look).Seconds()
	}
	if m.Spool {
		again = m.spoolTick(now) || again
	} else if m.leased.changed(leasePath(m.Root)) || again {
		m.until = readLease(m.Root).until
	}
	// Read the orders after the lease. When the agent has a new lease, it orders the end of
	// unwanted tasks before it writes the lease.
	if m.ordered.changed(filepath.Join(m.folder, "orders")) || again {
		m.orders = orders{}
		get(filepath.Join(m.folder, "orders"), &m.orders) // if the file cannot be read, the orders remain empty and the task ends
	}
	o := m.orders
	// Freeze the task again each time, because the agent may have resumed it.
	if o.shouldPause(now, m.until) {
		if !m.frozen || again {
			m.kernel.Freeze(m.Name)
		}
		m.frozen = true
	} else if m.frozen {
		m.frozen = m.kernel.Thaw(m.Name) != nil
	}
	switch {
	case m.asked:
	case o.KillAt > 0:
		m.asked = true
		m.notify(notice{cmp.Or(o.Reason, byOwner), o.KillAt - now}, true)
	case !m.warned && o.Until > 0 && o.Warn > 0 && now >= o.Until-o.Warn:
		m.warned = true
		m.notify(notice{byDeadline, o.Until - now}, o.Asked)
	}
	switch {
	case o.Until > 0 && now >= o.Until:
		m.exit.Why = hosts.Expired
		return true
	case o.KillAt > 0 && now >= o.KillAt:
		m.exit.Why = hosts.Killed
		return true
	}
	if m.bounded && again && m.usage().OutOfMemory {
		m.exit.Why, m.exit.Fault = hosts.Failed, "memory ran out"
		return true
	}
	if time.Now().After(m.walk) {
		began := time.Now()
		dir := filepath.Join(m.folder, "dir")
		size := folderSize(dir) + unlinkedSize(dir)
		m.walk = time.Now().Add(max(seldom*look, 50*time.Since(began)))
		if m.Job.Limits.Disk > 0 && size > m.Job.Limits.Disk {
			m.exit.Why, m.exit.Fault = hosts.Failed, fmt.Sprintf("disk: its folder has %d bytes, and may have %d", size, m.Job.Limits.Disk)
			return true
		}
	}
	return false
}

// folderSize returns the disk usage of the files in a folder.
func folderSize(dir string) (size int64) {
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && path != dir {
			size += min(info.Size(), info.Sys().(*syscall.Stat_t).Blocks*512) // files may have holes
		}
		return nil
	})
	return size
}

// unlinkedSize returns the disk usage of files that processes of the task have open and that have
// no name, on the file system of a folder. It returns 0 if the supervisor has no /proc of its own.
func unlinkedSize(dir string) (size int64) {
	var at, s unix.Stat_t
	if os.Getpid() != 1 || unix.Stat(dir, &at) != nil {
		return 0
	}
	seen := make(map[uint64]bool)
	files, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, f := range files {
		if unix.Stat(f, &s) == nil && s.Nlink == 0 && s.Dev == at.Dev && !seen[s.Ino] {
			seen[s.Ino] = true
			size += s.Blocks * 512
		}
	}
	return size
}

func (m *supervisor) usage() linux.Usage {
	all, _ := m.kernel.Read(nil)
	for _, u := range all {
		if u.Name == m.Name {
			return u
		}
	}
	return linux.Usage{}
}

// slow is the time within which killed processes must end before the supervisor gives up.
const slow = 60 * time.Second

// finish ends all remaining processes of the task and records how the task ended.
func (m *supervisor) finish() error {
	m.kernel.Freeze(m.Name)
	m.exit.Span = m.now() - m.Began
	last := m.usage() // the kernel reports the waiting time of a thread only while the thread exists
	m.exit.Used, m.exit.Waited = last.Used, last.Waited
	cutOff := m.exit.Why == hosts.Expired || m.exit.Why == hosts.Killed // usage is charged up to this time
	for end := time.Now().Add(slow); m.main > 0; {
		err := m.kernel.Kill(m.Name)
		if os.Getpid() == 1 {
			unix.Kill(-1, unix.SIGKILL)
		} else if m.state == nil {
			unix.Kill(m.main, unix.SIGKILL) // the process may not have entered the control group
		}
		if m.gathered(time.Second) && err == nil {
			break
		}
		if time.Now().After(end) {
			m.exit.Fault = notDead
			break
		}
	}
	u := m.usage()
	if !cutOff {
		m.exit.Used = u.Used
	}
	m.exit.OutOfMemory = u.OutOfMemory
	m.conclude()
	for range cap(m.copied) * min(1, m.main) {
		select {
		case err := <-m.copied:
			if err != nil && m.exit.Fault == "" {
				m.exit.Fault = "logs: " + err.Error()
			}
		case <-time.After(time.Second):
		}
	}
	m.exit.Stored = stored(m.folder)
	return m.write()
}

// stored returns the disk usage, in bytes, of a task's folder and logs.
func stored(folder string) (size int64) {
	size = folderSize(filepath.Join(folder, "dir"))
	for _, name := range []string{"out", "err"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err == nil {
			size += info.Size()
		}
	}
	return size
}

// notDead is the fault of a task that cannot be killed.
const notDead = "it does not die"

// gathered waits for at most d and reports whether all processes have ended.
func (m *supervisor) gathered(d time.Duration) bool {
	late := time.After(d)
	for {
		select {
		case e, more := <-m.reaped:
			if !more {
				return true
			}
			m.note(e)
		case <-late:
			return false
		}
	}
}

// conclude records why the task ended, if the reason is the end of its program.
func (m *supervisor) conclude() {
	s := m.state
	if s == nil {
		return
	}
	if s.Signaled() {
		m.exit.Signal = unix.SignalName(s.Signal())
	} else {
		m.exit.Status = s.ExitStatus()
	}
	switch {
	case m.exit.Why != hosts.Worked:
	case m.asked:
		m.exit.Why = hosts.Killed
	case m.warned && !m.exit.OutOfMemory && (s.Signal() == unix.SIGTERM || s.ExitStatus() == 128+int(unix.SIGTERM)):
		m.exit.Why = hosts.Expired // the program obeyed the signal, so it did not fail
	case s.Exited() && m.exit.Status == 0:
		m.exit.Why = hosts.Exited
	default:
		m.exit.Why = hosts.Failed
		if m.exit.OutOfMemory {
			m.exit.Fault = "memory ran out"
		}
	}
}

// write writes exit.json into its preallocated space.
func (m *supervisor) write() error {
	text, err := json.Marshal(m.exit)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(m.last(), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(text, 0)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(m.last(), filepath.Join(m.folder, "exit.json")); err != nil {
		return err
	}
	return syncFolder(m.folder)
}
