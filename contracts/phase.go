package contracts

import "fmt"

// A Phase is a stage in the life of a contract. [Moves] lists the transitions between phases.
type Phase uint8

// The phases are declared in their usual order.
const (
	Asked   Phase = iota // the contract is requested, but not decided yet; no budget is held
	Waiting              // accepted, with its budget in escrow, but on no host: it has not started, or a host of it has left
	Running              // running on its hosts
	Paused               // temporarily on no host; the work done so far counts
	Ended                // ended and settled
)

var phases = [...]string{"asked", "waiting", "running", "paused", "ended"}

// String returns the phase as one lower-case word.
func (p Phase) String() string { return phases[p] }

// An Outcome describes the end of a contract. It determines the bill, and whether a penalty is
// due.
type Outcome uint8

// Outcomes.
const (
	Open       Outcome = iota // the contract has not ended
	Refused                   // the request was never accepted
	Fulfilled                 // all work was done by the deadline
	Late                      // the deadline passed before the work was done
	Broken                    // a host left with work of the contract, or the contract could not be placed again in time
	Killed                    // the policy stopped the contract because its estimate was used up
	Cancelled                 // the owner cancelled the contract
	Unfinished                // the market closed before the contract ended
	Unstarted                 // the command of the contract could not be started, which is the owner's fault
)

var outcomes = [...]string{"open", "refused", "fulfilled", "late", "broken", "killed", "cancelled", "unfinished", "fault: command"}

// String returns the outcome as ledgers and tables show it.
func (o Outcome) String() string { return outcomes[o] }

// Violated reports whether o means that the promise was not kept, for any cause.
func (o Outcome) Violated() bool { return o.Missed() || o == Unstarted }

// Missed reports whether o means that the market did not keep its promise. Only these outcomes
// have a delay and can cause a penalty.
func (o Outcome) Missed() bool { return o == Late || o == Broken || o == Killed }

// State returns the state of o in ledgers and tables, which distinguish only "fulfilled",
// "violated" and "cancelled".
func (o Outcome) State() string {
	switch {
	case o == Fulfilled:
		return "fulfilled"
	case o.Violated():
		return "violated"
	}
	return "cancelled"
}

// A Cause is an event that moves a contract from one phase to another.
type Cause uint8

// Causes.
const (
	OnAccept  Cause = iota // the policy admits the contract and its budget is held
	OnRefuse               // the policy rejects the contract, or its owner cannot pay
	OnStart                // the contract starts on its hosts
	OnFinish               // the work of the contract is done
	OnOverrun              // the deadline passes, but the work continues
	OnExpire               // the deadline passes and ends the contract
	OnPause                // the contract leaves its hosts temporarily
	OnRecall               // a host has left, and the contract must be placed again from the beginning
	OnLose                 // a host has left, and the work on it is lost
	OnKill                 // the policy stops the contract
	OnFault                // the command of the contract could not be started
	OnSpend                // the charges of the contract reach its budget
	OnCancel               // the owner cancels the contract
	OnClose                // the market closes
	causes    = iota
)

var causeNames = [...]string{"accept", "refuse", "start", "finish", "overrun", "expire", "pause", "recall", "lose",
	"kill", "fault", "spend", "cancel", "close"}

// String returns the cause as one lower-case word.
func (c Cause) String() string { return causeNames[c] }

// A Line of the table states that the cause On moves a contract from phase From to phase To. A
// line with To = Ended has an outcome. The outcome [Open] means that settlement determines it
// from the work done.
type Line struct {
	From    Phase
	On      Cause
	To      Phase
	Outcome Outcome
}

// Moves is the table of all transitions. Contracts make no other transitions, so tests also use
// the table as the specification of the broker.
var Moves = [...]Line{
	{Asked, OnAccept, Waiting, Open},
	{Asked, OnRefuse, Ended, Refused},
	{Asked, OnCancel, Ended, Cancelled},

	{Waiting, OnStart, Running, Open},
	{Waiting, OnOverrun, Waiting, Open},
	{Waiting, OnExpire, Ended, Broken},
	{Waiting, OnCancel, Ended, Cancelled},
	{Waiting, OnClose, Ended, Unfinished},

	{Running, OnFinish, Ended, Open},
	{Running, OnOverrun, Running, Open},
	{Running, OnExpire, Ended, Open},
	{Running, OnPause, Paused, Open},
	{Running, OnRecall, Waiting, Open},
	{Running, OnLose, Ended, Broken},
	{Running, OnKill, Ended, Killed},
	{Running, OnFault, Ended, Unstarted},
	{Running, OnSpend, Ended, Cancelled},
	{Running, OnCancel, Ended, Cancelled},
	{Running, OnClose, Ended, Unfinished},

	{Paused, OnStart, Running, Open},
	{Paused, OnOverrun, Paused, Open},
	{Paused, OnExpire, Ended, Open},
	{Paused, OnFinish, Ended, Open},
	{Paused, OnKill, Ended, Killed},
	{Paused, OnCancel, Ended, Cancelled},
	{Paused, OnClose, Ended, Unfinished},
}

// byPhase indexes Moves by phase and cause. An entry is nil if the move does not exist.
var byPhase = func() (lines [Ended + 1][causes]*Line) {
	for i := range Moves {
		lines[Moves[i].From][Moves[i].On] = &Moves[i]
	}
	return lines
}()

// Next moves p to the phase that the table specifies for the cause. If this ends the contract,
// Next returns the outcome. It panics if the table has no such move, because this is a
// programming error of the caller.
func (p *Phase) Next(on Cause) Outcome {
	m := byPhase[*p][on]
	if m == nil {
		panic(fmt.Sprintf("contracts: no transition on %v for a contract that is %v", on, *p))
	}
	*p = m.To
	return m.Outcome
}
