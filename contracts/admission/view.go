package admission

import (
	"bourse/contracts"
	"bourse/hosts"
)

// Changed returns the hosts that have changed since the policy last called Changed. The
// argument known is the size of the fleet in the policy's last call. If it differs from the
// current size, Changed returns all hosts, and all is true.
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
