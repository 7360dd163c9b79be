package queue

import (
	"testing"

	"bourse/contracts"
	"bourse/contracts/admission/policytest"
)

// TestEverHolds checks that a request with requirements can be queued if enough hosts would
// have room, whether or not they are idle now.
func TestEverHolds(t *testing.T) {
	t.Parallel()
	v := &policytest.Board{Speeds: make([]float64, 3)} // hosts with a memory of 4
	for _, c := range []struct {
		nodes  int
		memory float64
		want   bool
	}{{3, 0, true}, {4, 0, false}, {3, 4, true}, {4, 4, false}, {1, 5, false}} {
		r := contracts.Request{Nodes: c.nodes}
		r.Needs.Min.Memory = c.memory
		if got := everHolds(&r, v); got != c.want {
			t.Errorf("%d nodes of %v: %v, want %v", c.nodes, c.memory, got, c.want)
		}
	}
}
