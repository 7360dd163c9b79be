// Package contracts defines the agreement between a user and the market. This file declares
// its central types: the request, the promise, the progress of the work, and the parties that
// decide. Read it first.
//
// A user submits a [Request]: an amount of work, a number of hosts, a deadline and a budget. A
// [Policy] accepts or rejects it. An accepted request is a [Contract]: its budget is held in
// escrow, and each of its nodes has a [Placement] on a host. A contract is in one [Phase] at a
// time, and [Moves] is the table of all transitions. At its end it has one [Outcome], from
// which contracts/settlement computes its bill.
//
// For example, a request for 2 nodes with 3,600 processor-seconds each, due in 2 hours for $4,
// bids $4 / (7,200 s × 2) = 277,777 nano-dollars per second on each of its hosts.
//
// The other files of the package implement the arithmetic of these types (request.go, sla.go
// and contract.go), the phases and outcomes (phase.go), and the value of a result to its user
// (utility.go). They also declare the reasons for rejections (decision.go) and the numbers that
// explain a decision (numbers.go).
//
// The package is independent of clocks, storage and randomness. The policies are in
// contracts/admission, and contracts/broker implements the life cycle of a contract.
//
// References, cited by § and eq.: Sandholm, Lai, Clearwater, "Admission Control in a
// Computational Market"; for penalties Yeo, Buyya, "Service Level Agreement based Allocation
// of Cluster Resources: Handling Penalty to Enhance Utility".
//
// # Units
//
// Times and durations are float64 seconds; times count from the start of the run. Work is
// processor-seconds at the reference speed. Spending rates are whole nano-dollars per second
// ([market.Rate]). Amounts of money are exact ([bank.Amount]).
package contracts

import (
	"bourse/bank"
	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/market"
)

// # Requests

// An ID identifies a request and the contract that it becomes.
type ID int64

// A Request is the request of a user (§3). It contains the user's own estimate of the work,
// which may be wrong; only the machine that runs a task knows its true work.
type Request struct {
	ID    ID
	Owner bank.Account
	User  int64 // number of the owner among the users, for fairness rules

	// Repeat marks a contract whose hosts have left. All of its work must be placed again, in
	// the time that remains until Due.
	Repeat bool

	// PerHost promises the work of each node separately. Otherwise only the sum over all nodes
	// is promised and a fast host compensates for a slow one, as the paper chose (§3).
	PerHost bool

	// Packed lets several nodes share a host, each on a processor of its own. Policies that do
	// not pack place each node on a host of its own.
	Packed bool

	OnDemand bool // no deadline is promised: SLA.Deadline only limits how fast the budget may be spent

	Class  string  // requested admission class; if empty, the market chooses
	Submit float64 // submission time, s
	Work   float64 // the owner's estimate per node, processor-seconds
	Nodes  int     // number of nodes, each on a different host unless packed or booked in gangs
	Needs  Requirement
	SLA    SLA

	// Only planning policies use these fields. Other policies start a contract at once and
	// ignore Lead.
	Lead  float64 // earliest start, s after submission
	Parts int     // number of gangs, each on its own host; 0 means one
}

// A request states the resources that each of its nodes needs from a host: at least Min, at
// most Max. A task reserves an amount between the two, depending on the free resources of the
// host (see [Requirement.Holds]).

// A Requirement bounds the resources of one node: the minimum and the maximum.
type Requirement struct {
	Min, Max Bound
}

// A Bound is one side of a requirement. A CPU of 0 sets no bound.
type Bound struct {
	CPU float64 // processors
	hosts.Resources
}

// The service level is the part of a request that a user pays for. The budget divided by the
// deadline and the number of nodes is the bid of a node. The price that the user pays depends
// on the other bids but never exceeds the budget (§3).

// An SLA is the service level of a request: the payment, the deadline, and the penalty that
// the provider owes for a broken promise.
type SLA struct {
	Budget   bank.Amount // v, the maximum that the owner pays
	Deadline float64     // d, s after submission
	Soft     bool        // the work continues after the deadline until it is done
	RunsOn   bool        // the work continues even after a hard deadline, which then affects only policies
	Penalty  Penalty
}

// A Penalty is the linear penalty of a broken promise: it grows by Rate per second of delay, up
// to Max. The zero value means no penalty.
type Penalty struct {
	Rate float64 // $/s of delay
	Max  float64 // maximum, $; +Inf means unbounded
}

