package matchmaking

import (
	"bourse/hosts/timetable"
)

// minCompletion chooses the seller with the earliest completion (IMCT, §3.1.4).
type minCompletion struct{}

// Match implements [Matchmaker].
func (minCompletion) Match(now int64, j timetable.Job, window []Seller) (Choice, bool) {
	return best(now, j, window, earlier)
}

func earlier(a, b *timetable.Quote) bool { return a.Completion < b.Completion }
