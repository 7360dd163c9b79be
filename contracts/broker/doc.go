// Package broker carries contracts through their lives: it asks the policy,
// holds the budget, places the bids, starts the tasks, deals out the hosts,
// meters what is charged, and settles.
//
// A [Broker] is advanced from outside and has no clock, goroutine or lock.
// Calls go down to market, hosts and bank; facts come back as return values.
// It does not know which policy it has, nor whether time is real. A policy that is a
// [contracts.Planner] says when contracts start and end; of any other they start when
// they are accepted, and end with their work or at their deadline.
//
// # Design
//
// Rates change only when a task comes or goes on a host, so the broker touches
// just the hosts concerned, deals them out again, and looks again at the
// contracts whose rate has changed. Contracts wait in an agenda for the earlier
// of completion and deadline; hosts wait in another one for the completion of
// tasks that are judged by themselves. A contract that has ended leaves its
// place to the next, so memory is that of the contracts active at once.
//
// Hosts that come and go ([Presence]) wait in a third agenda. What happens at one
// instant happens in the order completions, deadlines, hosts that come or leave,
// steps of a planner, the queue: a task that ends just when its host leaves is done.
// When a host leaves, by its rule
//
//   - suspend: its tasks stand still until it is back, and nothing accrues;
//   - lost: they are gone with their work. A contract judged as a whole goes on with
//     its other nodes; one whose nodes are promised one by one, or that has none
//     left, is broken and settled there and then;
//   - resubmit: the contracts stop on all hosts and all their work is lost. They keep
//     their ids and escrows, are not held again, and are put to the policy as
//     repeats. A repeat that is refused waits, and is asked for again whenever
//     something changes. It is broken if it still waits at its deadline, hard or soft,
//     or is refused because it cannot end in time; late already, it is broken at once.
//
// What had accrued on lost work is forgotten, or stays owed if it is Charged. A
// broken contract is a violated one; its delay is that of the work left undone.
//
// When the market closes ([Broker.Close]) what is open is cancelled and pays nothing.
package broker
