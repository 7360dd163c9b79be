package export

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"bourse/bank"

	"golang.org/x/mod/sumdb/tlog"
)

// Daily summarizes entries, for ledgers that are too long for other programs. It returns one
// entry per day and kind, with the sum of all moves between any two accounts. All escrows are
// combined into the account "escrow". Each entry has the number and hash of the last entry
// that it includes. Balances remain the same, with all escrows combined.
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

// A day contains the sums of one day's entries, by kind.
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

// together returns the account under which name is summarized.
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
