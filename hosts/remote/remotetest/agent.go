// Package remotetest models a remote host for tests: an agent that obeys a [remote.Machine] on
// a simulated host.
package remotetest

import (
	"fmt"
	"math"
	"slices"

	"bourse/hosts"
	"bourse/hosts/remote"
	"bourse/hosts/sim"
)

// An Agent runs the wanted tasks and reports their usage.
type Agent struct {
	// Exits returns the work, in processor-seconds, after which a program of a contract ends.
	// If it is nil, programs do not end.
	Exits func(contract int64) float64

	// Serves returns the fractions of its entitlement that a program of a contract uses and
	// waits for. If it is nil, programs use the whole entitlement and never wait.
	Serves func(contract int64) (uses, waits float64)

	// Retries reports whether a program of a contract ends with exit status 75 in the given try.
	Retries func(contract int64, try int32) bool

	// Fails reports whether a program of a contract ends with a failure.
	Fails func(contract int64) bool

	Offer remote.Offer // sent in each report

	machine *sim.Machine
	tasks   []task // in order of start
	started map[int64]bool

	session, first int64
	deal           int64
	since, now     float64 // start of the current span, and time up to which usage is counted
	over           []remote.Used
	spans          []remote.Span
	ends           []remote.End
}

type task struct {
	remote.Wanted
	slot   hosts.Slot
	used   float64 // processor-seconds
	waited float64 // s
	due    float64 // time at which the agent ends the task; +Inf if never
}

// New returns the agent of a host that offers spec.
func New(spec hosts.Spec) *Agent {
	return &Agent{machine: sim.New(spec), started: map[int64]bool{}, session: 1, first: 1}
}

// Restart makes the agent start a new session without its unacknowledged reports. Its tasks
// continue.
func (a *Agent) Restart() {
	a.session, a.first, a.spans = a.session+1, 1, nil
}

// Running returns the number of running tasks.
func (a *Agent) Running() int { return len(a.tasks) }

// Next returns the next time at which a task ends.
func (a *Agent) Next() float64 {
	at := a.machine.Next()
	for i := range a.tasks {
		at = min(at, a.tasks[i].due)
	}
	return at
}

// Tell ends the current span at now and returns a report of everything that the market has not
// acknowledged.
func (a *Agent) Tell(now float64) *remote.Told {
	a.count(now)
	a.close()
	return &remote.Told{Session: a.session, First: a.first, Spans: slices.Clone(a.spans), Ends: slices.Clone(a.ends), Offer: a.Offer}
}

// Obey carries out the orders o. It ignores orders for an earlier session.
func (a *Agent) Obey(now float64, o *remote.Orders) {
	a.count(now)
	if o.Session != 0 && o.Session != a.session || o.Deal < a.deal {
		return
	}
	if n := o.Ack - a.first + 1; n > 0 && o.Session == a.session {
		a.first, a.spans = a.first+n, a.spans[n:]
	}
	a.ends = slices.DeleteFunc(a.ends, func(e remote.End) bool { return slices.Contains(o.Known, e.Name) })
	if o.Deal == a.deal && !slices.ContainsFunc(o.Wanted, func(w remote.Wanted) bool { return !a.started[w.Name] }) {
		return
	}
	a.close()
	a.deal = o.Deal
	wanted := func(name int64) int {
		return slices.IndexFunc(o.Wanted, func(w remote.Wanted) bool { return w.Name == name })
	}
	a.tasks = slices.DeleteFunc(a.tasks, func(t task) bool {
		if wanted(t.Name) >= 0 {
			return false
		}
		a.machine.Stop(now, t.slot)
		return true
	})
	for _, w := range o.Wanted {
		share := hosts.Share{Weight: w.Weight, Limit: w.Limit}
		if i := slices.IndexFunc(a.tasks, func(t task) bool { return t.Name == w.Name }); i >= 0 {
			a.machine.SetShare(now, a.tasks[i].slot, share)
			continue
		}
		if a.started[w.Name] {
			continue // the task has ended, and the market has not received its end
		}
		a.started[w.Name] = true
		work := w.Work
		if a.Exits != nil {
			work = min(work, a.Exits(w.Contract))
		}
		slot, err := a.machine.Start(now, hosts.Task{Key: w.Name, Work: work}, share)
		if err != nil {
			panic(fmt.Sprintf("remotetest: %v", err))
		}
		t := task{Wanted: w, slot: slot, due: math.Inf(1)}
		if w.Left > 0 {
			t.due = now + w.Left
		}
		a.tasks = append(a.tasks, t)
	}
}

// Lose makes one running task disappear, if there is any, as if its supervisor had died.
func (a *Agent) Lose(now float64) {
	if a.count(now); len(a.tasks) > 0 {
		a.machine.Stop(now, a.tasks[0].slot)
		a.end(0, hosts.Lost)
	}
}

// count advances the tasks to now and adds up their usage.
func (a *Agent) count(now float64) {
	for a.now < now || a.Next() <= now {
		at := min(now, a.Next())
		speed := a.machine.Spec().Speed
		for i := range a.tasks {
			t := &a.tasks[i]
			uses, waits := 1.0, 0.0
			if a.Serves != nil {
				uses, waits = a.Serves(t.Contract)
			}
			entitled := a.machine.Rate(t.slot) / speed * max(0, at-a.now)
			t.used, t.waited = t.used+uses*entitled, t.waited+waits*entitled
		}
		a.now = max(a.now, at)
		for _, r := range a.machine.Advance(a.now, nil) {
			i := slices.IndexFunc(a.tasks, func(t task) bool { return t.Name == r.Key })
			if a.Serves == nil {
				a.tasks[i].used = r.Done / speed
			}
			if a.Retries != nil && a.Retries(a.tasks[i].Contract, a.tasks[i].Try) {
				a.end(i, hosts.Failed)
				a.ends[len(a.ends)-1].Code = 75
			} else if a.Fails != nil && a.Fails(a.tasks[i].Contract) {
				a.end(i, hosts.Failed)
			} else if a.tasks[i].Work > r.Done {
				a.end(i, hosts.Exited)
			} else {
				a.end(i, hosts.Worked)
			}
		}
		for i := 0; i < len(a.tasks); {
			if t := &a.tasks[i]; t.due <= a.now {
				a.machine.Stop(a.now, t.slot)
				a.end(i, hosts.Expired)
			} else {
				i++
			}
		}
	}
}

// end records that task i, which is no longer on the machine, has ended for the reason why.
func (a *Agent) end(i int, why hosts.End) {
	t := a.tasks[i]
	a.over = append(a.over, remote.Used{Name: t.Name, Seconds: t.used, Waited: math.Round(t.waited*1e3) / 1e3})
	a.ends = append(a.ends, remote.End{Name: t.Name, Why: why})
	a.tasks = slices.Delete(a.tasks, i, i+1)
}

// close ends the current span.
func (a *Agent) close() {
	s := remote.Span{Deal: a.deal, Length: a.now - a.since, Used: a.over}
	if s.Length == 0 && len(s.Used) == 0 {
		return
	}
	for i := range a.tasks {
		s.Used = append(s.Used, remote.Used{Name: a.tasks[i].Name, Seconds: a.tasks[i].used, Waited: math.Round(a.tasks[i].waited*1e3) / 1e3})
	}
	a.spans = append(a.spans, s)
	a.over, a.since = nil, a.now
}

// Deal returns the number of the allocation in force.
func (a *Agent) Deal() int64 { return a.deal }
