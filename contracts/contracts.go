// Package contracts defines the agreement between a user and the market. This file declares
// the central types: the request, the promise, the progress of the work, and the interfaces of
// the policies that decide. Read it first.
//
// A user submits a [Request], which specifies an amount of work, a number of hosts, a deadline
// and a budget. A [Policy] accepts or rejects the request. An accepted request becomes a
// [Contract]. Its budget is held in escrow, and each of its nodes has a [Placement] on a host.
// A contract is in one [Phase] at a time, and [Moves] is the table of all transitions. When it
// ends it has one [Outcome], from which contracts/settlement computes its bill.
//
// For example, consider a request for 2 nodes with 3,600 processor-seconds each, due in 2
// hours for $4. It bids $4 / (7,200 s × 2) = 277,777 nano-dollars per second on each of its
// hosts.
//
// The arithmetic of these types is in request.go, sla.go and contract.go. The phases and
// outcomes are in phase.go, and the value of a result to its user is in utility.go. The
// reasons for rejections are in decision.go, and the numbers that explain decisions are in
// numbers.go.
//
// The package is independent of clocks, storage and randomness. The policies are in
// contracts/admission, and contracts/broker implements the life cycle of a contract.
//
// The papers cited by § and eq. are: Sandholm, Lai, Clearwater, "Admission Control in a
// Computational Market"; and, for penalties, Yeo, Buyya, "Service Level Agreement based
// Allocation of Cluster Resources: Handling Penalty to Enhance Utility".
//
// # Units
//
// Times and durations are float64 seconds; times count from the start of the run. Work is in
// processor-seconds at the reference speed. Spending rates are integers in nano-dollars per
// second ([market.Rate]). Amounts of money are exact ([bank.Amount]).
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

// A Request is a user's request to the market (§3). It contains the user's own estimate of the
// work, which may be wrong. Only the machine that runs a task knows the true work.
type Request struct {
	ID    ID
	Owner bank.Account
	User  int64 // number of the owner among the users, used by fairness rules

	// Repeat marks a contract that must be placed again because a host of it has left. All of
	// its work must be repeated in the time that remains until Due.
	Repeat bool

	// PerHost means that the work of each node is promised separately. If PerHost is false,
	// only the sum over all nodes is promised, and a fast host compensates for a slow one, as
	// in the paper (§3).
	PerHost bool

	// Packed lets several nodes share a host, each on a processor of its own. Policies that do
	// not support packing place each node on a separate host.
	Packed bool

	OnDemand bool // whether no deadline is promised; SLA.Deadline then only limits how fast the budget may be spent

	Class  string  // requested admission class; if empty, the market chooses
	Submit float64 // submission time, s
	Work   float64 // the owner's estimate per node, processor-seconds
	Nodes  int     // number of nodes, each on a different host unless packed or booked in gangs
	Needs  Requirement
	SLA    SLA

	Licences     []int32 // units of the market's licences that the contract holds, in the order of the licences; nil if it holds none
	LicenceFloor float64 // part of the licences' floor price that counts for each node, dollars per second; the broker sets it

	// Only planning policies use these fields. Other policies start a contract at once and
	// ignore Lead.
	Lead  float64 // earliest start, s after submission
	Parts int     // number of gangs, each on its own host; 0 means one
}

// A request states the resources that each of its nodes needs from a host: at least Min, at
// most Max. A task reserves an amount between the two that depends on the free resources of
// the host (see [Requirement.Holds]).

// A Requirement bounds the resources of one node: the minimum and the maximum.
type Requirement struct {
	Min, Max Bound
}

// A Bound is one side of a requirement. A CPU of 0 means no bound.
type Bound struct {
	CPU float64 // processors
	hosts.Resources
}

// The service level is the part of a request that a user pays for. The bid of a node is the
// budget divided by the deadline and by the number of nodes. The price that the user pays
// depends on the other bids but never exceeds the budget (§3).

// An SLA is the service level of a request: the payment, the deadline, and the penalty that
// the provider owes for a broken promise.
type SLA struct {
	Budget   bank.Amount // v, the maximum that the owner pays
	Deadline float64     // d, s after submission
	Soft     bool        // whether the work continues after the deadline until it is done
	RunsOn   bool        // whether the work continues even after a hard deadline, which then only policies use
	Penalty  Penalty
}

