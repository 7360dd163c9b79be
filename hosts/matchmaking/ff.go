package matchmaking

import (
	"bourse/hosts/timetable"
)

// firstFit chooses the first seller that can accept the job and requests no further quotes (FF,
// §3.1.2).
type firstFit struct{}

// Match implements [Matchmaker].
func (firstFit) Match(now int64, j timetable.Job, window []Seller) (Choice, bool) {
	for i, s := range window {
		if q := s.Quote(now, j); q.Feasible {
			return Choice{i, q}, true
		}
	}
	return Choice{}, false
}