// # Contracts

// A Placement is one node of a contract, or one gang. It names the host, holds the bid there,
// and records the result once the task has left.
type Placement struct {
	Host  hosts.ID
	Slot  hosts.Slot
	Bid   market.Rate
	Nodes int // nodes of the contract in this gang, which runs as one task; 0 means one

	// Promised is the price percentile of the host at which cac admitted the node, otherwise 0.
	// Only the payment rule percentile uses it, and only the built-in cac states it.
	Promised market.Rate

	Done float64 // work done on this node, valid once Left
	Owed float64 // dollars accrued, valid once Left
	Left bool    // the task has left the host

	// Charged divides Owed by resource if the host is metered and the task had a Vector.
	Charged *Charged

	// These fields describe how the program ended. They are valid once Left.
	End  hosts.End
	Code uint8 // its exit code
}

// A Contract is an accepted request and the progress of its work. Policies may read it but must
// not change it.
type Contract struct {
	// These fields are updated at each change of a rate. They are adjacent to reduce
	// cache misses.
	Done float64 // work done over all nodes up to At
	Rate float64 // current work per second over all nodes
	At   float64 // time up to which Done is computed, s

	Request
	Placements []Placement // one per node, or one per gang if booked
	Admitted   float64     // time of admission, s
	Began      float64     // time of the first start, s; +Inf before it
	Host       hosts.ID    // host of the first gang
	Gang       bool        // booked in gangs: all nodes of a part are on one host

	// These fields are used if hosts come and go.
	Losses int     // number of times a host left with one of its tasks
	Resent int     // number of losses after which the contract was queued to be placed again
	Wasted float64 // work lost in this way, over all nodes

	Suspensions int // number of times that its policy suspended all of its nodes

	Paused []Pause // pauses of gangs, in order of their start
}

// A Pause is a span of time, after the first start of a contract, during which one of its
// gangs has no nodes. The gang did not start with the first gang, was suspended, or ended
// before the last gang.
type Pause struct {
	Part int32   // index in the contract's placements
	From float64 // start, s
	To   float64 // end, s; +Inf while the pause lasts
}

// While a contract runs, each of its nodes has an allocation on its host. The floor
// (contracts/floor) changes it at every event on the host, and a sharing rule (contracts/sharing)
// sets its share. A policy reads it through a [View].

// An Allocation is one node of an active contract on its host.
type Allocation struct {
	// These fields are updated at each event on the host. They are adjacent to reduce
	// cache misses.
	Contract int32 // number to pass to View.Contract
	Node     int32 // index in the contract's placements
	Slot     hosts.Slot
	For      hosts.Kind  // resource for which it pays, or hosts.Kinds for the floor price
	Bid      market.Rate // for everything that the task gets
	Rate     float64     // current work per second
	Paying   float64     // current charge, dollars per second
	Done     float64     // work done, as of At
	Owed     float64     // dollars charged, as of At
	At       float64     // time of the host's last event, s

	Share hosts.Share
	Told  hosts.Share // share last sent to the machine; internal to the market
	Met   market.Rate // sum of the other bids on the host when the task was placed; under payment percentile, the price that it was promised
	Of    int32       // number of nodes of its contract
	Claim float64     // processors that the task can use if it has the host to itself

	// The sharing rules by deadline use these fields. Under other rules they are 0.
	Need   float64 // processors that it last needed before its estimate was used up
	Target float64 // planned completion time, s; after the deadline if the task was delayed

	// Vector has the claims and bids of the task if it claims a priced resource other than
	// processors, or holds a resource with a floor price. Otherwise it is nil.
	Vector *Vector
}

// # Deciders and policies
//
// There are two ways to write a policy. A [Decider] answers one question: whether to accept
// one request now. It is enough for most policies, and contracts/admission makes a [Policy]
// from it. A Policy itself receives events and returns actions, so it can maintain a queue,
// plan ahead, and start or stop the contracts that it has booked. Both read the market through
// a [View], which contains users' estimates but never the true work.

// A Decider accepts, rejects or defers one request at a time.
//
// Decide depends only on its arguments, on the decider's own memory, and on the source of
// randomness that the decider was created with. This makes runs reproducible and decisions
// explainable. Decide changes nothing in the market: the broker carries the decision out.
type Decider interface {
	Decide(now float64, r *Request, v View) Decision
}

