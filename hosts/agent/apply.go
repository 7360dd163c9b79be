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
	"time"

	"bourse/hosts"
	"bourse/hosts/linux"
	"bourse/hosts/remote"
)

// Apply applies the orders o, which answer the report with sequence number seq, sent at the
// given time. The returned error describes the actions that failed; Look retries them. Apply
// ignores orders for another agent, and orders that answer an earlier report than the orders
// applied last.
func (a *Agent) Apply(o *remote.Orders, seq int64, sent float64) error {
	if o.Session != a.session.Number || o.Boot != a.self || seq <= a.heard {
		return nil
	}
	var errs []error
	errs = append(errs, a.acknowledge(o), a.read()) // measure the usage under the previous allocation
	if o.Deal != a.deal {
		a.closeSpan(a.deal)
	}
	if now := a.clock(); now >= a.lease {
		errs = append(errs, a.drop(o, now))
	}
	until := max(a.lease, sent+o.Lease)
	if err := writeLease(a.Dir, lease{until: until, deal: o.Deal, booked: a.spans.booked}); err != nil {
		return errors.Join(append(errs, err)...)
	}
	a.lease, a.deal, a.heard, a.term = until, o.Deal, seq, o.Lease
	a.moved, a.drains = o.Moved, o.Drain
	for _, t := range a.tasks {
		t.isWanted = false
	}
	now := a.clock()
	a.wanted = nil
	for _, one := range o.Wanted {
		w := wanted{Wanted: one}
		if w.Left > 0 {
			w.until = now + w.Left
		}
		a.wanted = append(a.wanted, w)
		if t := a.tasks[w.Folder()]; t != nil {
			moved := t.wanted == nil || !slices.Equal(t.wanted.Peers, w.Peers)
			t.isWanted, t.wanted, t.share = true, &w, w.share()
			if t.runs() {
				if moved {
					errs = append(errs, layHosts(t))
				}
				errs = append(errs, a.command(t, a.wish(t)))
			}
		}
	}
	return errors.Join(append(errs, a.Look())...)
}

// drop ends unwanted tasks that were paused when the lease ended. Another host may have started
// these tasks, so they must not run again here.
func (a *Agent) drop(o *remote.Orders, now float64) error {
	var errs []error
	for _, t := range a.sorted() {
		wanted := slices.ContainsFunc(o.Wanted, func(w remote.Wanted) bool { return w.Folder() == t.name })
		if t.runs() && !wanted && (t.orders.KillAt == 0 || t.orders.KillAt > now) {
			end := t.orders
			end.KillAt = now
			errs = append(errs, a.command(t, end))
		}
	}
	return errors.Join(errs...)
}

