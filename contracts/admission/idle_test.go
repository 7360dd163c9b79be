package admission

import (
	"fmt"
	"testing"

	"bourse/contracts"
	"bourse/hosts"
)

// TestHostSet checks that a set has the hosts that were put in it last, of a large fleet
// too, and that the lowest are taken, one a node.
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
	for nodes, want := range map[int]string{1: "[{0 0}] true", 2: "[{0 0} {130 0}] true", 3: "[{0 0} {130 0} {200 0}] true", 4: "[{0 0} {130 0} {200 0}] false"} {
		var c chooser
		enough := s.take(&contracts.Request{Nodes: nodes}, nil, &c)
		if got := fmt.Sprint(c.found, enough); got != want {
			t.Errorf("%d nodes: %s, want %s", nodes, got, want)
		}
	}
}
