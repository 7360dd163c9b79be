// Package contracts is the agreement between a user and the market. This file holds its
// central types: what a user asks for, what is promised, how the work stands, and who
// decides. Read it first.
//
// A user submits a [Request]: so much work, on so many hosts, by a deadline, for a budget. A
// [Policy] accepts or rejects it. An accepted request is a [Contract]: its budget is held in
// escrow, and each of its nodes has a [Placement] on a host. A contract is in one [Phase] at
// a time, and [Moves] is the table of all transitions. At its end it has one [Outcome], from
// which contracts/settlement computes its bill.
//
// Other files of the package: request.go, sla.go and contract.go have the arithmetic of
// these types, phase.go the phases and outcomes, utility.go what a result is worth to a user,
// decision.go the reasons of refusals, numbers.go the numbers by which a policy decided.
//
// The package is independent of clocks, storage and randomness. The policies are in
// contracts/admission, and the life of a contract is in contracts/broker.
//
// References, cited by § and eq.: Sandholm, Lai, Clearwater, "Admission Control
// in a Computational Market"; for penalties Yeo, Buyya, "Service Level Agreement
// based Allocation of Cluster Resources: Handling Penalty to Enhance Utility".
//
// # Units
//
// Times are float64 seconds since the start of the run, and so are durations. Work is
// processor-seconds at the reference speed. Rates of money are whole nano-dollars per second
// ([market.Rate]); what is paid is exact ([bank.Amount]).
package contracts

import (
	"bourse/bank"
	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/market"
)

// # What is asked for

// An ID names a request and the contract it becomes.
type ID int64

// A Request is what a user asks for (§3). It holds the user's own statement of the work,
// which may be wrong; only the machine that runs a task knows its true work.
type Request struct {
	ID    ID
	Owner bank.Account

	// Repeat says that it is a contract already, whose hosts left: it is to be
	// placed again, all of its work, in what is left of the time until Due.
	Repeat bool

	// PerHost promises the work of every node by itself. Otherwise a fast host
	// makes up for a slow one, as the paper chose (§3).
	PerHost bool

	OnDemand bool // no instant is promised: SLA.Deadline only says how fast the budget may be spent

	Class  string  // admission class asked for; empty leaves it to the market
	Submit float64 // instant, s
	Work   float64 // per node, processor-seconds, as the owner estimates it
	Nodes  int     // parallelism: so many distinct hosts
	Needs  Requirement
	SLA    SLA

	// Of a planner's contracts. Other policies start at once whatever Lead is.
	Lead  float64 // s after submission before which it is not to start
	Parts int     // gangs that start together, each on a host of its own; 0 is one
}

// A request names what each of its nodes needs of a host: at least Min, at most Max. What lies
// between the two is reserved if the host has it (see [Requirement.Holds]).

// A Requirement bounds what one node must have and may use.
type Requirement struct {
	Min, Max Bound
}

// A Bound is one side of a requirement. A CPU of 0 sets no bound.
type Bound struct {
	CPU float64 // processors
	hosts.Resources
}

// The service level is the part of a request that a user pays for. The budget divided by the
// deadline and the number of nodes is the bid of a node: the price that the user pays depends
// on what others bid, but never exceeds the budget (§3).

// An SLA is the service level of a request: what is paid, by when, and what a
// broken promise costs the provider.
type SLA struct {
	Budget   bank.Amount // v, the most the owner pays
	Deadline float64     // d, s after submission
	Soft     bool        // delay is tolerated: the work goes on after the deadline until it is done
	RunsOn   bool        // the work goes on after a hard deadline too, which only policies then mind
	Penalty  Penalty
}

// A Penalty is the linear penalty of a broken promise. The zero value is none.
type Penalty struct {
	Rate float64 // $/s of delay
	Max  float64 // the most that is paid, $; +Inf is unbounded
}

// # What is promised, and how it stands

// A Placement is one node of a contract, or one gang: a host, the funding level there,
// and what has come of it.
type Placement struct {
	Host  hosts.ID
	Slot  hosts.Slot
	Bid   market.Rate
	Nodes int     // of a gang, which is one task: as many nodes of the contract; 0 is one
	Done  float64 // work done on this node, once Left
	Owed  float64 // dollars accrued, once Left
	Left  bool    // the task has left the host

	// Of a program, once Left:
	End  hosts.End
	Code uint8 // with which it ended
}

// A Contract is an accepted request and the progress of its work. Policies may read it and
// must not change it.
type Contract struct {
	// What every change of a rate touches is in one place.
	Done float64 // work over all nodes, as of At
	Rate float64 // work per second over all nodes now
	At   float64 // instant up to which Done is counted

	Request
	Placements []Placement // one per node, or one per gang if it is booked
	Admitted   float64     // instant
	Began      float64     // instant of its first start, +Inf before it
	Host       hosts.ID    // of its first gang
	Gang       bool        // booked: its nodes are in gangs, all of one part on one host

	// Where hosts come and go:
	Losses int     // times that a host left with a task of it
	Resent int     // of those, the ones after which it was to be placed again
	Wasted float64 // work that was lost so, over all nodes

	Paused []Pause // of gangs, in order of their beginnings
}

// A Pause is a time after the first start of a contract in which one of its gangs has no
// nodes: it has not started with the first, was suspended, or has ended before the last.
type Pause struct {
	Part int32   // index in the contract's placements
	From float64 // instant
	To   float64 // instant, +Inf as long as it lasts
}

// While a contract runs, each of its nodes has an allocation on its host. The floor
// (contracts/floor) changes it at every event on the host; a sharing rule
// (contracts/sharing) sets its share; a policy reads it through a [View].

