package bank

// numbers is the set of the numbers of all contracts ever admitted. For open contracts it also
// stores the row of the escrow. The zero value is not usable; [newNumbers] creates a usable
// one.
type numbers struct {
	admitted map[int64]uint64  // bits of 64 consecutive numbers, by number divided by 64
	escrows  map[int64]Account // escrows of open contracts
}

func newNumbers() numbers {
	return numbers{make(map[int64]uint64), make(map[int64]Account)}
}

// has reports whether n was ever admitted.
func (s *numbers) has(n int64) bool { return n >= 0 && s.admitted[n/64]>>(n%64)&1 == 1 }

// escrow returns the row of the escrow of n, or false if it is not open.
func (s *numbers) escrow(n int64) (Account, bool) {
	a, ok := s.escrows[n]
	return a, ok
}

// admit records that n was admitted. n must not be negative.
func (s *numbers) admit(n int64) { s.admitted[n/64] |= 1 << (n % 64) }

// open records the row of n's escrow.
func (s *numbers) open(n int64, escrow Account) { s.escrows[n] = escrow }

// close removes the escrow of n.
func (s *numbers) close(n int64) { delete(s.escrows, n) }

// clear removes all admitted numbers. There must be no open contract.
func (s *numbers) clear() { clear(s.admitted) }
