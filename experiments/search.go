package experiments

// A Found is the result of a search along one dimension.
type Found struct {
	Steps    int64 // least number of steps that succeeds; 0 if none was found
	Most     int64 // largest number of steps that was considered
	Tried    int   // number of decisions
	Monotone bool  // no decision shows that fewer steps succeed or that more fail
}

const (
	singly = 24 // up to this many steps are tried one by one
	probes = 8  // number of steps to try in a range that is assumed to fail
)

// Least returns the smallest number of steps from 1 to most that succeeds. One step less
// fails, as has been tried, or does not exist. It tries up to 24 steps one by one. Beyond
// that, it tries powers of 4, then halves the range between the last failure and the first
// success, and then tries 8 steps in the range that is assumed to fail. If one of those
// succeeds, it searches again below it. Finally it tries some multiples of the result.
func Least(most int64, succeeds func(steps int64) (bool, error)) (f Found, err error) {
	f = Found{Most: max(0, most), Monotone: true}
	tried := make(map[int64]bool)
	try := func(n int64) bool {
		if did, ok := tried[n]; ok || err != nil {
			return did
		}
		f.Tried++
		did, failed := succeeds(n)
		tried[n], err = did, failed
		return did
	}
	var order []int64
	if most <= singly {
		for n := int64(1); n <= most; n++ {
			order = append(order, n)
		}
	} else {
		for n := int64(1); n < most; n *= 4 {
			order = append(order, n)
		}
		order = append(order, most)
	}
	low := int64(0) // fails
	for _, n := range order {
		if try(n) {
			f.Steps = n
			break
		}
		low = n
	}
	if f.Steps == 0 && most > singly { // some step between them may succeed
		for i := len(order) - 1; i > 0 && f.Steps == 0; i-- {
			if mid := (order[i] + order[i-1]) / 2; try(mid) {
				f.Steps, low = mid, order[i-1]
			}
		}
	}
	for again := f.Steps > 0; again && err == nil; {
		for again = false; f.Steps-low > 1; {
			if mid := low + (f.Steps-low)/2; try(mid) {
				f.Steps = mid
			} else {
				low = mid
			}
		}
		for i := int64(1); i <= probes && most > singly; i++ {
			if n := low * i / (probes + 1); n > 0 && try(n) {
				f.Steps, low, again = n, low*(i-1)/(probes+1), true
				break
			}
		}
	}
	if f.Steps > 0 {
		for _, n := range []int64{f.Steps + 1, f.Steps + f.Steps/2, 2 * f.Steps, 3 * f.Steps, 4 * f.Steps, 6 * f.Steps, 8 * f.Steps, most} {
			if n > f.Steps && n <= most {
				try(n)
			}
		}
		for n := f.Steps + 1; n <= most && most <= singly; n++ {
			try(n)
		}
	}
	for n, did := range tried {
		if f.Steps > 0 && did == (n < f.Steps) {
			f.Monotone = false
		}
	}
	return f, err
}