// An Allocation is one node of an active contract on its host.
type Allocation struct {
	// What every event on the host touches is in one place.
	Contract int32 // for View.Contract
	Node     int32 // index in the contract's placements
	Slot     hosts.Slot
	Bid      market.Rate
	Rate     float64 // work per second that it gets
	Paying   float64 // dollars per second that it is charged
	Done     float64 // work done, as of At
	Owed     float64 // dollars charged, as of At
	At       float64 // instant of the host's last event

	Share hosts.Share
	Told  hosts.Share // as the machine was told, which is the market's concern alone
	Met   market.Rate // what the others bid when it was placed

	// What sharing rules by deadline remember of it; 0 under other rules.
	Need   float64 // processors that it needed when its estimate still lasted
	Target float64 // instant by which it is meant to be done, after its deadline if it was delayed
}

// # Who decides
//
// There are two ways to write a policy. A [Decider] answers one question: whether to accept
// one request now. It is enough for most policies, and contracts/admission makes a [Policy] of
// it. A Policy itself receives events and returns actions, so that it can keep a queue, plan
// ahead, and start or stop what it has booked. Both see the market through a [View], which
// has users' estimates and never the true work.

// A Decider accepts, rejects or defers one request at a time.
//
// Decide depends only on its arguments, on the source of randomness the decider
// was made with, and on memory of its own. It changes nothing: the broker
// carries the decision out.
type Decider interface {
	Decide(now float64, r *Request, v View) Decision
}

// A Decision is a verdict with its terms and the numbers that decided it.
type Decision struct {
	Verdict    Verdict
	Reason     Reason
	Placements []Placement // if accepted, one per node, or one per gang if it is booked; valid until the next Decide
	Numbers    Numbers     // valid until the next Decide

	// Of a planner that asks for something else than the budget: see [Decision.Price].
	Priced bool
	Ask    float64 // dollars
}

// A Verdict is what a policy says of a request.
type Verdict uint8

// Verdicts.
const (
	Reject Verdict = iota
	Accept
	Defer // ask again when something changes
)

// A Reason says why a request was not accepted, in a few words that need no quotes in
// JSON. Each is declared where it is given: those below by more than one policy or by the
// broker, all others in the file of their policy.
type Reason string

// Numbers are what decided, as the ledger shows them, in that order. A policy says which
// there are and what they are called.
type Numbers []Number

// A Number is a name and a value.
type Number struct {
	name string
	kind kind
	bits uint64
}

// A kind says what the bits of a Number are.
type kind uint8

// The view is the only thing that a policy sees of the market. It is independent of the
// other parties: no account, no note and no true runtime can be reached from it.

// A View is the market as a policy sees it: the truth at this instant, and
// read-only. Slices returned are valid until the broker is next called.
type View interface {
	// Fleet returns the number of hosts; they are 0 to Fleet()-1.
	Fleet() int
	Spec(h hosts.ID) *hosts.Spec
	Room(h hosts.ID) hosts.Resources

	// Price returns the spot price of h: the sum of all bids on it.
	Price(h hosts.ID) market.Rate

	// Percentile returns F⁻¹(g) of h in dollars per second (eq. 5).
	Percentile(h hosts.ID, g float64) float64

	// Away reports whether h is not to be given work: it has left, or takes no more.
	Away(h hosts.ID) bool

	// Stays returns the probability, in [0,1], that h, which is not away, stays
	// for span seconds from now, as it is foretold. It is 1 where hosts stay.
	Stays(h hosts.ID, span float64) float64

	// History returns when h was and will be available, nil where hosts stay. It
	// is for those who predict, who look at its past.
	History(h hosts.ID) *availability.History

	// Cheapest appends to out the n hosts of lowest spot price, fewer if fewer
	// are not away and have the room for what a task of r needs at least; ties
	// are broken at random.
	Cheapest(r *Request, out []hosts.ID) []hosts.ID

	// On returns what is on h, in order of admission.
	On(h hosts.ID) []Allocation

	// Changed returns the hosts on which a task has come or gone, or which
	// themselves have, since Changed was asked before this, each once. A policy
	// that remembers hosts looks at these alone, after it has looked at all of
	// them the first time.
	Changed() []hosts.ID

	// Contract returns the contract that an Allocation names.
	Contract(i int32) *Contract
}

// # Who is told what happens
//
// The broker (contracts/broker) is the only caller of a policy. It handles an event in three
// steps: it notifies the policy, carries out the actions that the policy returns, and then
// sends [Continue] until the policy returns no more. So an action is visible in the market
// before the policy decides the next.

// A Policy receives events and returns actions. It is the only interface between the broker
// and admission.
type Policy interface {
	// Handle returns the actions that follow from e, in the order in which the broker
	// is to carry them out. The slice, and what its actions point at, are valid until
	// the next call. If an admission cannot be carried out, the broker changes its
	// Decision to a rejection.
	Handle(now float64, e Event, m Market) []Action

	// Next returns the time of the next [Tick], +Inf if there is none. Last reports
	// whether that event comes after the requests submitted at that time, or before
	// them; a policy always returns the same value.
	Next() (at float64, last bool)
}

// An Event is something of which the broker notifies a policy.
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

// An Action is what the broker must do with a contract.
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

// A Market is what a policy can read. Contracts have numbers that the broker reuses when a
// contract is gone; they differ from the numbers that an [Allocation] names.
type Market interface {
	// Hosts returns the hosts, their prices and what is on them.
	Hosts() View

	// Waiting returns the contracts that wait for a decision, in the order that
	// Enqueue has given them. It is read only, and good until one comes or goes.
	Waiting() []int32

	// Request returns what was asked for.
	Request(contract int32) *Request
}
