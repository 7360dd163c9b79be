// Package admission contains the admission policies, one per file. For each request, a policy
// reads the market through a read-only view and decides to accept, reject or defer the
// request. It also reports the reason and the numbers on which the decision is based.
//
// The package is independent of how decisions are carried out. A policy never sees a job's
// true work, only the estimate in its request.
//
// # First use
//
// [Policies] returns the policies by name, with their constructors. The function decode fills
// in a policy's options. The broker notifies the policy of events and carries out the actions
// it returns. For the shortest example of a policy, read be.go (70 lines).
//
// # The path of one request
//
//  1. The broker sends the policy the event [contracts.Submitted]. Most policies consist of a
//     [contracts.Decider] and an adapter that receives the event. [Immediate] asks the decider
//     at once; [Queued] puts the request in its queue.
//  2. Decide examines the view. The bidding strategy proposes hosts and bids, or the policy
//     chooses hosts itself. Then the policy applies its test. Decide changes nothing in the
//     market.
//  3. The result is a [contracts.Decision]: an acceptance with one placement per node, a
//     rejection with a [contracts.Reason], or Defer. It contains the numbers on which the
//     decision is based, and the ledger records them.
//  4. The adapter converts the decision into an action, Admit or Refuse. A deferred request
//     waits; the adapter asks about it again when the broker sends [contracts.Freed].
//
// Two policies of other packages plan ahead and implement [contracts.Policy] themselves:
// reserve, which keeps books of clusters, and queue, which examines its jobs at regular times.
//
// # Example
//
// For example, a request has a budget of 100 $, a deadline in 100 s and one node, so it bids 1
// $/s. On a host of 4 processors where other bids add up to 3 $/s, it would receive a share of
// 1/4, which is one processor. Policy be admits it. By default, policy sac also requires a
// share of 1/(1+4) at the price that is not exceeded with probability 0.6, so that price must
// be at most 4 $/s. Policy cac also checks that each other contract on the host would still
// finish by its deadline.
//
// # Adding a policy
//
// To add a policy, write a file with its type and Decide method. The file also needs an
// options struct with documenting tags, a constructor that checks the options, and constants
// for its own reasons. List the numbers that the policy reports in the comment of Decide. Then
// add a line to the table in admission.go. No other code needs to change. A new package of
// policies needs a function Policies, like the one in this package, and an entry in the table
// of package policies.
//
// # Files
//
//	be, sac, cac, rac  the market's policies
//	classes            the options of these, for policies that choose among them
//	fulfilment         learns from outcomes, for sac and cac
//	ask                the adapters
//	view               what policies ask of hosts
//
// The other policies are packages inside this one:
//
//	mixed    class, adaptive, partition: combinations of the market's policies
//	libra    libra, librarisk, librasla: shares of hosts by deadline
//	queue    fcfs, edf, easy: one task per processor; queue: volunteers
//	reserve  reservations in books of clusters
//
// # Terms
//
//	decider   accepts, rejects or defers one request at a time
//	reason    why a request was rejected, in words shown in the ledger and in tables
//	numbers   the prices, shares and sums on which a decision is based
//	defer     not yet: ask again when there may be room
//	suitable  (of a host) able to run a task of the request
package admission
