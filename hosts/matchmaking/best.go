package matchmaking

import "bourse/hosts/timetable"

// best requests a quote from every seller and returns the seller with the best one. Among equal
// quotes, the lowest index wins.
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
