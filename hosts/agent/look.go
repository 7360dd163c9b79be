//go:build linux

package agent

import (
	"errors"
	"os"
	"path/filepath"

	"bourse/hosts"
)

// slack is the delay, in seconds, after which the agent itself ends a task that its supervisor
// should have ended.
const slack = 5

// Look starts, changes and ends tasks, so that the running tasks are the wanted tasks. It is
// called every second and after new orders.
func (a *Agent) Look() error {
	now := a.clock()
	a.supervisors.reap()
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
		if a.heard > 0 && !t.isWanted && t.orders.KillAt == 0 {
			o := t.orders
			o.KillAt, o.Reason = now+a.Grace, a.reason(t)
			errs = append(errs, a.command(t, o))
		}
		if at := t.orders.KillAt; at > 0 && now > at+slack { // the supervisor should have ended the task
			errs = append(errs, a.Kernel.Kill(t.name))
			if now > at+slow.Seconds() && a.Backend == nil {
				a.closed = t.name + ": " + notDead
			}
		}
		// The supervisor also pauses the task, but it may hang, so the agent enforces the lease
		// itself. The signal-based scheduler must also know which tasks are paused.
		if stands := t.orders.shouldPause(now, a.lease); stands != t.frozen {
			err := a.freeze(t, stands)
			errs = append(errs, err)
			if err == nil {
				t.frozen = stands
			}
		}
	}
	errs = append(errs, a.makeRoom())
	if a.heard > 0 {
		a.measure(now)
		errs = append(errs, a.startAll(now), a.share())
	}
	return errors.Join(append(errs, a.read())...)
}

func (a *Agent) freeze(t *task, stands bool) error {
	if stands {
		return a.Kernel.Freeze(t.name)
	}
	return a.Kernel.Thaw(t.name)
}

// over reports whether a task has ended, and records the reason.
func (a *Agent) over(t *task) (bool, error) {
	alive, err := a.supervisors.alive(t.folder)
	if err != nil || alive {
		return false, err
	}
	var e exit
	there, err := get(filepath.Join(t.folder, "exit.json"), &e)
	if err != nil {
		return false, err
	}
	if !there { // the supervisor or the whole machine has died
		if a.Backend != nil { // if the supervisor returns, it must end the task before it reads a new lease
			end := t.orders
			if end.KillAt = a.clock(); t.orders.KillAt > 0 {
				end.KillAt = t.orders.KillAt
			}
			if err := a.command(t, end); err != nil {
				return false, err
			}
		}
		e = exit{Why: hosts.Lost, Fault: "its supervisor has died"}
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

// conclude records how a task ended.
func (a *Agent) conclude(t *task, e exit) {
	if e.Stored == 0 && t.deleted.Bytes == 0 { // the supervisor has an earlier version, or has died
		e.Stored = stored(t.folder)
	}
	t.end, t.over = &e, a.clock()
	t.used = max(t.used, e.Used)
	t.waits(e.Waited)
}

// sweep removes the remains of a task that has ended: its control group immediately, and its
// folder later.
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
	a.closeArchives(t)
	if err := os.RemoveAll(t.folder); err != nil {
		return err
	}
	delete(a.tasks, t.name)
	return nil
}
