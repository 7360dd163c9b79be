//go:build linux

package linux

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A process contains the data of /proc about one process.
type process struct {
	state byte // Z means ended but not waited for
	began string
	ended float64 // processor-seconds of all descendants that were waited for
}

// stat reads the state of a process.
func stat(pid int) (p process, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, err
	}
	// The program name, which is the second field, may contain spaces and parentheses.
	f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(f) < 20 {
		return p, fmt.Errorf("process %d: %d fields", pid, len(f))
	}
	p.state, p.began = f[0][0], f[22-3]
	for _, i := range []int{16 - 3, 17 - 3} { // cutime, cstime
		ticks, e := strconv.ParseFloat(f[i], 64)
		p.ended += ticks / 100
		err = errors.Join(err, e)
	}
	return p, err
}

// clock returns the processor-seconds used by a process, including its ended threads.
func clock(pid int) float64 {
	const whole = 2 // scheduler clock of the process; see clock_getcpuclockid
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid)<<3|whole, &t); err != nil {
		return 0
	}
	return float64(t.Nano()) / 1e9
}

// root returns the process ID of the supervisor, or 0 if it is unknown or has ended.
func (t *tree) root() int {
	if t.self {
		return os.Getpid()
	}
	if t.supervisor > 0 {
		if s, err := stat(t.supervisor); err == nil && s.began == t.began {
			return t.supervisor
		}
	}
	return 0
}

// walk calls f with each process below pid.
func walk(pid int, f func(pid int)) {
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, t := range threads {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, t.Name()))
		for s := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(s); err == nil {
				f(child)
				walk(child, f)
			}
		}
	}
}

// A ran is the processor time of a process, measured before its children were scanned.
type ran struct {
	pid  int
	used float64
}

// look scans all processes below the supervisor. It returns the supervisor's process ID, or 0
// if it has ended.
func (t *tree) look() (root int) {
	t.seen, t.counted = t.seen[:0], false
	if root = t.root(); root != 0 {
		walk(root, func(pid int) { t.seen = append(t.seen, ran{pid, clock(pid)}) })
	}
	return root
}

// still reports whether nothing has changed since the last scan: there was a process, and none
// has run since, so none has forked, waited for a child or ended. Reading the clock of a
// process takes a hundredth of the time of a scan of /proc. The supervisor itself is not
// checked: after it has started the command, it only gains orphans as children.
func (t *tree) still() bool {
	for _, r := range t.seen {
		if clock(r.pid) != r.used {
			return false
		}
	}
	return len(t.seen) > 0
}

// read updates used.
func (t *tree) read() {
	if t.counted && t.still() {
		return
	}
	root := t.look()
	if root == 0 {
		return
	}
	sum := 0.0
	if t.self {
		var r unix.Rusage
		if unix.Getrusage(unix.RUSAGE_CHILDREN, &r) == nil {
			sum = float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
		}
	} else if s, err := stat(root); err == nil {
		sum = s.ended
	}
	for _, r := range t.seen {
		s, _ := stat(r.pid)
		sum += r.used + s.ended
	}
	t.used, t.counted = max(t.used, sum), true
}

// signal stops or continues the processes below the supervisor until a scan finds no new one,
// because processes may fork in the meantime.
func (t *tree) signal() error {
	sig := unix.SIGCONT
	if t.frozen || t.stands {
		sig = unix.SIGSTOP
	}
	for n, last := 0, -1; n != last; {
		last, n = n, t.each(sig)
	}
	return nil
}

// each sends a signal to every process below the supervisor and returns the number of living
// ones.
func (t *tree) each(sig unix.Signal) (sent int) {
	t.look() // stop all before one dies and leaves its children to the supervisor
	for _, r := range t.seen {
		if s, err := stat(r.pid); err == nil && s.state != 'Z' && unix.Kill(r.pid, sig) == nil {
			sent++
		}
	}
	return sent
}

// killMarked kills the processes with a mark and returns their number.
func killMarked(variable string) (sent int) {
	mark := []byte("\x00" + variable + "\x00")
	all, _ := os.ReadDir("/proc")
	for _, e := range all {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if bytes.Contains(append([]byte{0}, text...), mark) && unix.Kill(pid, unix.SIGKILL) == nil {
			sent++
		}
	}
	return sent
}