// A Penalty is the linear penalty of a broken promise: it grows by Rate per second of delay, up
// to Max. The zero value means no penalty.
type Penalty struct {
	Rate float64 // $/s of delay
	Max  float64 // maximum, $; +Inf means unbounded
}

// # Contracts

// A Placement is one node of a contract, or one gang. It names the host, states the bid there,
// and records the result after the task has left.
type Placement struct {
	Host  hosts.ID
	Slot  hosts.Slot
	Bid   market.Rate
	Nodes int // number of nodes of the contract in this gang, which runs as one task; 0 means one

	// Promised is the price percentile of the host at which cac admitted the node, or 0 under
	// other policies. Only the payment rule percentile uses it, and only the built-in policy
	// cac sets it.
	Promised market.Rate

	Done float64 // work done on this node; valid once Left is true
	Owed float64 // dollars accrued; valid once Left is true
	Left bool    // whether the task has left the host

	// Charged divides Owed by resource if the host is metered and the task had a Vector.
	Charged *Charged

	// The next fields describe the end of the program. They are valid once Left is true.
	End  hosts.End
	Code uint8 // exit code of the program
}

// A Contract is an accepted request with the progress of its work. Policies may read it but
// must not change it.
type Contract struct {
	// These fields are updated whenever a rate changes. They are adjacent to reduce cache
	// misses.
	Done float64 // work done over all nodes up to At
	Rate float64 // current work per second over all nodes
	At   float64 // time up to which Done is computed, s

	Request
	Placements []Placement // one per node, or one per gang if booked
	Admitted   float64     // time of admission, s
	Began      float64     // time of the first start, s; +Inf before the first start
	Host       hosts.ID    // host of the first gang
	Gang       bool        // booked in gangs: all nodes of a part run on one host

	// These fields are used if hosts come and go.
	Losses int     // number of times that a host left while it ran a task of the contract
	Resent int     // number of losses after which the contract was queued to be placed again
	Wasted float64 // work lost when hosts left, over all nodes

	Suspensions int // number of times that the policy suspended all nodes

	Paused []Pause // pauses of gangs, in order of their start
}

// A Pause is a span of time, after the first start of a contract, during which one of its
// gangs does not run. The gang started later than the first gang, was suspended, or ended
// before the last gang.
type Pause struct {
	Part int32   // index in the contract's placements
	From float64 // start, s
	To   float64 // end, s; +Inf until the pause ends
}

// While a contract runs, each of its nodes has an allocation on its host. The floor
// (contracts/floor) updates the allocation at every event on the host, and a sharing rule
// (contracts/sharing) sets its share. A policy reads it through a [View].

// An Allocation is one node of an active contract on its host.
type Allocation struct {
	// These fields are updated at each event on the host. They are adjacent to reduce cache
	// misses.
	Contract int32 // number to pass to View.Contract
	Node     int32 // index in the contract's placements
	Slot     hosts.Slot
	For      hosts.Kind  // resource for which the task pays, or AtFloor
	Bid      market.Rate // bid for all resources that the task receives
	Rate     float64     // current work per second
	Paying   float64     // current charge, dollars per second
	Done     float64     // work done, as of At
	Owed     float64     // dollars charged, as of At
	At       float64     // time of the host's last event, s

	Share hosts.Share
	Told  hosts.Share // share last sent to the machine; used only inside the market
	Met   market.Rate // sum of the other bids on the host when the task was placed; under payment percentile, the price promised to the task
	Of    int32       // number of nodes of the contract
	Claim float64     // processors that the task can use when it is the only task on the host

	// These fields are used by the sharing rules that depend on deadlines. Under other rules
	// these fields are 0.
	Need   float64 // processors that the task needed just before its estimate was used up
	Target float64 // planned completion time, s; later than the deadline if the task was delayed

	// Vector holds the claims and bids of the task for resources other than processors. Vector
	// is set if the task claims such a resource with a price, or holds one with a floor price,
	// and nil if not.
	Vector *Vector
}

