// Package bank keeps the money: accounts, the escrow of each contract, and the
// journal of entries that moved it.
//
// A [Ledger] is what its journal adds up to. Money enters only through
// [Ledger.Mint] and thereafter only moves, so the sum of all balances, escrow
// included, always equals what was issued. No account but the mint, whose
// balance is minus what it issued, is ever below zero.
//
// The bank knows neither rates, contracts (it has their numbers alone) nor
// hosts, has no clock, and takes no lock: one loop owns a ledger. Prices, shares
// and work are float64 and belong to other rooms; a float64 becomes money through
// [Dollars] or [Nearest] and nowhere else.
//
// # Design
//
// An [Amount] is an int64 of micro-dollars: a decimal type of arbitrary size
// costs twenty times as much to add and can be made to take gigabytes. It stands
// at the doors, where text and floats become money.
//
// Accounts are interned to small numbers, and an escrow is a recycled one, so
// that a posting is two additions in a slice. An [Entry], which is what a journal
// keeps, has names: it can be read, proved and audited without the ledger.
package bank
