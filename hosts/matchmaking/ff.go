package matchmaking

import (
	"bourse/hosts/timetable"
)

// FirstFit takes the first seller that can take the job, and asks no further
// (FF, §3.1.2).
type FirstFit struct{}

// Match implements [Matchmaker].
func (FirstFit) Match(now int64, j timetable.Job, window []Seller) (Choice, bool) {
	for i, s := range window {
		if q := s.Quote(now, j); q.Feasible {
			return Choice{i, q}, true
		}
	}
	return Choice{}, false
}
