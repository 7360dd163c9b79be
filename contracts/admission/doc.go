// Package admission holds the admission policies, one to a file: given a request and a
// read-only view of the market, each says yes, no or later, why, and by which numbers.
//
// It does not know how decisions are carried out, nor what a job truly needs.
//
// # First use
//
// [New] makes a policy by its name; decode fills in its options. The broker tells it what
// happens and does what it answers. To see one decide, read be.go, 60 lines.
//
// # The path of one request
//
//  1. The broker tells the policy [contracts.Submitted]. Most policies are made of a
//     [contracts.Decider] and an adapter, which hears it: [Immediate] asks the decider at
//     once, [Queued] puts the request in its queue.
//  2. Decide looks at the view: the bidding strategy proposes hosts and bids, or the
//     policy looks for hosts itself; then it applies its test. It changes nothing.
//  3. The [contracts.Decision] is an acceptance with one placement a node, a rejection
//     with a [contracts.Reason], or Defer. It carries the numbers that decided, as the
//     ledger will show them.
//  4. The adapter makes an action of it, Admit or Refuse. What is deferred waits, and is
//     asked about again when the broker says [contracts.Freed].
//
// Two policies plan ahead and so speak [contracts.Policy] themselves: reserve, which keeps
// books of clusters, and queue, which looks at its jobs at regular instants.
//
// # A new policy
//
// Write a file: the type with its Decide, its options as a struct whose tags document
// them, a constructor that checks them, its own reasons as constants, and its numbers,
// listed at Decide. Add its line to the table in admission.go. Nothing else has to know.
//
// # Files
//
//	be, sac, cac, rac, class      the market's policies
//	libra, librarisk, librasla    deadline policies; projection and risk are what
//	                              librarisk computes by
//	edf, fcfs, easy               queues of one task a processor; idle knows free hosts
//	reserve, reserving, book,     reservations
//	pricing
//	queue                         volunteers
//	ask, placing                  the adapters; choosing among hosts
//
// # Words
//
//	decider   says yes, no or later of one request at a time
//	reason    why not, in words that the ledger and tables show
//	numbers   by which it was decided: prices, shares, sums
//	defer     not yet: ask again when there may be room
//	suitable  of a host: it would do for a task of the request
package admission
