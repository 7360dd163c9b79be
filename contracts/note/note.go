// Package note is what the ledger says of a contract: the terms of its admission, or
// why it was rejected, and the verdict of its settlement, each one JSON object.
//
// What is written with Append is read with [ParseAgreement] and [ParseVerdict], or field
// by field with [Fields].
//
// It does not know who reads a note. Fields and their order are a public format:
//
//	a rejection
//	decision      reject
//	reason        why, in words
//	              then the numbers that decided, under the names that the policy gives
//	              them: contracts/admission says which, at the Decide of each. Of the
//	              broker's own reason unfunded they are balance and budget, $
//
//	terms
//	decision      accept
//	              then the numbers that decided, ask among them, $, if that is the
//	              price and not the budget
//	submit        instant of the request, s
//	deadline      s after it
//	runs_on       true: the work goes on after the deadline
//	on_demand     true: no instant is promised
//	per_host      true: the work of every node is promised by itself
//	max_cpu       the most that one node uses, processors
//	floor         what a processor costs at least, $/s; left out if nothing
//	penalty_rate  what the provider owes for delay, $/s
//	penalty_max   the most that it owes, $; left out if there is no bound
//	penalty_part  what is owed if a host or the market delivers none of the work, in parts of
//	              the budget, and in proportion if some is done; left out if nothing
//	penalty_most  the most that is owed then, likewise
//	on            hosts, each after its bid or after others of the same bid; a
//	              number is the bid of the hosts after it, in nano-dollars per
//	              second. Left out where the note would exceed [bank.MaxNote].
//
//	a booked contract has, in place of on:
//	opens         instant before which it does not start
//	nodes         how many
//	host          the name of their host or, if they are on several,
//	parts         how many are on each host, and its name, in turn. Left out where the
//	              note would exceed [bank.MaxNote]
//
//	verdict
//	state         fulfilled, violated or cancelled
//	work          asked for, over all nodes
//	needed        truly needed, over all nodes, if that is something else
//	work_done     by the deadline, over all nodes
//	killed        true: its policy stopped it
//	fault         command: that could not be started on a host, whose nodes cost nothing
//	losses        how often a host left with a task of it, and
//	wasted        the work that was lost so
//	penalty_owed  $, beyond a price that it was taken from; after the cause, that for which
//	              terms have a penalty_part
//	              then, where terms have one and it is violated,
//	cause         why: program, asked, price, market or host
//	payer         the account that owes the penalty: the owner of the host that missed most,
//	              or the market. What a host's owner does not pay, the market pays
//	withheld      $ of the charges of that host's owner that were not paid to it, but left to
//	              the contract's owner
package note

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"bourse/bank"
	"bourse/contracts"
	"bourse/hosts"
)

// Terms are what was agreed with a request, so that an audit can compute from the
// ledger what is to be charged.
type Terms struct {
	*contracts.Decision
	*contracts.Request
	Booked bool                  // as gangs, one on the host of each placement
	Name   func(hosts.ID) string // of a host
	Spare  int                   // bytes of the note that others need
	Floor  float64               // price of a processor, $/s

	// What is owed if a host or the market delivers too little, and at most, in parts of the
	// budget.
	Part, Most float64
}

// Append appends t to b.
func (t Terms) Append(b []byte) []byte {
	b = t.Decision.AppendJSON(b)
	b = b[:len(b)-1]
	b = number(b, "submit", t.Submit)
	b = number(b, "deadline", t.SLA.Deadline)
	b = flag(b, "runs_on", t.SLA.GoesOn() || t.Booked)
	b = flag(b, "on_demand", t.OnDemand)
	b = flag(b, "per_host", t.PerHost)
	if t.Needs.Max.CPU > 0 {
		b = number(b, "max_cpu", t.Needs.Max.CPU)
	}
	if t.Floor > 0 {
		b = number(b, "floor", t.Floor)
	}
	if p := t.SLA.Penalty; p.Rate > 0 {
		b = number(b, "penalty_rate", p.Rate)
		if !math.IsInf(p.Max, 1) {
			b = number(b, "penalty_max", p.Max)
		}
	}
	if t.Part > 0 {
		b = number(b, "penalty_part", t.Part)
		b = number(b, "penalty_most", t.Most)
	}
	if t.Booked {
		b = number(b, "opens", t.Opens())
		b = append(b, `,"nodes":`...)
		b = strconv.AppendInt(b, int64(t.Nodes), 10)
		if len(t.Placements) > 1 {
			without := len(b)
			if b = t.appendParts(append(b, `,"parts":[`...)); t.full(b) {
				b = b[:without]
			}
			return append(b, '}')
		}
		b = append(b, `,"host":`...)
		return append(text(b, t.Name(t.Placements[0].Host)), '}')
	}
	without := len(b)
	b = t.appendPlaces(append(b, `,"on":[`...))
	if t.full(b) {
		b = b[:without]
	}
	return append(b, '}')
}

