//go:build linux

package agent

import (
	"bourse/hosts"
	"bourse/hosts/linux"
)

// Weights alone do not share a machine of which less is offered than there is: tasks with
// fewer threads than it has processors never meet, and what bounds them all is taken by
// whoever is first. So each has a limit of its own, too: the part that it is entitled to,
// and of what others leave what it would get of that.

// busy is how much of its limit a task uses that could use more.
const busy = 0.9

// parts returns shares with the limits that make them hold, from how much of a processor
// each was seen to use under the limit that it had; none was seen if that is 0.
func parts(processors float64, shares []linux.Share, used, limits []float64) []linux.Share {
	entitled, gets := make([]float64, len(shares)), make([]float64, len(shares))
	all := make([]hosts.Share, len(shares))
	for i, s := range shares {
		all[i] = s.Share
	}
	hosts.Divide(processors, 0, all, entitled)
	for i := range all {
		if idle := limits[i] > 0 && used[i] < busy*limits[i]; idle {
			most := 1.25*used[i] + 0.02 // it may come to want a little more
			if all[i].Limit == 0 || all[i].Limit > most {
				all[i].Limit = most
			}
		}
	}
	hosts.Divide(processors, 0, all, gets)
	out := make([]linux.Share, len(shares))
	for i, s := range shares {
		if out[i] = s; s.Weight > 0 {
			out[i].Limit = max(entitled[i], gets[i]) // who is idle may begin at once
		}
	}
	return out
}

// measure keeps how much of a processor each task has used since it was measured last, at
// least half a second ago.
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

// share shares the processors among those that run.
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
