package matchmaking

import (
	"bourse/hosts/timetable"
	"bourse/workloadgen/plugin"
)

// NextFit tries sellers in turn, starting after the seller chosen last (NF, §3.1.3). A rejected
// job does not change where the next search starts.
type NextFit struct {
	Next int `json:"next" yaml:"next" validate:"min=0" doc:"first cluster to try"` // index of the first seller to try
}

func newNextFit(decode plugin.Decoder) (Matchmaker, error) {
	n := &NextFit{}
	err := decode(n)
	return n, err
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
