package broker

import (
	"testing"

	"bourse/contracts"
)

// TestForget checks that Forget drops ended contracts and rejected requests, and releases the
// memory of a burst of ends when far fewer contracts end afterwards.
func TestForget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ended, room int
		kept        bool
	}{{0, 64, true}, {0, 65, false}, {10, 144, true}, {10, 145, false}, {100, 145, true}} {
		b := Broker{}
		b.ended, b.refused = make([]contracts.Settled, c.ended, c.room), make([]Refusal, 3)
		b.Forget()
		if len(b.Ended()) > 0 || len(b.Refused()) > 0 || (cap(b.ended) > 0) != c.kept {
			t.Errorf("%d ended, with room for %d: %d and %d are left, with room for %d", c.ended, c.room, len(b.Ended()), len(b.Refused()), cap(b.ended))
		}
	}
}
