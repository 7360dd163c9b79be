package bank

// numbers is the set of the numbers of all contracts ever admitted. For open contracts it also
// stores the row of the escrow.
//
// There is one page per 64 consecutive numbers, because a run numbers its contracts
// consecutively. With a map of escrows instead, BenchmarkReplication takes 50 % longer.
type numbers struct {
	pages map[int64]*page
	last  *page // the page with index at, which was accessed last
	at    int64
	spare []*[pageSize]Account
}

// pageSize is the number of contracts per page, the number of bits of a uint64.
const pageSize = 64

// A page has one bit for each of its numbers.
type page struct {
	admitted, open uint64
	escrows        *[pageSize]Account // nil if no contract of the page is open
}

// has reports whether n was ever admitted.
func (s *numbers) has(n int64) bool {
	p := s.page(n)
	return p != nil && p.admitted>>(n%pageSize)&1 == 1
}

// escrow returns the row of the escrow of n, or false if it is not open.
func (s *numbers) escrow(n int64) (Account, bool) {
	p := s.page(n)
	if p == nil || p.open>>(n%pageSize)&1 == 0 {
		return 0, false
	}
	return p.escrows[n%pageSize], true
}

// page returns the page of n, or nil if there is none.
func (s *numbers) page(n int64) *page {
	if n < 0 {
		return nil
	}
	// Consecutive calls usually concern the same page, so the last one is remembered.
	if s.last == nil || s.at != n/pageSize {
		s.last, s.at = s.pages[n/pageSize], n/pageSize
	}
	return s.last
}

// make returns the page of n and creates it if necessary. n must not be negative.
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

// admit records that n was admitted. n must not be negative.
func (s *numbers) admit(n int64) { s.make(n).admitted |= 1 << (n % pageSize) }

// open records the row of n's escrow. n must not be negative.
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

// close removes the escrow of n, which must be open.
func (s *numbers) close(n int64) {
	p := s.page(n)
	if p.open &^= 1 << (n % pageSize); p.open != 0 {
		return
	}
	// Keep the array of a page without open contracts for another page.
	s.spare, p.escrows = append(s.spare, p.escrows), nil
	if p.admitted == 0 {
		delete(s.pages, n/pageSize)
		s.last = nil
	}
}

// clear removes all admitted numbers and keeps the memory. No contract may be open.
func (s *numbers) clear() {
	for _, p := range s.pages {
		*p = page{}
	}
}
