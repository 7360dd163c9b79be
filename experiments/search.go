package experiments

// A Found is the result of a search along one dimension.
type Found struct {
	Steps    int64 // smallest number of steps that succeeds, or 0 if no such number was found
	Most     int64 // largest number of steps that was considered
	Tried    int   // number of decisions
	Monotone bool  // whether in all trials success with some number of steps implied success with every larger number
}

const (
	singly = 24 // every number of steps up to this one is tried
	probes = 8  // number of trials in a range that is assumed to fail
)

// Least returns the smallest number of steps from 1 to most for which succeeds returns true.
// Unless the result is 1, the next smaller number has been tried and fails. Least tries every
// number of steps up to 24. Above 24, it first tries powers of 4 and then halves the range
// between the last failure and the first success. Afterwards it tries 8 numbers in the range
// that is assumed to fail. If one of them succeeds, Least searches again below it. Finally, it
// tries some multiples of the result.
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
	low := int64(0) // largest number of steps that is known to fail
	for _, n := range order {
		if try(n) {
			f.Steps = n
			break
		}
		low = n
	}
	if f.Steps == 0 && most > singly { // a number of steps between the powers of 4 may succeed
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