// # Deciders and policies
//
// There are two ways to write a policy. A [Decider] answers one question: whether to accept one
// request now. It is sufficient for most policies, and contracts/admission converts it into a
// [Policy]. A Policy itself receives events and returns actions. It can therefore maintain a
// queue, plan ahead, and start or stop the contracts that it has booked. Deciders and policies
// read the market through a [View], which contains users' estimates but never the true work.

// A Decider accepts, rejects or defers one request at a time.
//
// Decide depends only on its arguments, on the decider's own state, and on the source of
// randomness given to the decider when it was created. This makes runs reproducible and
// decisions explainable. Decide changes nothing in the market; the broker carries out the
// decision.
type Decider interface {
	Decide(now float64, r *Request, v View) Decision
}

// A Rebidder is a policy, or a decider, that can reject new bids of a running contract. Other
// policies permit all new bids.
type Rebidder interface {
	// Rebid decides whether contract i of v may change its bids to the bids in the given
	// placements, one per node. The bids of nodes that have left their hosts are ignored.
	Rebid(now float64, i int32, on []Placement, v View) Decision
}

// A Decision is a verdict with its terms and the numbers that explain it.
type Decision struct {
	Verdict    Verdict
	Reason     Reason
	Placements []Placement // placements of an accepted request, one per node, or one per gang if it is booked; valid until the next Decide
	Numbers    Numbers     // valid until the next Decide

	// Priced is set by policies that charge a price other than the budget: see
	// [Decision.Price].
	Priced bool
	Ask    float64 // asking price in dollars

	// Rated means that the bids in the placements are agreed rates. Each stay on a host is
	// charged separately, and the contract ends as soon as its charges reach its budget.
	Rated bool
}

// A Verdict is the answer of a policy to a request.
type Verdict uint8

