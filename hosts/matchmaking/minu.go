package matchmaking

import (
	"bourse/hosts/timetable"
	"bourse/workloadgen/plugin"
)

// minUtilization chooses the least utilized seller (MinU, §3.1.5).
type minUtilization struct{ reading timetable.Reading }

func newMinUtilization(decode plugin.Decoder) (Matchmaker, error) {
	r, err := utilizationOptions(decode)
	return minUtilization{r}, err
}

// Match implements [Matchmaker].
func (m minUtilization) Match(now int64, j timetable.Job, window []Seller) (Choice, bool) {
	return best(now, j, window, func(a, b *timetable.Quote) bool {
		return a.Utilization(m.reading).Cmp(b.Utilization(m.reading)) < 0
	})
}