// A Rebidder is a policy, or a decider, that can reject new bids of a contract that runs. Other
// policies permit all of them.
type Rebidder interface {
	// Rebid decides whether contract i of v may bid as in the given placements, one per node. The
	// bids of nodes that have left their hosts are ignored.
	Rebid(now float64, i int32, on []Placement, v View) Decision
}

// A Decision is a verdict with its terms and the numbers that explain it.
type Decision struct {
	Verdict    Verdict
	Reason     Reason
	Placements []Placement // if accepted, one per node, or one per gang if it is booked; valid until the next Decide
	Numbers    Numbers     // valid until the next Decide

	// Set by policies that charge a price other than the budget: see [Decision.Price].
	Priced bool
	Ask    float64 // dollars

	// Rated means that the bids of the placements are agreed rates. Each stay on a host is
	// charged separately, and the contract ends as soon as its charges reach its budget.
	Rated bool
}

// A Verdict is the answer of a policy to a request.
type Verdict uint8

// Verdicts.
const (
	Reject Verdict = iota
	Accept
	Defer // ask again when something changes
)

// A Reason explains why a request was not accepted, in a few words that need no escaping in
// JSON. Reasons that several policies or the broker use are declared in decision.go. Other
// reasons are declared in the files of their policies.
type Reason string

// Numbers explain a decision, in the order in which the ledger shows them. Each policy chooses
// its numbers and their names.
type Numbers []Number

// A Number is a name and a value of one of four kinds.
type Number struct {
	name string
	kind kind
	bits uint64
}

// A kind specifies how to interpret the bits of a Number.
type kind uint8

// The view is the only part of the market that a policy sees. It gives no access to accounts,
// notes or true runtimes.

// A View is the market as a policy sees it at the current time. It is read-only. Slices that
// it returns are valid until the next call of the broker.
type View interface {
	// Fleet returns the number of hosts; they are 0 to Fleet()-1.
	Fleet() int
	Spec(h hosts.ID) *hosts.Spec
	Room(h hosts.ID) hosts.Resources

	// Price returns the spot price of h: the sum of all bids for its processors.
	Price(h hosts.ID) market.Rate

	// Priced returns the kinds of resources that have a price in addition to processors, in
	// order.
	Priced() []hosts.Kind

	// KindName returns the name of kind k, such as memory or gpu.
	KindName(k hosts.Kind) string

	// PriceOf returns the spot price of kind k on h: the sum of the bids for it. Kind k must
	// have a price.
	PriceOf(h hosts.ID, k hosts.Kind) market.Rate

	// PercentileOf returns F⁻¹(g) of kind k on h: see Percentile. Kind k must have a price.
	PercentileOf(h hosts.ID, k hosts.Kind, g float64) float64

	// Floors returns the least prices of the resources of h, or nil if no host has any.
	Floors(h hosts.ID) *hosts.Floor

	// Percentile returns F⁻¹(g) of h in dollars per second (eq. 5): the price that, by the
	// forecast, h does not exceed with probability g in (0,1).
	Percentile(h hosts.ID, g float64) float64

	// Unavailable reports whether h must not be given work, because it has left or accepts no more
	// tasks.
	Unavailable(h hosts.ID) bool

	// Stays returns the predicted probability, in [0,1], that h stays for span seconds from
	// now. Host h must not be away. The result is 1 if hosts never leave or there is no
	// predictor.
	Stays(h hosts.ID, span float64) float64

	// History returns the times at which h was and will be available, or nil if hosts never
	// leave. It is for predictors, which must read only the past.
	History(h hosts.ID) *availability.History

	// Cheapest appends to out the r.Nodes hosts with the lowest spot prices, each of the resource
	// that is dominant for r there (see [Meets]). Hosts that are
	// away or lack the minimum resources of r are skipped, so there may be fewer. Ties are
	// broken at random.
	Cheapest(r *Request, out []hosts.ID) []hosts.ID

	// On returns the allocations on h, in order of admission.
	On(h hosts.ID) []Allocation

	// Changed returns the hosts that have changed since the previous call of Changed, each
	// once. A host changes if it arrives or leaves, or if a task starts or stops there. A
	// policy that caches data about hosts reads all hosts once and afterwards only these.
	Changed() []hosts.ID

	// Contract returns the contract that an Allocation names.
	Contract(i int32) *Contract
}