// missing returns the SHA-256 hashes of wanted jobs and files that are not stored here.
func (a *Agent) missing() (all []string) {
	for i := range a.wanted {
		if w := &a.wanted[i]; a.tasks[w.Folder()] == nil {
			_, lacks, _ := a.job(w.Job)
			lacks = append(lacks, a.unfetched(w.Saved)...)
			all = append(all, lacks...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// startAll starts the wanted tasks that have never had a folder.
func (a *Agent) startAll(now float64) error {
	var errs []error
	for i := range a.wanted {
		w := &a.wanted[i]
		name := w.Folder()
		if a.tasks[name] != nil || a.shut() != "" || now < a.session.Quiet || now >= a.lease {
			continue
		}
		job, lacks, bad := a.job(w.Job)
		if len(lacks)+len(a.unfetched(w.Saved)) > 0 {
			continue // the job is still being fetched
		}
		numbers, free, err := a.assign(w.Counts)
		if !free {
			continue // a task that must end still reserves the units
		}
		bad = errors.Join(bad, err)
		if err := linux.CheckName(name); err != nil {
			errs = append(errs, err)
			continue
		}
		t := &task{name: name, number: w.Name, folder: a.path("tasks", name), isWanted: true, wanted: w, share: w.share()}
		a.tasks[name] = t
		errs = append(errs, a.start(t, now, job, numbers, bad))
	}
	clear(a.bad) // the blob can then be requested again
	return errors.Join(errs...)
}

// jitter is the tolerance, in seconds, within which a repeated deadline counts as unchanged.
const jitter = 0.1

// wish returns the orders for the supervisor of a wanted task.
func (a *Agent) wish(t *task) orders {
	o := orders{Warn: t.wanted.Warn, Asked: t.wanted.Asked, Paused: t.wanted.Weight == 0}
	if o.Until = t.wanted.until; o.Until > 0 {
		if math.Abs(o.Until-t.orders.Until) < jitter {
			o.Until = t.orders.Until
		}
	}
	if t.orders.KillAt > 0 { // the task was temporarily unwanted, which cannot be undone
		o.KillAt, o.Reason = t.orders.KillAt, t.orders.Reason
	}
	return o
}

// reason returns the reason why t, which is no longer wanted, must end.
func (a *Agent) reason(t *task) string {
	switch moved := slices.Contains(a.moved, t.number); {
	case moved && a.drains:
		return byDrain
	case moved:
		return byMove
	}
	return byOwner
}

// command writes the orders for a supervisor if they have changed.
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

// start creates the folder of a task and starts its supervisor, unless the job is invalid. Once
// the folder exists, the task is never started again.
func (a *Agent) start(t *task, now float64, job *remote.Job, numbers map[string][]int, bad error) error {
	if err := os.Mkdir(t.folder, 0o711); err != nil {
		delete(a.tasks, t.name) // nothing was started, so the start will be retried
		return err
	}
	user := a.user()
	t.record = record{
		Name: t.name, Boot: a.boot, Began: now, Account: t.wanted.Account, Job: *job, User: user, Root: a.Dir,
		Network: a.Network, Kind: a.Kernel.Kind(), Kernel: a.At,
		Memory: t.wanted.Memory, Disk: t.wanted.Disk, Bandwidth: t.wanted.Bandwidth, Units: t.wanted.Counts, Numbers: numbers,
	}
	t.record.Files, t.record.Hidden = a.Devices.files(numbers)
	if a.Backend != nil {
		t.record.Spool, t.record.CPUs, t.record.Lease = true, t.wanted.Limit, a.term
		t.record.Kind, t.record.Kernel = "none", linux.Config{Dir: filepath.Join(t.folder, "group")}
	}
	t.record.Job.Limits = limits(job.Limits, t.wanted, a.Limits)
	t.record.Port = t.wanted.Port
	t.record.Job.Env = append(append(slices.DeleteFunc(slices.Clone(job.Env), isReserved), variables(t, now)...), visible(numbers[gpu])...)
	l := t.record.Job.Limits
	dir := filepath.Join(t.folder, "dir")
	err := errors.Join(syncFolder(a.path("tasks")), os.Mkdir(dir, 0o700))
	if err == nil && user > 0 {
		err = os.Chown(dir, user, user)
	}
	if err == nil {
		err = put(filepath.Join(t.folder, "task.json"), t.record, true)
	}
	if err == nil && bad == nil {
		bad = a.lay(dir, job.Files, user)
	}
	if err == nil && bad == nil {
		err = a.restore(dir, t.wanted, user)
	}
	if err == nil {
		err = layHosts(t)
	}
	if err == nil && bad != nil {
		e := exit{Why: hosts.Failed, Fault: "command: " + bad.Error()}
		err = put(filepath.Join(t.folder, "exit.json"), e, true)
		a.conclude(t, e)
		return err
	}
	if err == nil {
		err = a.command(t, a.wish(t))
	}
	if err == nil {
		err = a.Kernel.Make(t.name, linux.Limits{Memory: l.Memory, Processes: l.Processes})
	}
	if err == nil {
		err = a.share() // set the shares before the task competes with other tasks
	}
	if err == nil {
		err = a.supervisors.start(t.folder)
	}
	if err != nil {
		err = fmt.Errorf("start %s: %w", t.name, err)
		a.conclude(t, exit{Why: hosts.Lost, Fault: err.Error()})
	}
	return err
}

// limits returns the limits of a job in the task w. They are at most the amounts that the task
// holds. Each limit that is still unset is the one in usual.
func limits(l remote.Limits, w *wanted, usual remote.Limits) remote.Limits {
	for _, f := range []struct {
		limit *int64
		holds int64
	}{{&l.Memory, w.Memory}, {&l.Disk, w.Disk}} {
		if f.holds > 0 && (*f.limit == 0 || *f.limit > f.holds) {
			*f.limit = f.holds
		}
	}
	return or(l, usual)
}

// variables returns the environment variables that identify the task and the nodes of its
// contract.
func variables(t *task, now float64) []string {
	w := t.wanted
	all := []string{
		fmt.Sprintf("BOURSE_CONTRACT=%d", w.Contract),
		fmt.Sprintf("BOURSE_NODE=%d", w.Node),
		fmt.Sprintf("BOURSE_NODES=%d", w.Nodes),
		fmt.Sprintf("BOURSE_TRY=%d", max(1, w.Try)),
	}
	if len(w.Peers) > 0 {
		all = append(all, "BOURSE_HOSTS="+filepath.Join(t.folder, "dir", remote.HostsFile), "MASTER_ADDR="+w.Peers[0])
		if w.Port > 0 {
			all = append(all, fmt.Sprintf("BOURSE_PORT=%d", w.Port), fmt.Sprintf("MASTER_PORT=%d", w.Port))
		}
	}
	if w.until > 0 { // a time in Unix seconds
		all = append(all, fmt.Sprintf("BOURSE_DEADLINE=%.0f", float64(time.Now().Unix())+w.until-now))
	}
	return all
}

// user returns a user ID of the range that no folder uses, or 0 if there is no range.
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

// shares returns the share of each running task, sorted by name. Tasks that are no longer
// wanted keep their last share.
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
