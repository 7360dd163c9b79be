package bank

import "math/bits"

// escrows maps the contracts that are open to the rows of their escrows: a hash
// table with linear probing, half full at most.
type escrows struct {
	slots []held // a power of two of them
	n     int
}

// A held slot has the row of a contract; 0, which is the mint's, in an empty one.
type held struct {
	contract int64
	row      Account
}

// home returns where the search for contract begins.
func (e *escrows) home(contract int64) int {
	const golden = 0x9e3779b97f4a7c15 // spreads numbers that follow on one another, and multiples
	return int(uint64(contract) * golden >> (64 - bits.Len(uint(len(e.slots)-1))))
}

// seek returns the slot of contract, or the empty one where it would be.
func (e *escrows) seek(contract int64) int {
	i := e.home(contract)
	for e.slots[i].row != 0 && e.slots[i].contract != contract {
		i = (i + 1) & (len(e.slots) - 1)
	}
	return i
}

// row returns the row of contract, and false if it has none.
func (e *escrows) row(contract int64) (Account, bool) {
	if e.n == 0 {
		return 0, false
	}
	a := e.slots[e.seek(contract)].row
	return a, a != 0
}

// add enters the row of contract, which has none.
func (e *escrows) add(contract int64, row Account) {
	if 2*e.n >= len(e.slots) {
		e.grow()
	}
	e.slots[e.seek(contract)] = held{contract, row}
	e.n++
}

func (e *escrows) grow() {
	old := e.slots
	e.slots = make([]held, max(16, 2*len(old)))
	for _, h := range old {
		if h.row != 0 {
			e.slots[e.seek(h.contract)] = h
		}
	}
}

// remove takes out contract, which has a row. Those that had to pass it by move up.
func (e *escrows) remove(contract int64) {
	last := len(e.slots) - 1
	gap := e.seek(contract)
	for i := (gap + 1) & last; e.slots[i].row != 0; i = (i + 1) & last {
		if home := e.home(e.slots[i].contract); (i-home)&last >= (i-gap)&last {
			e.slots[gap], gap = e.slots[i], i
		}
	}
	e.slots[gap] = held{}
	e.n--
}
