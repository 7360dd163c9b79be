//go:build linux

package agent

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bourse/hosts"
	"bourse/hosts/linux"
)

// A Config is what an Agent needs.
type Config struct {
	Dir     string       // folder of its own, through which the users of tasks can pass
	Kernel  linux.Kernel // opened with At
	At      linux.Config
	Minder  string  // program whose main calls Main; empty is this one
	Users   int     // first of a range of users for tasks, of no one else's, not another agent's; 0 is the agent's own for all
	Network bool    // tasks have the machine's; else none where it makes namespaces
	Grace   float64 // seconds between SIGTERM and SIGKILL of what is not wanted
	Warn    float64 // seconds before its deadline at which a task is sent SIGTERM; 0 never
	Keep    float64 // seconds for which a folder is kept when its end is acknowledged
	Limits  Limits  // of jobs that do not say

	clock   func() float64
	boot    string
	minders minders
}

// minders are the processes that watch tasks.
type minders interface {
	start(folder string) error         // once a folder
	alive(folder string) (bool, error) // whether that of a folder is
	reap()                             // those of this agent that have ended
}

// An Order is what is wanted of the machine. It stands until the next.
type Order struct {
	Deal   int64   // number of this dealing-out of the machine; lower than another's it is late, and ignored
	Sent   float64 // instant at which what this answers was sent, by Now
	Lease  float64 // seconds from Sent for which tasks may run without another order
	Wanted []Wanted
}

// A Wanted is a task that is to run.
type Wanted struct {
	Name      string // never used for another
	Share     hosts.Share
	Remaining float64 // seconds until it is to be ended; 0 is never
	Job       Job     // used when it is started
}

// A Reading is what a task had come to while a deal stood: totals since it began.
type Reading struct {
	Name string
	Deal int64
	Span float64 // seconds
	Used float64 // processor-seconds
}

// An End is how a task ended.
type End struct {
	Name        string
	Why         hosts.End
	Status      int      // of its program
	Signal      string   // that ended it, if one did
	Fault       string   // what went wrong besides the program
	OutOfMemory bool     // something of it was killed for that
	Span, Used  float64  // totals, as of a Reading; of what is Lost earlier ones may be more
	Lacks       []string // what of isolation the machine did not offer
}

// A Told is what was not acknowledged yet, in the order of names and of deals.
type Told struct {
	Session  string // of this agent, from start to end
	Seq      int64
	Readings []Reading
	Ends     []End
	Closed   string // why the machine takes no more tasks, if so
}

// An Agent is used by one goroutine.
type Agent struct {
	Config
	session string
	seq     int64
	deal    int64
	lease   float64 // instant
	heard   bool    // what is wanted is known
	tasks   map[string]*task
	closed  string
}

// A task is one that has a folder.
type task struct {
	name      string
	folder    string
	record    record
	wanted    *Wanted // the last that was told, nil if none was since the agent's start
	isWanted  bool
	orders    orders
	share     hosts.Share
	frozen    bool
	swept     bool // its group is removed
	readings  []reading
	end       *End
	told      int64   // the first Seq that told its end
	forgotten float64 // instant at which the end was acknowledged; 0 is not yet
}

// runs reports whether it has not ended, as far as is known.
func (t *task) runs() bool { return t.end == nil && t.forgotten == 0 }

type reading struct {
	Reading
	told int64 // the last Seq that told it, 0 if it has grown since
}

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
	if c.minders == nil {
		c.minders = &processes{program: c.Minder, network: c.Network}
	}
	a := &Agent{Config: c, tasks: make(map[string]*task)}
	a.session = fmt.Sprintf("%s-%d", c.boot, int64(c.clock()*1e9))
	if err := os.MkdirAll(a.path("tasks"), 0o711); err != nil {
		return nil, err
	}
	a.lease, a.deal = leaseUntil(c.Dir)
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

func (a *Agent) path(names ...string) string {
	return filepath.Join(append([]string{a.Dir}, names...)...)
}

// Now returns the instant on the clock of orders.
func (a *Agent) Now() float64 { return a.clock() }

