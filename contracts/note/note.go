// Package note formats and parses the notes of ledger entries about contracts: the terms of an
// admission, the reason for a rejection, and the verdict of a settlement. Each note is one
// JSON object.
//
// Notes make the ledger self-contained: an audit can recompute the charges of a contract
// without other data. [ParseAgreement] and [ParseVerdict] parse the output of the Append
// methods, and [Fields] reads any note field by field.
//
// The fields and their order are a public format:
//
//	a rejection
//	decision      reject
//	reason        the reason, in words
//	              Then the numbers on which it is based, under the names that the policy gives
//	              them (see the Decide method of each policy in contracts/admission). For
//	              the broker's own reason, unfunded, they are balance and budget, in $.
//
//	terms
//	decision      accept
//	              Then the numbers on which it is based. They include ask, in $, if the price is
//	              not the budget.
//	submit        time of the request, s
//	deadline      time allowed after submit, s
//	runs_on       true: the work continues after the deadline
//	on_demand     true: no completion time is promised
//	per_host      true: the work of each node is promised separately
//	max_cpu       maximum number of processors that one node uses
//	floor         minimum price of a processor, $/s; omitted if 0
//	floors        minimum prices of held resources, $/s and unit, by name; omitted if 0
//	holds         where held resources have prices: the amounts that each node holds, by name, or
//	              one list of the amounts per node, in the order of on, if they differ. Hosts
//	              reserve bandwidth, but do not enforce it
//	met           in the same forms, for each priced resource that is held: the sum of the other
//	              bids for it at admission, in nano-dollars per second
//	licences      units that the contract holds of the market's licences, by name
//	licence_floor minimum price of these units, $/s; omitted if 0
//	promised      under payment percentile, for each host of on: the price percentile that
//	              cac promised, in nano-dollars per second
//	penalty_rate  penalty that the provider owes for delay, $/s
//	penalty_max   maximum penalty for delay, $; omitted if unlimited
//	penalty_part  penalty if a host or the market delivers none of the work, as a
//	              fraction of the budget; proportionally less if some work is done.
//	              Omitted if 0.
//	penalty_most  maximum penalty in that case, as a fraction of the budget
//	on            the hosts. A number is the bid, in nano-dollars per second, on each of
//	              the hosts after it. Omitted if the note would exceed [bank.MaxNote].
//
//	terms of a booked contract, which replace on
//	opens         time before which it does not start
//	nodes         number of nodes
//	host          name of the host or, if there are several hosts,
//	parts         the number of nodes on a host and the name of the host, alternating.
//	              Omitted if the note would exceed [bank.MaxNote].
//
//	verdict
//	state         fulfilled, violated or cancelled
//	work          requested work, over all nodes
//	needed        true work, over all nodes; omitted if equal to work
//	work_done     work done by the deadline, over all nodes
//	killed        true: its policy stopped it
//	exhausted     true: it ended because its charges reached its budget
//	fault         command: the program could not be started on a host, whose nodes are free
//	losses        how often a host left while running one of its tasks
//	wasted        the work lost that way
//	unused        part of work_done that programs on real hosts did not need, because they
//	              ended early; only if the terms have a floor
//	penalty_owed  $, in addition to any penalty already deducted from the price. If it
//	              follows cause, it is the penalty for which terms have a penalty_part.
//	              Then, if the terms have a penalty_part and the contract is violated:
//	cause         program, asked, price, market or host
//	payer         the account that owes the penalty: the owner of the host that missed the
//	              most work, or the market. The market pays what the host's owner cannot.
//	              If the payer is the account that pays for the contract, the market pays
//	              nothing: its owner also owns the host at fault or, if the market is the
//	              cause, a host of the contract.
//	withheld      $ of the charges of that host's owner that were not paid to it but left
//	              to the contract's owner
//
//	a move, when a contract changes hosts after its admission
//	on            bids and hosts, as in the terms; omitted if the note would exceed
//	              [bank.MaxNote]
//	off           true: it left all hosts
//	lost          true: and lost its work
//
//	a changed budget
//	owed          the amount owed until then, $
//	on            the new bids and the hosts, as in the terms, of the nodes that are on hosts
//
//	a result of a clearing, whose fields are numbers: the market, from 0; the price of
//	a unit, in nano-dollars per second; the units sold and offered; and, if units were
//	sold, the bounds low and high of the price
package note

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/bank"
	"bourse/contracts"
	"bourse/hosts"
)

