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

// A Config is what an Agent needs.
type Config struct {
	Dir     string       // folder of its own, through which the users of tasks can pass
	Kernel  linux.Kernel // opened with At
	At      linux.Config
	Minder  string        // program whose main calls Main; empty is this one
	Users   int           // first of a range of users for tasks, of no one else's, not another agent's; 0 is the agent's own for all
	Network bool          // tasks have the machine's; else none where it makes namespaces
	Grace   float64       // seconds between SIGTERM and SIGKILL of what is not wanted
	Warn    float64       // seconds before its deadline at which a task is sent SIGTERM; 0 never
	Keep    float64       // seconds for which a folder is kept when its end is acknowledged
	Limits  remote.Limits // of jobs that do not say
	Stored  int64         // bytes of output of ended tasks that one account may leave here; 0 is any number
	Offer   remote.Offer

	clock   func() float64
	space   func(dir string) (free, total int64, err error) // bytes of its disk
	boot    string
	minders minders
}

// minders are the processes that watch tasks.
type minders interface {
	start(folder string) error         // once a folder
	alive(folder string) (bool, error) // whether that of a folder is
	reap()                             // those of this agent that have ended
	ended() <-chan os.Signal           // tells that one has; nil if nothing does
}

// An Agent is used by one goroutine.
type Agent struct {
	Config
	self    string // tells it from every other
	session session
	seq     int64 // of what was told last
	heard   int64 // of what was answered last; 0 and what is wanted is not known
	deal    int64
	lease   float64 // instant
	wanted  []wanted
	tasks   map[string]*task
	spans   spans
	bad     map[string]error // jobs and files that the market does not have, by SHA-256
	closed  string
	scant   bool  // too little of the disk is free for new tasks
	stored  int64 // bytes of output of ended tasks

	archives []*archive // that are read, the one asked for last at the end

	limits   bool    // the kernel has limits of its own for tasks: see parts
	measured float64 // instant at which tasks were measured last
}

// A session is one agent's, of one folder: counted, so that the market knows the last.
type session struct {
	Number int64
	Boot   string
	Quiet  float64 // instant before which nothing is begun: another's tasks may run till then
	After  string  // the agent that it follows
}

// A wanted is a task that is wanted, until an instant, 0 for ever.
type wanted struct {
	remote.Wanted
	until float64
}

func (w *wanted) share() hosts.Share { return hosts.Share{Weight: w.Weight, Limit: w.Limit} }

// A task is one that has a folder.
type task struct {
	name          string
	number        int64
	folder        string
	record        record
	wanted        *wanted // the last that was told, nil if none was since the agent's start
	isWanted      bool
	orders        orders
	share         hosts.Share
	frozen        bool
	swept         bool    // its group is removed
	used          float64 // processor-seconds since it began, as read last
	spanned       float64 // of those, what is in a span
	waited        float64 // s in which it could run and did not
	unbegun       float64 // s of these before anything of it ran
	waitedSpanned float64 // of those, what is in a span
	limit         float64 // processors, as the kernel was told last
	rate          float64 // processors that it used when it was measured last
	under         float64 // limit that it had then, 0 if it was not measured
	before        float64 // used at the end of that
	seen          float64 // instant of that, 0 is none
	end           *exit
	deleted       deleted // its output, if that was deleted
	forgotten     float64 // instant at which the end was acknowledged; 0 is not yet
}

// runs reports whether it has not ended, as far as is known.
func (t *task) runs() bool { return t.end == nil && t.forgotten == 0 }

// Open takes up what an earlier agent has left in c.Dir: what runs goes on.
func Open(c Config) (*Agent, error) {
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
	if c.minders == nil {
		c.minders = &processes{program: c.Minder, network: c.Network}
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
		if a.tasks[name] == nil { // a folder is made first and removed last
			if err := errors.Join(c.Kernel.Kill(name), c.Kernel.Remove(name)); err != nil {
				a.closed = err.Error()
			}
		}
	}
	return a, a.Look()
}

// begin makes this agent's session the one of that number, after another's.
func (a *Agent) begin(number int64, quiet float64, after string) error {
	a.session = session{number, a.boot, quiet, after}
	return put(a.path("session"), a.session, true)
}

func (a *Agent) path(names ...string) string {
	return filepath.Join(append([]string{a.Dir}, names...)...)
}

// Now returns the instant on the clock of orders.
func (a *Agent) Now() float64 { return a.clock() }

// adopt takes up a folder.
func (a *Agent) adopt(name string) error {
	t := &task{name: name, folder: a.path("tasks", name)}
	// What is not called as a market calls tasks has no number, and is told to none.
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
			t.forgotten = a.clock() // kept a little longer
		}
	}
	a.tasks[name] = t
	return nil
}
