package matchmaking

import (
	"fmt"
	"math/rand/v2"

	"bourse/hosts/timetable"
)

// NextFit asks in turn, beginning after the seller that it took last (NF,
// §3.1.3). A rejected job leaves its place unchanged.
type NextFit struct {
	Next int `json:"next" yaml:"next" doc:"cluster to be asked first, from 0"` // index of the seller to be asked first
}

func newNextFit(decode func(any) error, _ *rand.Rand) (Matchmaker, error) {
	n := &NextFit{}
	if err := decode(n); err != nil {
		return nil, err
	}
	if n.Next < 0 {
		return nil, fmt.Errorf("next %d, want 0 or more", n.Next)
	}
	return n, nil
}

// Match implements [Matchmaker].
func (n *NextFit) Match(now int64, j timetable.Job, window []Seller) (Choice, bool) {
	for k := range window {
		i := (n.Next + k) % len(window)
		if q := window[i].Quote(now, j); q.Feasible {
			n.Next = (i + 1) % len(window)
			return Choice{i, q}, true
		}
	}
	return Choice{}, false
}
