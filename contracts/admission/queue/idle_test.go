package queue

import (
	"fmt"
	"testing"

	"bourse/contracts"
	"bourse/hosts"
)

// TestHostSet checks that a set contains the hosts that were put in it and not removed, even
// for a large fleet, and that the lowest hosts are chosen, one per node.
func TestHostSet(t *testing.T) {
	t.Parallel()
	var s hostSet
	for _, h := range []hosts.ID{0, 63, 64, 130, 200, 130} {
		s.put(h, true)
	}
	s.put(64, false)
	s.put(65, false)
	s.put(63, false)
	if s.count != 3 {
		t.Errorf("%d hosts, want 3", s.count)
	}
	for nodes, want := range map[int]string{1: "[0] true", 2: "[0 130] true", 3: "[0 130 200] true", 4: "[0 130 200] false"} {
		found, enough := s.first(&contracts.Request{Nodes: nodes}, nil, nil)
		if got := fmt.Sprint(found, enough); got != want {
			t.Errorf("%d nodes: %s, want %s", nodes, got, want)
		}
	}
}
