package timetable

// An interval is the period [from, to). It is empty if to <= from.
type interval struct{ from, to int64 }

// The empty interval and the interval of all times.
var (
	never  = interval{Forever, 0}
	always = interval{0, Forever}
)

// meets reports whether a and b overlap. b must not be empty.
func (a interval) meets(b interval) bool { return a.from < b.to && b.from < a.to }

// hull returns the smallest interval that contains a and b.
func (a interval) hull(b interval) interval {
	return interval{min(a.from, b.from), max(a.to, b.to)}
}
