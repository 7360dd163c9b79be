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

// A process is what /proc says of one.
type process struct {
	state byte // Z is one that has ended, and was not waited for
	began string
	ended float64 // processor-seconds of its children, and theirs, that it has waited for
}

// stat reads the state of a process.
func stat(pid int) (p process, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, err
	}
	// The name of its program, which is the second field, may have spaces and brackets.
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

// clock returns the processor-seconds that a process has used, threads that ended
// included.
func clock(pid int) float64 {
	const whole = 2 // of the process, by the scheduler; see clock_getcpuclockid
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid)<<3|whole, &t); err != nil {
		return 0
	}
	return float64(t.Nano()) / 1e9
}

// root returns the minder's process, 0 if it is not known or gone.
func (t *tree) root() int {
	if t.self {
		return os.Getpid()
	}
	if t.minder > 0 {
		if s, err := stat(t.minder); err == nil && s.began == t.began {
			return t.minder
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

// A ran process had used so much when it was looked at, before its children were.
type ran struct {
	pid  int
	used float64
}

// look notes all processes below the minder, and returns its own, 0 if it is gone.
func (t *tree) look() (root int) {
	t.seen, t.counted = t.seen[:0], false
	if root = t.root(); root != 0 {
		walk(root, func(pid int) { t.seen = append(t.seen, ran{pid, clock(pid)}) })
	}
	return root
}

// still reports whether all is as it was when it was looked at: some process was there, and
// none has run since, so that none has forked, waited for a child or ended. To ask the clock
// of a process takes a hundredth of the time in which /proc says what is below it. What the
// minder does is not asked: once it has begun the command its children are but those of
// others that have ended.
func (t *tree) still() bool {
	for _, r := range t.seen {
		if clock(r.pid) != r.used {
			return false
		}
	}
	return len(t.seen) > 0
}

// read brings used up to date.
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

// signal stops or continues what is below the minder, until no process is new: what
// forks meanwhile is found the next time.
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

// each sends a signal to what is below the minder, and returns to how many that live.
func (t *tree) each(sig unix.Signal) (sent int) {
	t.look() // at all, before one that dies leaves its children to the minder
	for _, r := range t.seen {
		if s, err := stat(r.pid); err == nil && s.state != 'Z' && unix.Kill(r.pid, sig) == nil {
			sent++
		}
	}
	return sent
}

// killMarked kills what bears a mark, and returns how many there were.
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
