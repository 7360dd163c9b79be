package bank

// numbers is a set of contract numbers: a bit each where they are dense, as a
// run's are, a page where they are not.
type numbers struct{ pages map[int64]*page }

const pageBits = 512

type page [pageBits / 64]uint64

func (s *numbers) has(n int64) bool {
	if n < 0 {
		return false
	}
	p := s.pages[n/pageBits]
	return p != nil && p[n%pageBits/64]>>(n%64)&1 == 1
}

// add puts n, which is not negative, in the set.
func (s *numbers) add(n int64) {
	if s.pages == nil {
		s.pages = make(map[int64]*page)
	}
	p := s.pages[n/pageBits]
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
