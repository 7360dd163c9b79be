package matchmaking

import (
	"bourse/hosts/timetable"
	"bourse/workloadgen/plugin"
)

// maxUtilization chooses the most utilized seller (MaxU, §3.1.6).
type maxUtilization struct{ reading timetable.Reading }

func newMaxUtilization(decode plugin.Decoder) (Matchmaker, error) {
	r, err := utilizationOptions(decode)
	return maxUtilization{r}, err
}

// Match implements [Matchmaker].
func (m maxUtilization) Match(now int64, j timetable.Job, window []Seller) (Choice, bool) {
	return best(now, j, window, func(a, b *timetable.Quote) bool {
		return a.Utilization(m.reading).Cmp(b.Utilization(m.reading)) > 0
	})
}
