//go:build linux

package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"bourse/hosts"
	"bourse/hosts/linux"
	"bourse/hosts/remote"
)

// A Config contains the settings of an Agent.
type Config struct {
	Dir        string       // folder of the agent; users of tasks must be able to traverse it
	Kernel     linux.Kernel // opened with At
	At         linux.Config
	Supervisor string        // program whose main function calls Main; empty means this program
	Users      int           // first user ID of a range that is used only for tasks; 0 runs all tasks as the agent's user
	Network    bool          // tasks use the machine's network; if false, they have no network, provided that namespaces are available
	Grace      float64       // seconds between SIGTERM and SIGKILL for unwanted tasks
	Keep       float64       // seconds for which a task's folder is stored after the market has acknowledged the end of the task
	Limits     remote.Limits // limits for jobs that do not specify limits
	Stored     int64         // maximum number of bytes of output of ended tasks per account; 0 means no limit
	Offer      remote.Offer
	Devices    Devices  // device files of countable resources; unused with a Backend
	Backend    *Backend // starts the supervisors on another machine; if nil, tasks run on this machine

	clock       func() float64
	space       func(dir string) (free, total int64, err error) // returns the numbers of free bytes and of all bytes of the disk
	boot        string
	supervisors supervisors
}

// The interface supervisors starts supervisors, which are processes, and tracks them.
type supervisors interface {
	start(folder string) error         // starts the supervisor of a folder; called at most once per folder
	alive(folder string) (bool, error) // reports whether the supervisor of a folder is running
	reap()                             // waits for those supervisors of this agent that have ended
	ended() <-chan os.Signal           // receives a signal when a supervisor ends; nil if unsupported
}

// An Agent must be used by one goroutine only.
type Agent struct {
	Config
	self     string // identifier of the folder
	session  session
	seq      int64 // sequence number of the last report
	heard    int64 // sequence number of the last answer; 0 if the wanted tasks are not known yet
	deal     int64
	lease    float64 // time at which the lease ends
	wanted   []wanted
	moved    []int64 // unwanted tasks of contracts that start again on other hosts
	drains   bool    // whether the market will want no more tasks here
	tasks    map[string]*task
	spans    spans
	bad      map[string]error // errors of jobs and files that the market does not have, by SHA-256
	closed   string
	term     float64 // length of the lease, in seconds
	looked   float64 // time of the last check of the machine's sockets
	occupied []int32 // ports that this check found
	scant    bool    // whether the disk has too little free space for new tasks
	stored   int64   // bytes of output of ended tasks

	sending  *task      // task whose checkpoint is being sent
	archives []*archive // open archives, the most recently requested last

	limits   bool    // whether the kernel supports a limit for each task; see parts
	measured float64 // time at which tasks were last measured
}

// A session identifies one agent that has used a folder. Sessions are numbered, so that the
// market knows which one is the latest.
type session struct {
	Number int64
	Boot   string
	Quiet  float64 // no task is started before this time, because tasks of another agent may run until then
	After  string  // session of the agent that this agent succeeds
}

// A wanted is a task that the market wants to run until a given time; 0 means no limit.
type wanted struct {
	remote.Wanted
	until float64
}

func (w *wanted) share() hosts.Share { return hosts.Share{Weight: w.Weight, Limit: w.Limit} }

// A task is a task with a folder on this machine.
type task struct {
	name     string
	number   int64
	folder   string
	record   record
	wanted   *wanted // wanted state received last; nil if none was received since the agent started
	isWanted bool

	saved         string  // version of the checkpoint that the market has
	savedAt       float64 // time at which the checkpoint was sent
	again         float64 // time of the next attempt to send a checkpoint
	over          float64 // time at which the end of the task was found
	orders        orders
	share         hosts.Share
	frozen        bool
	swept         bool    // whether the control group of the task has been removed
	used          float64 // total processor-seconds at the last measurement
	spanned       float64 // processor-seconds already assigned to a span
	waited        float64 // seconds for which the task was ready but waited for a processor
	unbegun       float64 // waiting seconds before the command started
	waitedSpanned float64 // waiting seconds already assigned to a span
	limit         float64 // limit in processors that was last set in the kernel
	rate          float64 // processors that the task used in the last measurement
	under         float64 // limit of the task during the last measurement; 0 if it was not measured
	before        float64 // processor-seconds used up to the last measurement
	seen          float64 // time of the last measurement; 0 means none
	end           *exit
	deleted       deleted // deleted output of the task, if any
	forgotten     float64 // time at which the end of the task was acknowledged; 0 means not yet
}

