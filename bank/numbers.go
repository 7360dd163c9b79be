package bank

// numbers are those of contracts: of all that were ever admitted, and of those that are
// open the rows of their escrows. There is a page for every 64 that follow on one
// another, as a run's do: with a map of escrows BenchmarkReplication takes half as long
// again.
type numbers struct {
	pages map[int64]*page
	last  *page // page at, asked for last
	at    int64
	spare []*[pageSize]Account
}

const pageSize = 64

// A page has a bit for each of its numbers.
type page struct {
	admitted, open uint64
	escrows        *[pageSize]Account // nil if none is open
}

// has reports whether n was ever admitted.
func (s *numbers) has(n int64) bool {
	p := s.page(n)
	return p != nil && p.admitted>>(n%pageSize)&1 == 1
}

// escrow returns the row of the escrow of n, false if it is not open.
func (s *numbers) escrow(n int64) (Account, bool) {
	p := s.page(n)
	if p == nil || p.open>>(n%pageSize)&1 == 0 {
		return 0, false
	}
	return p.escrows[n%pageSize], true
}

// page returns the page of n, nil if there is none.
func (s *numbers) page(n int64) *page {
	if n < 0 {
		return nil
	}
	if s.last == nil || s.at != n/pageSize {
		s.last, s.at = s.pages[n/pageSize], n/pageSize
	}
	return s.last
}

// make returns the page of n, which is not negative.
func (s *numbers) make(n int64) *page {
	p := s.page(n)
	if p == nil {
		if s.pages == nil {
			s.pages = make(map[int64]*page)
		}
		p = new(page)
		s.pages[n/pageSize], s.last = p, p
	}
	return p
}

// admit notes that n, which is not negative, was admitted.
func (s *numbers) admit(n int64) { s.make(n).admitted |= 1 << (n % pageSize) }

// open opens n, which is not negative.
func (s *numbers) open(n int64, escrow Account) {
	p := s.make(n)
	if last := len(s.spare) - 1; p.escrows == nil && last >= 0 {
		p.escrows, s.spare = s.spare[last], s.spare[:last]
	} else if p.escrows == nil {
		p.escrows = new([pageSize]Account)
	}
	p.open |= 1 << (n % pageSize)
	p.escrows[n%pageSize] = escrow
}

// close closes n, which is open.
func (s *numbers) close(n int64) {
	p := s.page(n)
	if p.open &^= 1 << (n % pageSize); p.open != 0 {
		return
	}
	s.spare, p.escrows = append(s.spare, p.escrows), nil
	if p.admitted == 0 {
		delete(s.pages, n/pageSize)
		s.last = nil
	}
}

// clear forgets all that were admitted, of which none is open, and keeps the memory.
func (s *numbers) clear() {
	for _, p := range s.pages {
		*p = page{}
	}
}
