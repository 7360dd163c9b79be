package contracts

import "fmt"

// A Phase is where a contract is in its life.
type Phase uint8

// Phases, in the order of a life.
const (
	Asked   Phase = iota // requested and not yet decided; nothing is held
	Waiting              // accepted, its budget is held, it has no hosts yet or none any more
	Running              // on its hosts
	Paused               // off its hosts for a while; what has been done is kept
	Ended                // over, and settled
)

var phases = [...]string{"asked", "waiting", "running", "paused", "ended"}

// String returns the phase in a word.
func (p Phase) String() string { return phases[p] }

// An Outcome is how a contract ended.
type Outcome uint8

// Outcomes.
const (
	Open       Outcome = iota // it has not ended
	Refused                   // it was never accepted
	Fulfilled                 // all work was done by the deadline
	Late                      // the deadline passed with work undone
	Broken                    // a host left with the work
	Killed                    // its policy stopped it: its estimate is used up
	Cancelled                 // its owner took it back
	Unfinished                // the market closed before it ended
	Unstarted                 // its command cannot be started: a fault of its owner's
)

var outcomes = [...]string{"open", "refused", "fulfilled", "late", "broken", "killed", "cancelled", "unfinished", "fault: command"}

// String returns the outcome in a word.
func (o Outcome) String() string { return outcomes[o] }

// Violated reports whether o is a promise that was not kept.
func (o Outcome) Violated() bool { return o.Missed() || o == Unstarted }

// Missed reports whether o is a promise that the market has not kept.
func (o Outcome) Missed() bool { return o == Late || o == Broken || o == Killed }

// State is the word for o in ledgers and tables, which know three.
func (o Outcome) State() string {
	switch {
	case o == Fulfilled:
		return "fulfilled"
	case o.Violated():
		return "violated"
	}
	return "cancelled"
}

// A Cause is what moves a contract from phase to phase.
type Cause uint8

// Causes.
const (
	OnAccept  Cause = iota // its policy lets it in; its budget is held
	OnRefuse               // its policy turns it away, or its owner cannot pay
	OnStart                // it is given its hosts
	OnFinish               // its work is done
	OnOverrun              // a deadline passes that it may overrun: the work goes on
	OnExpire               // a deadline passes that it may not overrun
	OnPause                // it is taken off its hosts for a while
	OnRecall               // a host has left: it is to be placed again, from scratch
	OnLose                 // a host has left with its work, for good
	OnKill                 // its policy stops it
	OnFault                // its command cannot be started
	OnCancel               // its owner takes it back
	OnClose                // the market closes
	causes    = iota
)

var causeNames = [...]string{"accept", "refuse", "start", "finish", "overrun", "expire", "pause", "recall", "lose",
	"kill", "fault", "cancel", "close"}

// String returns the cause in a word.
func (c Cause) String() string { return causeNames[c] }

// A Line of the table says that in phase From, On leads to phase To. A line to Ended
// names its outcome, or [Open] where settlement judges it.
type Line struct {
	From    Phase
	On      Cause
	To      Phase
	Outcome Outcome
}

// Moves is the table. There is no move that is not in it.
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
	{Running, OnCancel, Ended, Cancelled},
	{Running, OnClose, Ended, Unfinished},

	{Paused, OnStart, Running, Open},
	{Paused, OnOverrun, Paused, Open},
	{Paused, OnFinish, Ended, Open},
	{Paused, OnKill, Ended, Killed},
	{Paused, OnCancel, Ended, Cancelled},
	{Paused, OnClose, Ended, Unfinished},
}

// byPhase is Moves by phase and cause, nil where there is none.
var byPhase = func() (lines [Ended + 1][causes]*Line) {
	for i := range Moves {
		lines[Moves[i].From][Moves[i].On] = &Moves[i]
	}
	return lines
}()

// Next moves p as the table says, and returns the outcome if that is the end. A cause
// that the table does not know in this phase is a fault of the caller: it panics.
func (p *Phase) Next(on Cause) Outcome {
	m := byPhase[*p][on]
	if m == nil {
		panic(fmt.Sprintf("contracts: no move on %v for a contract that is %v", on, *p))
	}
	*p = m.To
	return m.Outcome
}
