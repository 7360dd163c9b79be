//go:build linux

package agent

import (
	"bourse/hosts"
	"bourse/hosts/linux"
)

// If only a part of a machine is offered, weights are not sufficient to divide it. Tasks with
// fewer threads than the machine has processors never compete with each other, and the first
// task could use up a common limit. Each task therefore also has its own limit: its
// entitlement, plus a part of the processors that other tasks do not use.

// busy is a fraction of a task's limit. If the task uses more than this, it could probably use
// more than its limit.
const busy = 0.9

// parts returns shares with limits that enforce them. The limits depend on the usage of each
// task, in processors, and on the limit under which the usage was measured; 0 means not
// measured.
func parts(processors float64, shares []linux.Share, used, limits []float64) []linux.Share {
	entitled, gets := make([]float64, len(shares)), make([]float64, len(shares))
	all := make([]hosts.Share, len(shares))
	for i, s := range shares {
		all[i] = s.Share
	}
	hosts.Divide(processors, 0, all, entitled)
	for i := range all {
		if idle := limits[i] > 0 && used[i] < busy*limits[i]; idle {
			most := 1.25*used[i] + 0.02 // the task may soon need slightly more
			if all[i].Limit == 0 || all[i].Limit > most {
				all[i].Limit = most
			}
		}
	}
	hosts.Divide(processors, 0, all, gets)
	out := make([]linux.Share, len(shares))
	for i, s := range shares {
		if out[i] = s; s.Weight > 0 {
			out[i].Limit = max(entitled[i], gets[i]) // so that an idle task can start to work immediately
		}
	}
	return out
}

// measure records the usage of each task, in processors, since the last measurement. It does
// nothing if the last measurement was less than half a second ago.
func (a *Agent) measure(now float64) {
	if now < a.measured+0.5 {
		return
	}
	for _, t := range a.tasks {
		if t.limit > 0 && t.seen > 0 {
			t.rate, t.under = (t.used-t.before)/(now-a.measured), t.limit
		}
		t.before, t.seen = t.used, now
	}
	a.measured = now
}

// share divides the processors among the running tasks.
func (a *Agent) share() error {
	shares := a.shares()
	if !a.limits {
		return a.Kernel.Share(shares)
	}
	used, under := make([]float64, len(shares)), make([]float64, len(shares))
	for i, s := range shares {
		used[i], under[i] = a.tasks[s.Name].rate, a.tasks[s.Name].under
	}
	shares = parts(a.At.Offered(), shares, used, under)
	for _, s := range shares {
		a.tasks[s.Name].limit = s.Limit
	}
	return a.Kernel.Share(shares)
}