// Terms are the terms on which a request was accepted. They contain everything that an audit
// needs to compute the charges.
type Terms struct {
	*contracts.Decision
	*contracts.Request
	Booked bool                  // whether the contract is scheduled as gangs, one on the host of each placement
	Name   func(hosts.ID) string // function that returns the name of a host
	Spare  int                   // number of bytes of the note to leave for other fields
	Floor  float64               // minimum price of a processor, $/s
	Held   *Held                 // terms of held resources; nil if no held resource has a price

	Licensed *contracts.Licences // licences of the market; nil if the contract holds none

	Promised bool // whether charges depend on the prices promised at the placements

	// Part is the penalty if a host or the market delivers none of the work, and Most is its
	// maximum. Both are fractions of the budget.
	Part, Most float64
}

// Held contains the terms for resources other than processors. The values are 0 for a kind
// that a node does not hold.
type Held struct {
	Floors hosts.Floor
	Holds  []hosts.Resources    // resources that each node holds
	Met    [][hosts.Kinds]int64 // price of each priced kind without the node's bid, by node
	Name   func(hosts.Kind) string
}

// append appends the fields of h to b.
func (h *Held) append(b []byte) []byte {
	b = h.field(b, "floors", 1, func(k hosts.Kind, _ int) float64 { return h.Floors[k] })
	b = h.field(b, "holds", len(h.Holds), func(k hosts.Kind, n int) float64 { return h.Holds[n].Of(k) })
	return h.field(b, "met", len(h.Met), func(k hosts.Kind, n int) float64 { return float64(h.Met[n][k]) })
}

// field appends an object with the values of each kind, without the kinds that are 0 on every
// node. A value is a number if it is the same on all nodes.
func (h *Held) field(b []byte, name string, nodes int, of func(k hosts.Kind, n int) float64) []byte {
	start := len(b)
	b = append(append(append(b, ',', '"'), name...), `":{`...)
	empty := len(b)
	for k := hosts.Memory; k < hosts.Kinds; k++ {
		same, some := true, false
		for n := range nodes {
			same, some = same && of(k, n) == of(k, 0), some || of(k, n) != 0
		}
		if !some {
			continue
		}
		if len(b) > empty {
			b = append(b, ',')
		}
		b = append(text(b, h.Name(k)), ':')
		if same {
			b = strconv.AppendFloat(b, of(k, 0), 'g', -1, 64)
			continue
		}
		for n := range nodes {
			b = append(b, "[,"[min(n, 1)])
			b = strconv.AppendFloat(b, of(k, n), 'g', -1, 64)
		}
		b = append(b, ']')
	}
	if len(b) == empty {
		return b[:start]
	}
	return append(b, '}')
}

