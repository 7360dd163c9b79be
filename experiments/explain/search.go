package explain

// Found is what a search along one dimension has found.
type Found struct {
	Steps    int64 // the least number of steps that will do, 0 if none was found
	Most     int64 // steps that were looked at
	Tried    int   // decisions
	Monotone bool  // nothing that was tried says that fewer steps would do, or more would not
}

// few is how many steps are tried one by one.
const few = 24

// points is how many steps are tried between those that will not do and those that will.
const points = 8

// Least returns the least number of steps, 1 to most, that will do: it will not do one step
// less, which has been tried, or is none. Up to 24 steps are tried one by one; of more, powers
// of 4, then halves of what lies between the last that will not do and the first that will,
// and then 8 points in what is taken not to do: if one of those will, it is searched again
// below it. Some multiples of what was found are tried at last.
func Least(most int64, will func(steps int64) (bool, error)) (f Found, err error) {
	f = Found{Most: max(0, most), Monotone: true}
	tried := make(map[int64]bool)
	try := func(n int64) bool {
		if did, ok := tried[n]; ok || err != nil {
			return did
		}
		f.Tried++
		did, failed := will(n)
		tried[n], err = did, failed
		return did
	}
	var order []int64
	if most <= few {
		for n := int64(1); n <= most; n++ {
			order = append(order, n)
		}
	} else {
		for n := int64(1); n < most; n *= 4 {
			order = append(order, n)
		}
		order = append(order, most)
	}
	low := int64(0) // will not do
	for _, n := range order {
		if try(n) {
			f.Steps = n
			break
		}
		low = n
	}
	if f.Steps == 0 && most > few { // there may be something between
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
		for i := int64(1); i <= points && most > few; i++ {
			if n := low * i / (points + 1); n > 0 && try(n) {
				f.Steps, low, again = n, low*(i-1)/(points+1), true
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
		for n := f.Steps + 1; n <= most && most <= few; n++ {
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
