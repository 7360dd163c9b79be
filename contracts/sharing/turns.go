package sharing

import (
	"bourse/contracts"
	"bourse/hosts"
)

// turns gives one processor to the task that arrived first; the other tasks wait. The rule
// models hosts that run one task at a time, in order of admission.
type turns struct{}

// Allocate implements [Rule].
func (turns) Allocate(_ float64, _ hosts.ID, on []contracts.Allocation, _ contracts.View) {
	for i := range on {
		on[i].Share = hosts.Share{}
		if i == 0 {
			on[i].Share = hosts.Share{Weight: 1, Limit: 1}
		}
	}
}
