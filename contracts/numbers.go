package contracts

import (
	"math"
	"strconv"

	"bourse/bank"
)

// With appends x under the given name. If x is 0, With appends nothing, because 0 means that
// the policy did not use this number.
func (n Numbers) With(name string, x float64) Numbers {
	if x == 0 {
		return n
	}
	return append(n, Measured(name, x))
}

// Contract returns the first contract ID in n, which identifies the contract that the reason
// concerns. It reports whether n contains a contract ID.
func (n Numbers) Contract() (id ID, ok bool) {
	for i := range n {
		if n[i].kind == contract {
			return ID(n[i].bits), true
		}
	}
	return 0, false
}

const (
	measure  kind = iota // a float64
	count                // an int
	contract             // an ID
	money                // an amount in micro-dollars
)

// Measured returns a number with the given name and the value x.
func Measured(name string, x float64) Number { return Number{name, measure, math.Float64bits(x)} }

// Counted returns a number with the given name and the integer value n.
func Counted(name string, n int) Number { return Number{name, count, uint64(n)} }

// Concerned returns a number with the given name that identifies the contract that a reason
// concerns. Tables show this contract next to the reason.
func Concerned(name string, id ID) Number { return Number{name, contract, uint64(id)} }

// Paid returns a number with the given name whose value is the amount a.
func Paid(name string, a bank.Amount) Number { return Number{name, money, uint64(a.Micros())} }

// append appends n to b as a field of a JSON object. It omits NaN and infinite values, which
// JSON cannot represent.
func (n *Number) append(b []byte) []byte {
	if x := math.Float64frombits(n.bits); n.kind == measure && (math.IsNaN(x) || math.IsInf(x, 0)) {
		return b
	}
	b = append(b, ',', '"')
	b = append(b, n.name...)
	b = append(b, '"', ':')
	switch n.kind {
	case measure:
		return strconv.AppendFloat(b, math.Float64frombits(n.bits), 'g', -1, 64)
	case money:
		b = append(b, '"')
		b = append(b, bank.Micros(int64(n.bits)).String()...)
		return append(b, '"')
	}
	return strconv.AppendInt(b, int64(n.bits), 10)
}

// Value returns the name of n and its value. Money is in dollars.
func (n *Number) Value() (name string, x float64) {
	switch n.kind {
	case measure:
		return n.name, math.Float64frombits(n.bits)
	case money:
		return n.name, bank.Micros(int64(n.bits)).Float64()
	}
	return n.name, float64(n.bits)
}