// Verdicts.
const (
	Reject Verdict = iota
	Accept
	Defer // the request waits and is decided again after the next change in the market
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

// The view is the only access that a policy has to the market. It does not expose accounts,
// notes or true runtimes.

// A View is the market as a policy sees it at the current time. It is read-only. Slices that
// it returns are valid until the next call of the broker.
type View interface {
	// Fleet returns the number of hosts; their IDs are 0 to Fleet()-1.
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

	// PercentileOf returns F⁻¹(g) of kind k on h, as Percentile does for processors. Kind k
	// must have a price.
	PercentileOf(h hosts.ID, k hosts.Kind, g float64) float64

	// Floors returns the floor prices of the resources of h, or nil if no host has floor
	// prices.
	Floors(h hosts.ID) *hosts.Floor

	// Percentile returns F⁻¹(g) of h in dollars per second (eq. 5): the price that h,
	// according to the forecast, does not exceed with probability g in (0,1).
	Percentile(h hosts.ID, g float64) float64

	// Unavailable reports whether h must not receive new work, because it has left or accepts
	// no more tasks.
	Unavailable(h hosts.ID) bool

	// Stays returns the predicted probability, in [0,1], that h stays for span seconds from
	// now. Host h must be present. The result is 1 if hosts never leave or there is no
	// predictor.
	Stays(h hosts.ID, span float64) float64

	// History returns the times at which h was and will be available, or nil if hosts never
	// leave. It is for predictors, which must use only the part of the history before now.
	History(h hosts.ID) *availability.History

	// Cheapest appends to out the r.Nodes hosts with the lowest spot prices. On each host, it
	// compares the price of the resource that is dominant for r there (see [Meets]). It skips
	// absent hosts and hosts without the minimum resources of r, so the result may have fewer
	// hosts. Ties are broken at random.
	Cheapest(r *Request, out []hosts.ID) []hosts.ID

	// On returns the allocations on h, in order of admission.
	On(h hosts.ID) []Allocation

	// Changed returns the hosts that have changed since the previous call of Changed, each
	// once. A host changes if it arrives or leaves, or if a task starts or stops there. A
	// policy that caches data about hosts reads all hosts once, and afterwards only the
	// changed ones.
	Changed() []hosts.ID

	// Contract returns the contract that an Allocation refers to.
	Contract(i int32) *Contract
}

// # Events and actions
//
// Only the broker (contracts/broker) calls a policy. It handles an event in three steps: it
// notifies the policy, carries out the actions that the policy returns, and then sends
// [Continue] until the policy returns no more actions. Therefore an action is visible in the
// market before the policy decides the next one.

// A Policy receives events and returns actions. It is the only interface between the broker
// and admission.
type Policy interface {
	// Handle returns the actions that follow from e, in the order in which the broker must
	// carry them out. The slice and the data that its actions point to are valid until the
	// next call. If an admission cannot be carried out, the broker changes its Decision into a
	// rejection.
	Handle(now float64, e Event, m Market) []Action

	// Next returns the time of the next [Tick], or +Inf if there is none. The result last
	// reports whether that event is processed after the requests submitted at the same time, or
	// before them. A policy always returns the same value.
	Next() (at float64, last bool)
}

// An Event is a change that the broker reports to a policy.
type Event struct {
	Kind     EventKind
	Contract int32    // number of the contract concerned
	Part     int32    // index of the completed part, for Done
	Host     hosts.ID // host concerned, for Came and Gone
	Outcome  Outcome  // outcome of the contract, for Over
}

// An EventKind is the kind of an [Event].
type EventKind uint8

// Events.
const (
	Opened    EventKind = iota // the market opens; each host is initially present or absent
	Submitted                  // Contract was requested
	Freed                      // resources may have become free for waiting contracts
	Overdue                    // the hard deadline of Contract has passed while it waits for a decision
	Lost                       // a host has left with a task of Contract, which is now stopped on all hosts. The policy returns [Enqueue] to place it again; without it, the contract is broken
	Done                       // Part of the booked Contract has completed its work
	Withdrawn                  // the owner of the booked Contract cancels it. The policy returns [Release] to end it; without it, the contract continues
	Over                       // Contract has ended without an action of the policy; until the next Freed, the policy must not read the market
	Came                       // Host has arrived
	Gone                       // Host has left
	Tick                       // the time returned by Policy.Next has been reached
	Continue                   // the actions that the policy returned last have been carried out
)

// An Action is an instruction from a policy to the broker about a contract.
type Action struct {
	Verb     Verb
	Contract int32     // number of the contract
	Part     int32     // for Launch and Suspend: index in the booked placements, or All
	Place    int       // for Enqueue: index in the list of waiting contracts
	Due, Of  float64   // for Release: the owner owes the fraction Due / Of of the price, at most the whole price
	Decision *Decision // terms and reason for Admit, Book and Refuse, placements for Launch and Rebid of All, numbers for Announce

	Lose    bool    // for Suspend of All: whether the work done so far is lost
	Restore float64 // for Launch of All: extra work that each node does first, in seconds
}

// All is the part number that means all nodes of a contract that is not booked.
const All = -1

// A Verb is an action for the broker.
type Verb uint8

// Verbs.
const (
	Enqueue  Verb = iota // add the contract to the waiting list
	Admit                // hold the budget of the contract and start it on the placements of its Decision
	Book                 // hold the budget and reserve the hosts of the placements, one per part; the policy starts and ends the parts
	Refuse               // reject the contract; if it waits to be placed again, it is broken
	Launch               // start or resume a part of a booked contract, or start all nodes of another contract on new placements
	Suspend              // pause a part, or all nodes of a contract that is not booked; they can be resumed later
	Finish               // end all parts of a booked contract whose work is done
	Stop                 // kill a booked contract whose estimate is used up, even if its work is not done
	Release              // end a contract as cancelled: a booked contract owes a part of its price, any other contract its accrued charges
	Rebid                // replace the bids of a running contract with the bids of the Decision
	Announce             // record the result of an auction clearing (the numbers of the Decision) in the ledger
)

// A Market is the market as a policy sees it. Each contract has a number, which the broker
// reuses after the contract has ended. This number differs from the number in an [Allocation].
type Market interface {
	// Hosts returns the hosts, their prices and their allocations.
	Hosts() View

	// Waiting returns the contracts that wait for a decision, in the order set by Enqueue. The
	// slice is read-only and valid until a contract joins or leaves the waiting list.
	Waiting() []int32

	// Request returns the request of the contract with this number.
	Request(contract int32) *Request
}
