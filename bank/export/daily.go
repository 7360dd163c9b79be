package export

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"bourse/bank"

	"golang.org/x/mod/sumdb/tlog"
)

// Daily sums entries up, for ledgers that are too long for a program to read: an
// entry for each day and kind, in which the moves between two accounts are one,
// and all escrows are the account "escrow". Each has the number and the hash of
// the last that it sums up; balances come out the same, those of escrows together.
func Daily(entries Entries) Entries {
	return func(yield func(*bank.Entry, tlog.Hash) bool) {
		var d day
		for e, hash := range entries {
			if at := math.Floor(e.Time / 86400); at != d.at {
				if !d.yield(yield) {
					return
				}
				d = day{}
			}
			d.add(e, hash)
		}
		d.yield(yield)
	}
}

// A day is the sums of its entries, by kind.
type day struct {
	at    float64 // days since the origin
	kinds [8]*sum
}

type sum struct {
	count, last int64
	time        float64
	hash        tlog.Hash
	moves       map[[2]string]int64
}

func (d *day) add(e *bank.Entry, hash tlog.Hash) {
	d.at = math.Floor(e.Time / 86400)
	s := d.kinds[e.Kind]
	if s == nil {
		s = &sum{moves: make(map[[2]string]int64)}
		d.kinds[e.Kind] = s
	}
	s.count++
	s.last, s.time, s.hash = e.Seq, e.Time, hash
	for _, m := range e.Moves {
		s.moves[[2]string{together(m.From), together(m.To)}] += m.Amount.Micros()
	}
}

// together is the account that name is summed up in.
func together(name string) string {
	if bank.IsEscrow(name) {
		return "escrow"
	}
	return name
}

func (d *day) yield(yield func(*bank.Entry, tlog.Hash) bool) bool {
	for kind, s := range d.kinds {
		if s == nil {
			continue
		}
		e := &bank.Entry{Seq: s.last, Time: s.time, Kind: bank.Kind(kind), Contract: bank.NoContract, Note: fmt.Appendf(nil, "%d entries", s.count)}
		for ends, micros := range s.moves {
			e.Moves = append(e.Moves, bank.Move{From: ends[0], To: ends[1], Amount: bank.Micros(micros)})
		}
		slices.SortFunc(e.Moves, func(a, b bank.Move) int {
			return strings.Compare(a.From+" "+a.To, b.From+" "+b.To)
		})
		if !yield(e, s.hash) {
			return false
		}
	}
	return true
}