// full reports whether b, which is not yet closed, is too long for a note.
func (t *Terms) full(b []byte) bool { return len(b) >= bank.MaxNote-t.Spare }

// appendPlaces appends the placements and a closing bracket, or so many that b is full.
func (t *Terms) appendPlaces(b []byte) []byte {
	for n, pl := range t.Placements {
		if t.full(b) {
			return b
		}
		if n > 0 {
			b = append(b, ',')
		}
		if n == 0 || pl.Bid != t.Placements[n-1].Bid {
			b = append(strconv.AppendInt(b, int64(pl.Bid), 10), ',')
		}
		b = text(b, t.Name(pl.Host))
	}
	return append(b, ']')
}

// appendParts appends the gangs and a closing bracket.
func (t *Terms) appendParts(b []byte) []byte {
	for n, pl := range t.Placements {
		if n > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendInt(b, int64(pl.Nodes), 10), ',')
		b = text(b, t.Name(pl.Host))
	}
	return append(b, ']')
}

// A Verdict is how a contract ended.
type Verdict struct {
	State   string
	Work    float64 // asked for, over all nodes
	Needed  float64 // truly, over all nodes
	ByDue   float64 // done by the deadline, over all nodes
	Killed  bool
	Fault   string // what its owner asked for that cannot be done, in a word
	Losses  int
	Wasted  float64
	Penalty bank.Amount // owed
}

// Append appends v to b.
func (v *Verdict) Append(b []byte) []byte {
	b = append(append(append(b, `{"state":"`...), v.State...), '"')
	b = number(b, "work", v.Work)
	if v.Needed != v.Work {
		b = number(b, "needed", v.Needed)
	}
	b = number(b, "work_done", v.ByDue)
	b = flag(b, "killed", v.Killed)
	if v.Fault != "" {
		b = text(append(b, `,"fault":`...), v.Fault)
	}
	if v.Losses > 0 {
		b = append(b, `,"losses":`...)
		b = strconv.AppendInt(b, int64(v.Losses), 10)
		b = number(b, "wasted", v.Wasted)
	}
	if v.Penalty.Sign() > 0 {
		b = append(append(append(b, `,"penalty_owed":"`...), v.Penalty.String()...), '"')
	}
	return append(b, '}')
}

func number(b []byte, name string, x float64) []byte {
	b = append(append(append(b, ',', '"'), name...), '"', ':')
	return strconv.AppendFloat(b, x, 'g', -1, 64)
}

func flag(b []byte, name string, set bool) []byte {
	if !set {
		return b
	}
	return append(append(append(b, ',', '"'), name...), `":true`...)
}

// plain says which bytes stand for themselves in a JSON string.
var plain = func() (is [256]bool) {
	for c := byte(' '); c < 0x7f; c++ {
		is[c] = !strings.ContainsRune(`"\<>&`, rune(c))
	}
	return is
}()

// text appends s as a JSON string.
func text(b []byte, s string) []byte {
	n := 0
	for n < len(s) && plain[s[n]] {
		n++
	}
	if n == len(s) { // a name of a host, say
		return append(append(append(b, '"'), s...), '"')
	}
	quoted, err := json.Marshal(s)
	if err != nil {
		panic("note: " + err.Error()) // a string has a JSON form
	}
	return append(b, quoted...)
}
