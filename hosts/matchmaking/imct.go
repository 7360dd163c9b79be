package matchmaking

import (
	"math/rand/v2"

	"bourse/hosts/timetable"
)

// MinCompletion takes the seller with the earliest completion (IMCT, §3.1.4).
type MinCompletion struct{}

func newMinCompletion(decode func(any) error, _ *rand.Rand) (Matchmaker, error) {
	return MinCompletion{}, decode(&struct{}{})
}

// Match implements [Matchmaker].
func (MinCompletion) Match(now int64, j timetable.Job, window []Seller) (Choice, bool) {
	return best(now, j, window, earlier)
}

func earlier(a, b *timetable.Quote) bool { return a.Completion < b.Completion }