// Append appends t to b as a JSON object. It omits the list of hosts if the list would make the
// note too long.
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
	if t.Held != nil {
		without := len(b)
		if b = t.Held.append(b); t.full(b) {
			b = b[:without]
		}
	}
	if t.Licensed != nil {
		b = append(b, `,"licences":{`...)
		for k, n := range t.Licences {
			if n > 0 {
				if b[len(b)-1] != '{' {
					b = append(b, ',')
				}
				b = strconv.AppendInt(append(text(b, t.Licensed.Names[k]), ':'), int64(n), 10)
			}
		}
		if b = append(b, '}'); t.LicenceFloor > 0 {
			b = number(b, "licence_floor", t.Licensed.Floor(t.Licences))
		}
	}
	if t.Promised && slices.ContainsFunc(t.Placements, func(pl contracts.Placement) bool { return pl.Promised > 0 }) {
		without := len(b)
		if b = t.appendPromised(append(b, `,"promised":[`...)); t.full(b) {
			b = b[:without]
		}
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

// full reports whether b, with a closing bracket, would be too long for a note.
func (t *Terms) full(b []byte) bool { return len(b) >= bank.MaxNote-t.Spare }

// appendPlaces appends the placements and a closing bracket. It stops early when b is full.
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

// appendPromised appends the price promised at each placement, and a closing bracket.
func (t *Terms) appendPromised(b []byte) []byte {
	for n, pl := range t.Placements {
		if n > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(pl.Promised), 10)
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

// A Verdict describes the end of a contract. Work is in processor-seconds at speed 1.
type Verdict struct {
	State   string
	Work    float64 // work requested, over all nodes
	Needed  float64 // true work, over all nodes
	ByDue   float64 // work done by the deadline, over all nodes
	Killed  bool
	Spent   bool   // whether the charges have reached the budget
	Fault   string // one word that states why a request cannot be carried out, such as command
	Losses  int
	Wasted  float64
	Penalty bank.Amount // amount owed
	Unused  float64     // part of ByDue that programs did not need, because they ended early
}

// Append appends v to b as a JSON object.
func (v *Verdict) Append(b []byte) []byte {
	b = append(append(append(b, `{"state":"`...), v.State...), '"')
	b = number(b, "work", v.Work)
	if v.Needed != v.Work {
		b = number(b, "needed", v.Needed)
	}
	b = number(b, "work_done", v.ByDue)
	b = flag(b, "killed", v.Killed)
	b = flag(b, "exhausted", v.Spent)
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
	if v.Unused > 0 {
		b = number(b, "unused", v.Unused)
	}
	return append(b, '}')
}

// On appends to b the note of a move to the hosts of the given placements. The note contains
// bids and hosts in the same form as the terms. On omits bids and hosts if the note would be
// too long.
func On(b []byte, on []contracts.Placement, name func(hosts.ID) string) []byte {
	t := Terms{Decision: &contracts.Decision{Placements: on}, Name: name}
	without := len(b)
	if b = append(t.appendPlaces(append(b, `{"on":[`...)), '}'); len(b)-without > bank.MaxNote {
		b = append(b[:without], `{}`...)
	}
	return b
}

// Adjusted appends to b the note of a changed budget. The note contains the amount owed so far
// and the new bids of the nodes that are on hosts, in the form of the terms.
func Adjusted(b []byte, owed bank.Amount, on []contracts.Placement, name func(hosts.ID) string) []byte {
	t := Terms{Decision: &contracts.Decision{}, Name: name, Spare: bank.MaxNote / 2}
	for _, pl := range on {
		if !pl.Left {
			t.Placements = append(t.Placements, pl)
		}
	}
	b = append(append(append(b, `{"owed":"`...), owed.String()...), '"')
	without := len(b)
	if b = t.appendPlaces(append(b, `,"on":[`...)); t.full(b) {
		b = b[:without]
	}
	return append(b, '}')
}

// Off appends to b the note of a contract that leaves all hosts. The argument lost is true if
// the work done is lost.
func Off(b []byte, lost bool) []byte {
	return append(flag(append(b, `{"off":true`...), "lost", lost), '}')
}

// Result appends to b the note of an auction clearing, which consists of the numbers that
// describe the result.
func Result(b []byte, of contracts.Numbers) []byte {
	d := contracts.Decision{Numbers: of}
	start := len(b)
	b = d.AppendJSON(b)
	fields := b[start+len(`{"decision":"reject"`):]
	return append(b[:start], append([]byte{'{'}, fields[min(1, len(fields)-1):]...)...)
}

// number appends a field with a number.
func number(b []byte, name string, x float64) []byte {
	b = append(append(append(b, ',', '"'), name...), '"', ':')
	return strconv.AppendFloat(b, x, 'g', -1, 64)
}

// flag appends a field with the value true if set, and nothing otherwise.
func flag(b []byte, name string, set bool) []byte {
	if !set {
		return b
	}
	return append(append(append(b, ',', '"'), name...), `":true`...)
}

// For each byte, plain reports whether a JSON string can contain it unescaped.
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
	if n == len(s) { // usual case, for example the name of a host
		return append(append(append(b, '"'), s...), '"')
	}
	quoted, err := json.Marshal(s)
	if err != nil {
		panic("note: " + err.Error()) // cannot happen: every string can be encoded
	}
	return append(b, quoted...)
}
