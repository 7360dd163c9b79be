package contracts

import "bourse/hosts"

// A Policy is told what happens and answers with what is to be done: it is the one
// interface between the broker and whoever decides. A plug-in that only says yes, no
// or later of one request at a time is a [Decider], and becomes a Policy through the
// adapters of contracts/admission.
type Policy interface {
	// Handle returns what is to be done about e, in that order. The broker does it
	// and then says [Continue], until nothing more is to be done: so what is decided
	// of one contract is seen in the market before the next. The slice, and what
	// its actions point at, are good until the next call. Where an admission cannot
	// be carried out the broker makes its Decision a rejection.
	Handle(now float64, e Event, m Market) []Action

	// Next returns the instant at which the policy wants to be told [Tick], +Inf if
	// there is none. Last says that it is to be told after what is submitted at that
	// instant, otherwise before; a policy always says the same.
	Next() (at float64, last bool)
}

// An Event is what a policy is told.
type Event struct {
	Kind     EventKind
	Contract int32    // the number of the contract concerned
	Part     int32    // of Done: which part of it
	Host     hosts.ID // of Came and Gone
	Outcome  Outcome  // of Over: how the contract ended
}

// An EventKind says what has happened.
type EventKind uint8

// Events.
const (
	Opened    EventKind = iota // the market opens; all hosts are where they are at instant 0
	Submitted                  // Contract is asked for
	Freed                      // there may be room for those who wait, as of this instant
	Overdue                    // the hard deadline of Contract, which waits undecided, has come
	Lost                       // a host has left with a task of Contract, which has been stopped everywhere: [Enqueue] it to be placed again, or it is broken
	Done                       // Part of Contract, which is booked, has done its work
	Withdrawn                  // the owner of Contract, which is booked, takes it back: [Release] it, or it goes on
	Over                       // Contract is gone, and not by an action of the policy; the market is not to be looked at before Freed
	Came                       // Host is there
	Gone                       // Host has left
	Tick                       // the instant of Next has come
	Continue                   // what was to be done has been done
)

// An Action is what a policy wants done with a contract.
type Action struct {
	Verb     Verb
	Contract int32     // its number
	Part     int32     // of Launch and Suspend: index in the placements that it was booked with
	Place    int       // of Enqueue: its place among those who wait
	Due, Of  float64   // of Release: the part Due / Of of the price is owed, at most all of it
	Decision *Decision // of Admit, Book and Refuse: terms and reasons
}

// A Verb says what is to be done.
type Verb uint8

// Verbs.
const (
	Enqueue Verb = iota // let it wait for a decision
	Admit               // hold its budget and start it on the placements of its Decision
	Book                // hold its budget and promise it the hosts of its placements, one per part, with all nodes of the part; they start and end when the policy says
	Refuse              // turn it away; one that is to be placed again is broken
	Launch              // give a part of what is booked its nodes, for the first time or again
	Suspend             // take them away, and keep what has been done: it is to go on, or others have still to end
	Finish              // end what is booked, all parts
	Stop                // end what is booked, whatever is left to do: its estimate is used up
	Release             // end what is booked for its owner, who takes it back
)

// A Market is what a policy may look at. The numbers of contracts are the broker's,
// and are used again once a contract is gone; those of allocations are another thing.
type Market interface {
	// Hosts returns the hosts, their prices and what is on them.
	Hosts() View

	// Waiting returns the contracts that wait for a decision, in the order that
	// Enqueue has given them. It is read only, and good until one comes or goes.
	Waiting() []int32

	// Request returns what was asked for.
	Request(contract int32) *Request
}