// runs reports whether the task is still running, as far as the agent knows.
func (t *task) runs() bool { return t.end == nil && t.forgotten == 0 }

// Open creates the agent of c.Dir and adopts the tasks of an earlier agent. Running tasks
// continue.
func Open(c Config) (*Agent, error) {
	if b := c.Backend; b != nil {
		c.supervisors, c.Kernel, c.boot = b, b.Kernel, "spool" // the clock of a backend continues after a reboot
		if c.clock == nil {
			c.clock = SpoolTime
		}
	}
	if c.clock == nil {
		c.clock = boottime
	}
	if c.boot == "" {
		boot, err := bootID()
		if err != nil {
			return nil, err
		}
		c.boot = boot
	}
	if c.space == nil {
		c.space = diskSpace
	}
	if c.supervisors == nil {
		c.supervisors = &processes{program: c.Supervisor, network: c.Network}
	}
	a := &Agent{Config: c, tasks: make(map[string]*task), bad: make(map[string]error)}
	a.limits = strings.HasPrefix(c.Kernel.Kind(), "cgroup")
	a.self = fmt.Sprintf("%s-%d", c.boot, int64(c.clock()*1e9))
	if err := errors.Join(os.MkdirAll(a.path("tasks"), 0o711), os.MkdirAll(a.path("blobs"), 0o700)); err != nil {
		return nil, err
	}
	if _, err := get(a.path("session"), &a.session); err != nil {
		return nil, err
	}
	if a.session.Boot != a.boot {
		a.session.Quiet = 0
	}
	if err := a.begin(a.session.Number+1, a.session.Quiet, a.session.After); err != nil {
		return nil, err
	}
	if err := allocateLease(c.Dir); err != nil {
		return nil, err
	}
	was := readLease(c.Dir)
	a.lease, a.deal = was.until, was.deal
	a.spans = newSpans(a.clock(), was.booked)
	entries, err := os.ReadDir(a.path("tasks"))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if err := a.adopt(e.Name()); err != nil {
			return nil, err
		}
	}
	groups, err := c.Kernel.List()
	if err != nil {
		return nil, err
	}
	for _, name := range groups {
		if a.tasks[name] == nil { // the folder is created first and removed last
			if err := errors.Join(c.Kernel.Kill(name), c.Kernel.Remove(name)); err != nil {
				a.closed = err.Error()
			}
		}
	}
	return a, a.Look()
}

// begin starts this agent's session with the given number, as the successor of session after.
func (a *Agent) begin(number int64, quiet float64, after string) error {
	a.session = session{number, a.boot, quiet, after}
	return put(a.path("session"), a.session, true)
}

func (a *Agent) path(names ...string) string {
	return filepath.Join(append([]string{a.Dir}, names...)...)
}

// Now returns the current time on the clock that orders use.
func (a *Agent) Now() float64 { return a.clock() }

// adopt adopts the task of a folder.
func (a *Agent) adopt(name string) error {
	t := &task{name: name, folder: a.path("tasks", name)}
	// A task whose name does not come from a market has no number and is not reported.
	t.number, _ = strconv.ParseInt(name[strings.LastIndexByte(name, '.')+1:], 10, 64)
	if _, err := get(filepath.Join(t.folder, "task.json"), &t.record); err != nil {
		return err
	}
	if _, err := get(filepath.Join(t.folder, "orders"), &t.orders); err != nil {
		return err
	}
	if _, err := get(filepath.Join(t.folder, "deleted"), &t.deleted); err != nil {
		return err
	}
	var told struct {
		Boot string
		At   float64
	}
	if there, err := get(filepath.Join(t.folder, "told"), &told); err != nil {
		return err
	} else if there {
		if t.forgotten = told.At; told.Boot != a.boot {
			t.forgotten = a.clock() // the time of the earlier boot is unknown, so the folder is stored slightly longer than necessary
		}
	}
	a.tasks[name] = t
	return nil
}
