package admission

import (
	"bourse/contracts"
	"bourse/hosts"
)

// Changed returns the hosts that have changed since the policy last called Changed. If known,
// the number of hosts that the policy has seen, differs from the size of the fleet, it returns
// all hosts, and all is true.
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
