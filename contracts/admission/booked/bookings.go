// Package booked contains the policies that sell the processors of one host for intervals of
// time. Policy windows sells at list prices by delivery window, and policy bundle sells whole
// bundles by auction. Both policies promise an interval and a price, record the promises as
// [bookings], and start and end the contracts. A unit is a processor. The package is
// independent of how prices are charged.
package booked

import (
	"cmp"
	"math"
	"slices"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/hosts/eventheap"
	"bourse/market/clearing"
)

// tooFewNodes means that the host has fewer processors than the request has nodes.
const tooFewNodes contracts.Reason = "too few nodes"

// Policies returns the policies of this package, by name.
func Policies() map[string]admission.Policy {
	about := admission.Properties{
		Sharing: "planned", Books: true, Single: true,
		Tests: []admission.Test{{Reason: contracts.TooDear, Got: "ask", Want: "budget", AtMost: true, Word: "the price asked"}},
	}
	bundles := about
	bundles.Tests = nil
	return map[string]admission.Policy{
		"bundle":  {Doc: "auctions of bundles, n nodes for an interval, at regular times: VCG or greedy", New: newBundle, Properties: bundles},
		"windows": {Doc: "forward reservations at list prices by delivery window", New: newWindows, Properties: about},
	}
}

// bookings contains the sold intervals that have not ended.
type bookings struct {
	units int // processors of the host
	speed float64

	of      map[int32]*booking // booking of each contract
	steps   []step             // starts and ends, in order of time
	due     eventheap.Heap     // time of the next start or end of each contract
	actions []contracts.Action
}

// A booking is a contract with the interval that it has bought.
type booking struct {
	contract    int32
	units       int
	from, to    float64
	begun, done bool
}

// A step is a change in the number of units that are sold.
type step struct {
	at    float64
	units int // change in the number of sold units; negative at the end of a booking
}

// see reads the specification of the host in the first call.
func (b *bookings) see(v contracts.View) {
	if b.of == nil {
		b.of = map[int32]*booking{}
		b.units, b.speed = int(v.Spec(0).CPUs), v.Spec(0).Speed
	}
}

// span returns the estimated runtime of r in seconds.
func (b *bookings) span(r *contracts.Request) float64 { return r.Work / b.speed }

// wide returns the reason why r could not obtain its nodes even on an empty host, or None.
func (b *bookings) wide(r *contracts.Request) contracts.Reason {
	switch {
	case r.Gangs() > 1: // each part needs a separate host
		return contracts.TooFewHosts
	case r.Nodes > b.units:
		return tooFewNodes
	}
	return contracts.None
}

// add adds x and its steps.
func (b *bookings) add(x *booking) {
	b.of[x.contract] = x
	b.due.Set(x.contract, x.from)
	b.steps = slices.Insert(b.steps, b.step(x.from), step{x.from, x.units})
	b.steps = slices.Insert(b.steps, b.step(x.to), step{x.to, -x.units})
}

// remove removes x and its steps.
func (b *bookings) remove(x *booking) {
	delete(b.of, x.contract)
	b.due.Remove(x.contract)
	for _, s := range [...]step{{x.from, x.units}, {x.to, -x.units}} {
		at := b.step(s.at)
		for b.steps[at] != s {
			at++
		}
		b.steps = slices.Delete(b.steps, at, at+1)
	}
}

// step returns the index of the first step at the given time or later.
func (b *bookings) step(at float64) int {
	i, _ := slices.BinarySearchFunc(b.steps, at, func(s step, at float64) int { return cmp.Compare(s.at, at) })
	return i
}

// room appends to out the times at which n more units are free, in order.
func (b *bookings) room(out []gap, n int) []gap {
	used, from := 0, math.Inf(-1) // NaN while too few units are free
	for i := range b.steps {
		s := &b.steps[i]
		if used += s.units; i+1 < len(b.steps) && b.steps[i+1].at == s.at {
			continue
		}
		switch free := used+n <= b.units; {
		case free && math.IsNaN(from):
			from = s.at
		case !free && !math.IsNaN(from):
			out, from = append(out, gap{from, s.at}), math.NaN()
		}
	}
	return append(out, gap{from, math.Inf(1)})
}

// held appends to out the units sold after now.
func (b *bookings) held(out []clearing.Span, now float64) []clearing.Span {
	used := 0
	for i := range max(1, len(b.steps)) - 1 {
		used += b.steps[i].units
		if from, to := b.steps[i].at, b.steps[i+1].at; used > 0 && to > max(from, now) {
			out = append(out, clearing.Span{Units: used, From: from, To: to})
		}
	}
	return out
}

// next returns the time of the next start or end, or +Inf if there is none.
func (b *bookings) next() float64 { return b.due.First() }

// finished records that the work of contract i is done now. The contract ends now. If now
// differs from the end of its interval only by rounding, the contract ends at the end of the
// interval.
func (b *bookings) finished(now float64, i int32) {
	x := b.of[i]
	if x.done = true; now < x.to-contracts.Tolerance*(x.to-x.from)-2*contracts.Moment(x.to) {
		b.due.Set(i, now)
	}
}

// carry appends the actions that are due by now: first the ends, then the starts, each in
// order of contract. It calls ended, unless it is nil, with each booking that ends.
func (b *bookings) carry(now float64, ended func(*booking)) {
	starts := len(b.actions)
	for {
		i, at, ok := b.due.Min()
		if !ok || at > now {
			return
		}
		x := b.of[i]
		if !x.begun {
			x.begun = true
			b.due.Set(i, max(x.to, now+contracts.Moment(now)))
			b.actions = append(b.actions, contracts.Action{Verb: contracts.Launch, Contract: i})
			continue
		}
		verb := contracts.Stop
		if x.done {
			verb = contracts.Finish
		}
		b.actions = slices.Insert(b.actions, starts, contracts.Action{Verb: verb, Contract: i})
		starts++
		b.remove(x)
		if ended != nil {
			ended(x)
		}
	}
}

// withdraw releases contract i, which its owner cancels, unless its work is done. The owner
// owes the fraction fee of the price or, if it is more, the fraction of the interval that has
// passed.
func (b *bookings) withdraw(now float64, i int32, fee float64) *booking {
	x := b.of[i]
	if x == nil || x.done {
		return nil
	}
	due, of := fee, 1.0
	if passed, span := now-x.from, x.to-x.from; x.begun && passed > due*span {
		due, of = passed, span
	}
	b.remove(x)
	b.actions = append(b.actions, contracts.Action{Verb: contracts.Release, Contract: i, Due: due, Of: of})
	return x
}

// rounding is the maximum relative rounding error of a price.
const rounding = 1e-13

// micros returns x micro-dollars, rounded toward zero, in dollars.
func micros(x float64) float64 {
	return math.Floor(x*(1+rounding)+1e-9) / 1e6
}