// # Events and actions
//
// The broker (contracts/broker) is the only caller of a policy. It handles an event in three
// steps: it notifies the policy, carries out the actions that the policy returns, and then
// sends [Continue] until the policy returns no more. Therefore an action is visible in the
// market before the policy decides the next one.

// A Policy receives events and returns actions. It is the only interface between the broker
// and admission.
type Policy interface {
	// Handle returns the actions that follow from e, in the order in which the broker must
	// carry them out. The slice and the data that its actions point to are valid until the next
	// call. If an admission cannot be carried out, the broker changes its Decision to a
	// rejection.
	Handle(now float64, e Event, m Market) []Action

	// Next returns the time of the next [Tick], +Inf if there is none. Last reports
	// whether that event comes after the requests submitted at that time, or before
	// them; a policy always returns the same value.
	Next() (at float64, last bool)
}

// An Event is a change that the broker reports to a policy.
type Event struct {
	Kind     EventKind
	Contract int32    // the number of the contract concerned
	Part     int32    // index of the part, for Done
	Host     hosts.ID // host concerned, for Came and Gone
	Outcome  Outcome  // how the contract ended, for Over
}

// An EventKind is the kind of an [Event].
type EventKind uint8

// Events.
const (
	Opened    EventKind = iota // the market opens; each host is available or away as it is at time 0
	Submitted                  // Contract was requested
	Freed                      // there may now be room for waiting contracts
	Overdue                    // the hard deadline of Contract has passed while it waits for a decision
	Lost                       // a host has left with a task of Contract, which is now stopped on all hosts: [Enqueue] it to place it again, otherwise it is broken
	Done                       // Part of the booked Contract has done its work
	Withdrawn                  // the owner of the booked Contract cancels it: [Release] it, otherwise it continues
	Over                       // Contract has ended without an action of the policy; the policy must not read the market before Freed
	Came                       // Host has arrived
	Gone                       // Host has left
	Tick                       // the time that Policy.Next returned has come
	Continue                   // the actions returned last have been carried out
)

// An Action is a request of a policy to the broker about a contract.
type Action struct {
	Verb     Verb
	Contract int32     // its number
	Part     int32     // for Launch and Suspend: index in the booked placements, or All
	Place    int       // for Enqueue: index in the list of waiting contracts
	Due, Of  float64   // for Release: the owner owes the fraction Due / Of of the price, at most 1
	Decision *Decision // terms and reason for Admit, Book and Refuse, placements for Launch and Rebid of All, numbers for Announce

	Lose    bool    // for Suspend of All: the work done so far is lost
	Restore float64 // for Launch of All: extra work of each node, in seconds
}

// All is the part number that means all nodes of a contract that is not booked.
const All = -1

// A Verb is an action for the broker.
type Verb uint8

// Verbs.
const (
	Enqueue  Verb = iota // add it to the waiting list
	Admit                // hold its budget and start it on the placements of its Decision
	Book                 // hold its budget and reserve the hosts of its placements, one per part; the policy starts and ends the parts
	Refuse               // reject it; a contract that waits to be placed again is broken
	Launch               // start or resume a part of a booked contract, or all nodes of another contract on new placements
	Suspend              // pause a part, or all nodes of a contract that is not booked, to resume later or to wait for other parts
	Finish               // end all parts of a booked contract whose work is done
	Stop                 // kill a booked contract whose estimate is used up, even if work is left
	Release              // end a contract as cancelled: a booked contract owes a part of its price, any other its accrued charges
	Rebid                // replace the bids of a running contract with those of its Decision
	Announce             // record the result of a clearing, the numbers of its Decision, in the ledger
)

// A Market is the view of the market for policies. Contracts have numbers that the broker
// reuses after a contract has ended. These numbers differ from those in an [Allocation].
type Market interface {
	// Hosts returns the hosts, their prices and their allocations.
	Hosts() View

	// Waiting returns the contracts that wait for a decision, in the order set by Enqueue. The
	// slice is read-only and valid until a contract joins or leaves it.
	Waiting() []int32

	// Request returns the request of the contract with this number.
	Request(contract int32) *Request
}
