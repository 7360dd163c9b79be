package bank

// numbers is a set of contract numbers: a bit each where they are dense, as a
// run's are, a page where they are not.
type numbers struct {
	pages map[int64]*page
	last  *page // page at, asked for last: a run's numbers follow on one another
	at    int64
}

const pageBits = 512

type page [pageBits / 64]uint64

func (s *numbers) has(n int64) bool {
	if n < 0 {
		return false
	}
	p := s.page(n)
	return p != nil && p[n%pageBits/64]>>(n%64)&1 == 1
}

// page returns the page of n, nil if there is none.
func (s *numbers) page(n int64) *page {
	if s.last == nil || s.at != n/pageBits {
		s.last, s.at = s.pages[n/pageBits], n/pageBits
	}
	return s.last
}

// add puts n, which is not negative, in the set.
func (s *numbers) add(n int64) {
	if s.pages == nil {
		s.pages = make(map[int64]*page)
	}
	p := s.page(n)
	if p == nil {
		p = new(page)
		s.pages[n/pageBits] = p
	}
	p[n%pageBits/64] |= 1 << (n % 64)
}

// clear empties the set and keeps its memory.
func (s *numbers) clear() {
	for _, p := range s.pages {
		*p = page{}
	}
}
