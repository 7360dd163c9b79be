package sharing

import (
	"bourse/contracts"
	"bourse/hosts"
)

// turns gives the host to the task that came first, as much of it as one can use;
// the others wait.
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
