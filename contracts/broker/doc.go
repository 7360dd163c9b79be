// Package broker manages contracts from their submission to their settlement. Callers notify a
// [Broker] of events. The broker asks its policy for actions and carries them out. It holds
// budgets, places contracts on the floor, and judges, bills and settles contracts when they
// end.
//
// A [Broker] has no clock, goroutine or lock. It is independent of the policy used, and of
// whether time is simulated or real.
//
// # First use
//
// The example is a complete market with one host. In short:
//
//	b := broker.New(config)
//	decision, err := b.Submit(now, &request, task) // accepted, rejected or deferred, and why
//	err = b.Advance(later)                         // all that happens until then
//	for _, c := range b.Ended() { ... }            // how each ended, and what it paid
//
// An error means that the run is invalid and must stop. A rejected request is not an error.
//
// # The path of one request
//
//  1. [Broker.Submit] enters the request in phase Asked and notifies the policy of
//     [contracts.Submitted]. The policy sees only the user's statements. The task, which has
//     the true work, goes only to the machines.
//  2. The policy returns actions, which Broker.do carries out: Refuse the request, Enqueue it
//     to be decided later, or Admit it on the hosts of its [contracts.Decision]. (A policy
//     that plans ahead returns Book, and later Launch, Suspend and Finish.)
//  3. If the owner can pay, the [Teller] holds the budget with the terms as a note (phase
//     Waiting), and the floor starts the tasks (phase Running).
//  4. [Broker.Advance] processes the events of the floor: tasks complete, limits pass, hosts
//     arrive and leave. Broker.ran handles the run concerned. Work that may continue after its
//     deadline continues; otherwise the contract ends.
//  5. contracts/settlement judges and bills it. The Teller pays the owners of its hosts and
//     refunds the rest, with the verdict as a note. A penalty is a separate entry. The
//     contract is now in [Broker.Ended], and the policy is notified of [contracts.Over] unless
//     it ended the contract itself.
//  6. There is room now. The policy is notified of [contracts.Freed], once per point in time,
//     and may decide about waiting requests.
//
// The call path from an event on a host to the ledger:
//
//	Broker.Advance → floor.Advance → Broker.ran → Broker.end
//	    → Case.Judge → Case.Bill → note.Verdict → Teller.Settle
//
// # Events of a policy
//
//	what happens                 source               the policy receives
//	the market opens             New                  Opened
//	Submit                       the owner            Submitted
//	Cancel                       the owner            Withdrawn, if booked; otherwise Over
//	a task ends, a limit passes  floor.Advance        Over, or Done if booked
//	a host arrives or leaves     floor.Advance        Came, Gone; Lost or Over for its contracts
//	a waiting request expires    the broker's timers  Overdue
//	a time set by the policy     Policy.Next          Tick
//	room, after any of these     the broker           Freed
//	its actions are done         the broker           Continue
//
// # Design
//
// A contract is in one [contracts.Phase], and each change of phase corresponds to a line of
// [contracts.Moves]. Undecided requests and contracts to be placed again wait in one list, in
// the order that the policy sets. A deadline is usually the limit of a run on the floor.
// Completions and deadlines at the same time therefore have a defined order. Only the deadline
// of a request without a run is a timer of the broker.
//
// Events at the same time are processed in this order: completions, deadlines, hosts that
// arrive or leave, deadlines of waiting requests, renewals of bids, ticks of the policy.
// Afterwards the policy is notified that resources may be free. When a host leaves, the
// configured rule determines what happens to its tasks:
//
//   - suspend: its tasks pause until it is back, and no charges accrue;
//   - lost: its tasks and their work are lost. A contract judged as a whole continues with its
//     other nodes. A contract whose nodes are promised separately, or that has no node left,
//     is broken and settled at once;
//   - resubmit: the affected contracts stop on all hosts, and all their work is lost. They
//     keep their IDs and escrows, and the policy receives them as repeats. A rejected repeat
//     waits and is proposed again whenever there may be room. It is broken if it still waits
//     at its deadline, hard or soft, or if the policy rejects it because it cannot end in
//     time. A contract that is already late is broken at once.
//
// Charges accrued for lost work are dropped, or remain owed if Availability.Charged is set. A
// broken contract counts as violated. Its delay is at least the time that the undone work
// would take.
//
// If a hard deadline passes while a request waits for a decision, the request ends unstarted,
// unless its policy handles the deadline itself. No money was held in escrow for such a
// request.
//
// When the market closes ([Broker.Close]), accepted contracts become unfinished and pay
// nothing.
//
// # Terms
//
//	request     what a user submits, before it is decided
//	contract    an accepted request, whose budget is held
//	run         the work of a contract, on the floor
//	allocation  one node of a run on a host
//	booked      reserved on hosts by its policy, which starts and ends it
//	part        a gang of nodes of a booked contract, on one host; there may be several
//	repeat      a contract whose host has left and which must be placed again
//	phase       stage in the life of a contract; its outcome says how that ended
//	terms       the agreement as the ledger notes it; the verdict notes how it ended
package broker
