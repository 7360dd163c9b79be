//go:build linux

package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"bourse/hosts"
	"bourse/hosts/linux"
	"bourse/hosts/remote"
)

// A Backend starts the supervisors of an agent on another machine, which can access the
// agent's folder. Agent and supervisors then use [SpoolTime], and each supervisor does the
// following:
//
//   - creates the file started, and ends at once if the file exists. A name is therefore
//     started at most once, however often its supervisor is.
//   - replaces the file beat every second, with its usage.
//   - reads the lease every 5 s. The task stops if the lease has not been renewed for its
//     length, or the beat could not be written, by the clocks of both machines.
type Backend struct {
	Offer  remote.Offer
	Kernel linux.Kernel // only measures and ends tasks

	// Start starts the supervisor of a folder. It returns before the supervisor runs.
	Start func(folder string) error

	// Alive reports whether the supervisor of a folder may be running or may start later.
	Alive func(folder string) (bool, error)

	// Closed returns the reason why the host accepts no more tasks, or "".
	Closed func() string
}

// start, alive, reap and ended implement the interface supervisors.
func (b *Backend) start(folder string) error         { return b.Start(folder) }
func (b *Backend) alive(folder string) (bool, error) { return b.Alive(folder) }
func (b *Backend) reap()                             {}
func (b *Backend) ended() <-chan os.Signal           { return nil }

// A Task is the content of a task's folder, for use by a [Backend].
type Task struct {
	Name   string
	Job    remote.Job
	CPUs   float64
	Until  float64 // deadline, as a [SpoolTime]; 0 means none
	KillAt float64 // time after which the task must not run; 0 means never
	GPUs   int     // number of GPUs that the task reserves
}

// ReadTask returns the task of a folder.
func ReadTask(folder string) (t Task, err error) {
	var r record
	var o orders
	_, err = get(filepath.Join(folder, "task.json"), &r)
	if err == nil {
		_, err = get(filepath.Join(folder, "orders"), &o)
	}
	return Task{r.Name, r.Job, r.CPUs, o.Until, o.KillAt, max(r.Job.GPUs, int(r.Units[gpu]))}, err
}

// Ended reports whether the task of a folder has ended.
func Ended(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "exit.json"))
	return err == nil
}

// Started returns the job of the supervisor that started the task of a folder. It reports
// whether there is such a supervisor.
func Started(folder string) (job string, ok bool) {
	text, err := os.ReadFile(filepath.Join(folder, "started"))
	return strings.TrimSpace(string(text)), err == nil
}

// errStarted means that a task was started before.
var errStarted = errors.New("a supervisor of this task has started before")

// claim creates the file started in a folder. No other process can create the file afterwards.
func claim(folder, job string) error {
	f, err := os.OpenFile(filepath.Join(folder, "started"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return errStarted
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, job)
	return errors.Join(err, f.Sync(), f.Close(), syncFolder(folder))
}

// Abandon ends a task that no supervisor has started. It reports whether this call has ended
// the task. No supervisor can start the task afterwards.
func Abandon(folder string, why hosts.End, fault string) (bool, error) {
	err := claim(folder, "abandoned")
	if errors.Is(err, errStarted) {
		job, _ := Started(folder)
		if job != "abandoned" {
			return false, nil
		}
	} else if err != nil {
		return false, err
	}
	return true, put(filepath.Join(folder, "exit.json"), exit{Why: why, Fault: fault}, true)
}

// A Beat is the content of the file beat.
type Beat struct {
	At     float64 // time on the clock of the supervisor's machine
	Used   float64 // processor-seconds
	Waited float64 // seconds for which the task was ready but waited for a processor
	Frozen bool
}

// ReadBeat returns the last beat of a folder's supervisor, and reports whether there is one.
func ReadBeat(folder string) (b Beat, ok bool, err error) {
	ok, err = get(filepath.Join(folder, "beat"), &b)
	return b, ok, err
}

// These are the intervals, in seconds, at which a supervisor of a backend writes its beat and
// reads the lease.
const (
	beatEach  = 1
	leaseEach = 5
)

// spooled is the part of a supervisor that only supervisors of a backend use.
type spooled struct {
	number  int64   // number of the last renewal of the lease
	renewed float64 // time at which this renewal was first seen
	read    float64 // time at which the lease was last read
	beat    float64 // time of the next beat

	mu    sync.Mutex
	until float64 // end of the lease
	froze bool    // whether guard has frozen the task
}

// guard freezes the task when the lease ends. It runs separately, because the supervisor may
// be waiting for a file system that does not respond.
func (m *supervisor) guard() {
	s := &m.spooled
	for range time.Tick(2 * look) {
		s.mu.Lock()
		if m.now() >= s.until {
			s.froze = true
			m.kernel.Freeze(m.Name)
		}
		s.mu.Unlock()
	}
}

// spoolTick writes the beat and reads the lease if they are due. It reports whether it has
// done so.
func (m *supervisor) spoolTick(now float64) bool {
	s := &m.spooled
	if now < s.beat {
		return false
	}
	s.beat = now + beatEach
	u := m.usage()
	err := put(filepath.Join(m.folder, "beat"), Beat{now, u.Used, u.Waited, m.frozen}, false)
	if err != nil || now < s.read+leaseEach && now < m.until {
		return false
	}
	s.read = now
	if l := readLease(m.Root); l.number != s.number {
		s.number, s.renewed = l.number, now
		m.until = l.until
	}
	m.until = min(m.until, s.renewed+m.Lease)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until = m.until
	m.frozen, s.froze = m.frozen || s.froze, false
	return true
}

// superviseSpool starts the task of a folder, in a process with its own namespaces, and waits
// for its end. It does nothing if the task was started before.
func superviseSpool(folder string) error {
	signal.Notify(make(chan os.Signal, 1), unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGPIPE)
	if err := claim(folder, os.Getenv("SLURM_JOB_ID")); err != nil {
		return err
	}
	var r record
	if _, err := get(filepath.Join(folder, "task.json"), &r); err != nil {
		return err
	}
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	p := processes{network: r.Network, env: devices(os.Environ())}
	if err := p.fork(folder, nothing); err != nil {
		return err
	}
	for {
		_, err := unix.Wait4(p.mine[0], nil, 0, nil)
		if err != unix.EINTR {
			return err
		}
	}
}

// devices returns the variables of an environment that list GPUs. Slurm sets only some of
// these variables, so the others get the value of CUDA's variable.
func devices(env []string) (all []string) {
	for _, e := range env {
		switch name, value, _ := strings.Cut(e, "="); name {
		case "CUDA_VISIBLE_DEVICES":
			all = append(all, "NVIDIA_VISIBLE_DEVICES="+value, "ROCR_VISIBLE_DEVICES="+value, e)
		case "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK":
			all = append(all, e)
		}
	}
	return all
}

// epoch is the start of the year 2020 in Unix time. The market accepts reported times of up to
// 35 years.
const epoch = 1577836800

// SpoolTime returns the time in seconds since the start of the year 2020, UTC. It is the clock
// for the agent and the supervisors of a backend.
func SpoolTime() float64 { return float64(time.Now().UnixMicro())/1e6 - epoch }
