package contracts

import (
	"math"
	"strconv"

	"bourse/bank"
)

// With appends x under that name, or nothing if it is 0: then it was not looked at.
func (n Numbers) With(name string, x float64) Numbers {
	if x == 0 {
		return n
	}
	return append(n, Measured(name, x))
}

// Contract returns the first contract among n, which is what the reason is about.
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
	money                // micro-dollars
)

// Measured is x under that name.
func Measured(name string, x float64) Number { return Number{name, measure, math.Float64bits(x)} }

// Counted is n under that name.
func Counted(name string, n int) Number { return Number{name, count, uint64(n)} }

// Concerned is the contract that a reason is about, under that name. Tables name it
// beside the reason.
func Concerned(name string, id ID) Number { return Number{name, contract, uint64(id)} }

// Paid is an amount of money under that name.
func Paid(name string, a bank.Amount) Number { return Number{name, money, uint64(a.Micros())} }

// append appends n as a field of a JSON object, but for what is no number or without end,
// which JSON cannot say.
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

// Value returns the name of n and its value, money in dollars.
func (n *Number) Value() (name string, x float64) {
	switch n.kind {
	case measure:
		return n.name, math.Float64frombits(n.bits)
	case money:
		return n.name, bank.Micros(int64(n.bits)).Float64()
	}
	return n.name, float64(n.bits)
}