// adopt takes up a folder.
func (a *Agent) adopt(name string) error {
	t := &task{name: name, folder: a.path("tasks", name)}
	if _, err := get(filepath.Join(t.folder, "task.json"), &t.record); err != nil {
		return err
	}
	if _, err := get(filepath.Join(t.folder, "orders"), &t.orders); err != nil {
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

// Apply makes an order what is wanted. What cannot be done now is tried again by Look;
// the error says what.
func (a *Agent) Apply(o Order) error {
	if o.Deal < a.deal {
		return nil
	}
	var errs []error
	errs = append(errs, a.read()) // under the deal that stood
	if until := max(a.lease, o.Sent+o.Lease); until > a.lease || o.Deal > a.deal {
		if err := writeLease(a.Dir, until, o.Deal); err != nil {
			return err
		}
		a.lease, a.deal = until, o.Deal
	}
	a.heard = true
	for _, t := range a.tasks {
		t.isWanted = false
	}
	now := a.clock()
	for i := range o.Wanted {
		w := o.Wanted[i]
		t := a.tasks[w.Name]
		if t == nil {
			if a.closed != "" {
				continue
			}
			if err := linux.CheckName(w.Name); err != nil {
				errs = append(errs, err)
				continue
			}
			t = &task{name: w.Name, folder: a.path("tasks", w.Name)}
			a.tasks[w.Name] = t
			t.isWanted, t.wanted, t.share = true, &w, w.Share
			errs = append(errs, a.start(t, now))
			continue
		}
		t.isWanted, t.wanted, t.share = true, &w, w.Share
		if t.runs() {
			errs = append(errs, a.command(t, a.wish(t, now)))
		}
	}
	return errors.Join(append(errs, a.Look())...)
}

// jitter is by how much a deadline that is told again may differ and stand.
const jitter = 0.1

// wish returns what the minder of a task that is wanted is to do.
func (a *Agent) wish(t *task, now float64) orders {
	o := orders{Warn: a.Warn, Paused: t.wanted.Share.Weight == 0}
	if t.wanted.Remaining > 0 {
		o.Until = now + t.wanted.Remaining
		if math.Abs(o.Until-t.orders.Until) < jitter {
			o.Until = t.orders.Until
		}
	}
	if t.orders.KillAt > 0 { // it was not wanted for a moment: that cannot be taken back
		o.KillAt = t.orders.KillAt
	}
	return o
}

// command writes what a minder is to do, if that has changed.
func (a *Agent) command(t *task, o orders) error {
	if o == t.orders {
		return nil
	}
	if err := put(filepath.Join(t.folder, "orders"), o, false); err != nil {
		return err
	}
	t.orders = o
	return nil
}

// start makes the folder of a task and starts its minder. From the moment when the folder
// is there the task is never started again.
func (a *Agent) start(t *task, now float64) error {
	if err := os.Mkdir(t.folder, 0o711); err != nil {
		delete(a.tasks, t.name) // nothing is begun: it is tried again
		return err
	}
	user := a.user()
	t.record = record{
		Name: t.name, Boot: a.boot, Began: now, Job: t.wanted.Job, User: user, Root: a.Dir,
		Network: a.Network, Kind: a.Kernel.Kind(), Kernel: a.At,
	}
	t.record.Job.Limits = t.wanted.Job.Limits.or(a.Limits)
	l := t.record.Job.Limits
	dir := filepath.Join(t.folder, "dir")
	err := errors.Join(syncFolder(a.path("tasks")), os.Mkdir(dir, 0o700))
	if err == nil && user > 0 {
		err = os.Chown(dir, user, user)
	}
	if err == nil {
		err = put(filepath.Join(t.folder, "task.json"), t.record, true)
	}
	if err == nil {
		err = a.command(t, a.wish(t, now))
	}
	if err == nil {
		err = a.Kernel.Make(t.name, linux.Limits{Memory: l.Memory, Processes: l.Processes})
	}
	if err == nil {
		err = a.Kernel.Share(a.shares()) // before it takes part of what is others'
	}
	if err == nil {
		err = a.minders.start(t.folder)
	}
	if err != nil {
		err = fmt.Errorf("start %s: %w", t.name, err)
		a.conclude(t, exit{Why: hosts.Lost, Fault: err.Error()})
	}
	return err
}

// user returns one of the range that no folder has, 0 if there is no range.
func (a *Agent) user() int {
	if a.Users == 0 {
		return 0
	}
	taken := make(map[int]bool)
	for _, t := range a.tasks {
		taken[t.record.User] = true
	}
	user := a.Users
	for taken[user] {
		user++
	}
	return user
}

// shares returns what tasks that run are to get, in the order of names: what is no
// longer wanted has what it had.
func (a *Agent) shares() (shares []linux.Share) {
	for _, t := range a.sorted() {
		if t.runs() {
			shares = append(shares, linux.Share{Name: t.name, Share: t.share})
		}
	}
	return shares
}

func (a *Agent) sorted() []*task {
	all := make([]*task, 0, len(a.tasks))
	for _, t := range a.tasks {
		all = append(all, t)
	}
	slices.SortFunc(all, func(s, t *task) int { return strings.Compare(s.name, t.name) })
	return all
}

// slack is how long after its minder should have ended a task the agent does it.
const slack = 5

// Look makes what runs what is wanted. It is called each second, and after each order.
func (a *Agent) Look() error {
	now := a.clock()
	a.minders.reap()
	var errs []error
	for _, t := range a.sorted() {
		if !t.runs() {
			errs = append(errs, a.sweep(t, now))
			continue
		}
		if over, err := a.over(t); over || err != nil {
			errs = append(errs, err)
			continue
		}
		if a.heard && !t.isWanted && t.orders.KillAt == 0 {
			o := t.orders
			o.KillAt = now + a.Grace
			errs = append(errs, a.command(t, o))
		}
		if at := t.orders.KillAt; at > 0 && now > at+slack { // its minder does not do it
			errs = append(errs, a.Kernel.Kill(t.name))
			if now > at+slow.Seconds() {
				a.closed = t.name + ": " + notDead
			}
		}
		// Its minder does this, too; one that hangs must not break the fence, and who
		// deals turns by signals must know.
		if stands := now >= a.lease || t.orders.Paused; stands != t.frozen {
			err := a.freeze(t, stands)
			errs = append(errs, err)
			if err == nil {
				t.frozen = stands
			}
		}
	}
	if a.heard {
		errs = append(errs, a.Kernel.Share(a.shares()))
	}
	return errors.Join(append(errs, a.read())...)
}

func (a *Agent) freeze(t *task, stands bool) error {
	if stands {
		return a.Kernel.Freeze(t.name)
	}
	return a.Kernel.Thaw(t.name)
}

// over reports whether a task has ended, and if so how.
func (a *Agent) over(t *task) (bool, error) {
	alive, err := a.minders.alive(t.folder)
	if err != nil || alive {
		return false, err
	}
	var e exit
	there, err := get(filepath.Join(t.folder, "exit.json"), &e)
	if err != nil {
		return false, err
	}
	if !there { // it, its minder or the whole machine has died
		e = exit{Why: hosts.Lost, Fault: "its minder has died"}
		if t.record.Boot != a.boot {
			e.Fault = "the machine was started again"
		} else {
			e.Used, e.Span = a.used(t.name), a.clock()-t.record.Began
		}
		if t.record.Name == "" {
			e.Fault, e.Used, e.Span = "it was never started", 0, 0
		}
		if err := put(filepath.Join(t.folder, "exit.json"), e, true); err != nil {
			return false, err
		}
	}
	if e.Fault == notDead {
		a.closed = t.name + ": " + notDead
	}
	a.conclude(t, e)
	return true, a.sweep(t, a.clock())
}

// conclude keeps how a task ended.
func (a *Agent) conclude(t *task, e exit) {
	t.end = &End{t.name, e.Why, e.Status, e.Signal, e.Fault, e.OutOfMemory, e.Span, e.Used, e.Lacks}
	a.note(t, e.Span, e.Used)
}

// sweep removes what is left of a task that has ended: its group at once, its folder in
// the end.
func (a *Agent) sweep(t *task, now float64) error {
	if !t.swept {
		if err := errors.Join(a.Kernel.Kill(t.name), a.Kernel.Remove(t.name)); err != nil {
			return err
		}
		t.swept = true
	}
	if t.forgotten == 0 || now < t.forgotten+a.Keep {
		return nil
	}
	if err := os.RemoveAll(t.folder); err != nil {
		return err
	}
	delete(a.tasks, t.name)
	return nil
}

// read takes a reading of all that run, under the deal that stands.
func (a *Agent) read() error {
	now := a.clock()
	all, err := a.Kernel.Read(nil)
	for _, u := range all {
		if t := a.tasks[u.Name]; t != nil && t.runs() && t.record.Name != "" {
			a.note(t, now-t.record.Began, u.Used)
		}
	}
	return err
}

// used returns what a group has used.
func (a *Agent) used(name string) float64 {
	all, _ := a.Kernel.Read(nil)
	for _, u := range all {
		if u.Name == name {
			return u.Used
		}
	}
	return 0
}

// note keeps a reading: what is of the same deal grows, and never falls.
func (a *Agent) note(t *task, span, used float64) {
	n := len(t.readings)
	if n > 0 {
		last := &t.readings[n-1]
		span, used = max(span, last.Span), max(used, last.Used)
		if last.Deal == a.deal {
			*last = reading{Reading{t.name, a.deal, span, used}, 0}
			return
		}
	}
	t.readings = append(t.readings, reading{Reading{t.name, a.deal, span, used}, 0})
}

// Tell returns all that was not acknowledged.
func (a *Agent) Tell() Told {
	a.seq++
	told := Told{Session: a.session, Seq: a.seq, Closed: a.closed}
	for _, t := range a.sorted() {
		if t.forgotten > 0 {
			continue
		}
		for i := range t.readings {
			r := &t.readings[i]
			if r.told == 0 {
				r.told = a.seq
			}
			told.Readings = append(told.Readings, r.Reading)
		}
		if t.end != nil {
			if t.told == 0 {
				t.told = a.seq
			}
			told.Ends = append(told.Ends, *t.end)
		}
	}
	return told
}

// Acknowledge forgets what was told up to seq in a session: who was told has it for good.
// Another session's is ignored.
func (a *Agent) Acknowledge(session string, seq int64) error {
	if session != a.session {
		return nil
	}
	var errs []error
	for _, t := range a.tasks {
		t.readings = slices.DeleteFunc(t.readings, func(r reading) bool { return r.told > 0 && r.told <= seq })
		if t.end == nil || t.told == 0 || t.told > seq || t.forgotten > 0 {
			continue
		}
		now := a.clock()
		err := put(filepath.Join(t.folder, "told"), struct {
			Boot string
			At   float64
		}{a.boot, now}, true)
		if err == nil {
			t.forgotten = now
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
