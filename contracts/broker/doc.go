// Package broker carries contracts through their lives. It is told events, asks its
// policy, and does what that answers: the budget is held, the contract placed on the
// floor, its end judged, billed and settled.
//
//	event                    who says so             what follows
//	Submit                   its owner               policy: Submitted
//	Cancel                   its owner               policy: Withdrawn, if it is booked; the end
//	a task is done, a limit  floor.Advance           the end, or it goes on; policy: Over, or Done if it is booked
//	a host comes, leaves     floor.Advance           policy: Came, Gone; of its contracts: Lost, or the end
//	a deadline of who waits  the broker's timers     policy: Overdue
//	an instant               Policy.Next             policy: Tick
//	room after any of these  the broker              policy: Freed, once an instant
//
// A [Broker] has no clock, goroutine or lock, and calls nobody back. It does not know
// which policy it has, nor whether time is real.
//
// # From a request to its settlement
//
// [Broker.Submit] enters the request and tells the policy, which answers by an action:
// Admit, Book, Refuse or Enqueue. Broker.do carries it out; an admission holds the
// budget with the [Teller], and its run is placed on the floor. Time passes
// there. [Broker.Advance] takes what has happened to the end:
//
//	Broker.Advance → floor.Advance → Broker.ran → Broker.end
//	    → Case.Judge → Case.Bill → note.Verdict → Teller.Settle
//
// # Design
//
// A contract is in one [contracts.Phase], and every change of it is a line of
// [contracts.Moves]. What is not decided, or is to be placed again, waits in one list,
// in the order that the policy gave. A deadline stands on the floor, as a limit of the
// run, so that completions and deadlines of one instant are in one order; only of what
// has no run yet it stands here.
//
// What happens at one instant happens in the order completions, deadlines, hosts that
// come or leave, deadlines of who waits, ticks of the policy; then the policy is told
// that there is room. When a host leaves, by its rule
//
//   - suspend: its tasks stand still until it is back, and nothing accrues;
//   - lost: they are gone with their work. A contract judged as a whole goes on with
//     its other nodes; one whose nodes are promised one by one, or that has none
//     left, is broken and settled there and then;
//   - resubmit: the contracts stop on all hosts and all their work is lost. They keep
//     their ids and escrows, are not held again, and are put to the policy as
//     repeats. A repeat that is refused waits, and is asked for again whenever
//     there may be room. It is broken if it still waits at its deadline, hard or soft,
//     or is refused because it cannot end in time; late already, it is broken at once.
//
// What had accrued on lost work is forgotten, or stays owed if it is Charged. A
// broken contract is a violated one; its delay is that of the work left undone.
//
// A hard deadline that passes while a request waits for a decision ends it there,
// unstarted, unless its policy looks after that itself: nothing was held.
//
// When the market closes ([Broker.Close]) what is accepted is unfinished and pays
// nothing.
//
// # Words
//
//	request   what is asked for, before it is decided
//	contract  a request that was accepted: its budget is held
//	run       the work of a contract, on the floor
//	allocation  one node of a run on a host
//	booked    promised a place on a host by its policy, which starts and ends it
//	repeat    a contract whose host has left, to be placed again
//	placed, admitted, refused: as the table of moves says
package broker
