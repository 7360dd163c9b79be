package matchmaking

import (
	"math/rand/v2"

	"bourse/hosts/timetable"
)

// MinUtilization takes the seller that is used least (MinU, §3.1.5).
type MinUtilization struct{ reading timetable.Reading }

func newMinUtilization(decode func(any) error, _ *rand.Rand) (Matchmaker, error) {
	r, err := utilizationOptions(decode)
	return MinUtilization{r}, err
}

// Match implements [Matchmaker].
func (m MinUtilization) Match(now int64, j timetable.Job, window []Seller) (Choice, bool) {
	return best(now, j, window, func(a, b *timetable.Quote) bool {
		return a.Utilization(m.reading).Cmp(b.Utilization(m.reading)) < 0
	})
}
