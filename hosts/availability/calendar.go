package availability

// A calendar finds the first interval that ends after a given time. For each hour it stores
// the first interval that ends in that hour or later, so that only a short scan is necessary.
type calendar struct {
	origin float64
	hours  []int32
}

const hour = 3600.0

// maxHours limits the calendar of a history with few intervals and a long span.
const maxHours = 1 << 20

func newCalendar(intervals []Interval) calendar {
	if len(intervals) == 0 {
		return calendar{}
	}
	c := calendar{origin: intervals[0].Start}
	n := (intervals[len(intervals)-1].End - c.origin) / hour
	if n > maxHours || n > 1000*float64(len(intervals)) {
		return c // use binary search instead
	}
	c.hours = make([]int32, int(n)+1)
	i := 0
	for k := range c.hours {
		for i < len(intervals) && intervals[i].End <= c.origin+float64(k)*hour {
			i++
		}
		c.hours[k] = int32(i)
	}
	return c
}

// after returns the index of the first interval that ends after t.
func (c *calendar) after(intervals []Interval, t float64) int {
	lo, hi := 0, len(intervals)
	if c.hours != nil {
		k := int(max(0, min((t-c.origin)/hour, float64(len(c.hours)-1))))
		lo = int(c.hours[k])
		if k+1 < len(c.hours) {
			hi = int(c.hours[k+1])
		}
	}
	for hi-lo > 8 {
		if mid := int(uint(lo+hi) >> 1); intervals[mid].End > t {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	// Scan in both directions, because rounding may have selected the wrong hour.
	for lo > 0 && intervals[lo-1].End > t {
		lo--
	}
	for lo < len(intervals) && intervals[lo].End <= t {
		lo++
	}
	return lo
}
