package matchmaking

import "bourse/hosts/timetable"

// best asks every seller and returns the one whose quote no other is better
// than, the lowest index among equals.
func best(now int64, j timetable.Job, window []Seller, better func(a, b *timetable.Quote) bool) (Choice, bool) {
	var c Choice
	found := false
	for i, s := range window {
		q := s.Quote(now, j)
		if q.Feasible && (!found || better(&q, &c.Quote)) {
			c, found = Choice{i, q}, true
		}
	}
	return c, found
}
