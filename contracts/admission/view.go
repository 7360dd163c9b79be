package admission

import (
	"bourse/contracts"
	"bourse/hosts"
)

// Fits reports whether h is present and has room for the minimum requirement of a task of r.
func Fits(h hosts.ID, r *contracts.Request, v contracts.View) bool {
	least := r.Needs.Min.Resources
	return !v.Unavailable(h) && (least.Zero() || least.Fit(v.Room(h)))
}

// Changed returns the hosts that have changed since the policy last called it. If the policy
// knows a different number of hosts than there are, it returns all hosts, and all is true.
func Changed(v contracts.View, known int) (changed []hosts.ID, all bool) {
	if changed = v.Changed(); known == v.Fleet() {
		return changed, false
	}
	changed = make([]hosts.ID, v.Fleet())
	for h := range changed {
		changed[h] = hosts.ID(h)
	}
	return changed, true
}
