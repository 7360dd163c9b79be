// Package broker carries contracts through their lives. It is told what happens, asks
// its policy what to do about it, and does that: it holds budgets, places contracts on
// the floor, and judges, bills and settles them when they end.
//
// A [Broker] has no clock, goroutine or lock, and calls nobody back. It does not know
// which policy it has, nor whether time is real.
//
// # First use
//
// The example is a whole market of one host. In short:
//
//	b := broker.New(config)
//	decision, err := b.Submit(now, &request, task) // accepted, rejected or deferred, and why
//	err = b.Advance(later)                         // all that happens until then
//	for _, c := range b.Ended() { ... }            // how each ended, and what it paid
//
// Errors mean that the run is void; that a request is turned away is a decision.
//
// # The path of one request
//
//  1. [Broker.Submit] enters it, in phase Asked, and tells the policy
//     [contracts.Submitted]. What users say goes to the policy; the task, which says how
//     much work there truly is, goes to machines alone.
//  2. The policy answers with actions, which Broker.do carries out: Refuse it, Enqueue
//     it to be decided later, or Admit it on the hosts of its [contracts.Decision]. (A
//     policy that plans ahead says Book, and later Launch, Suspend and Finish.)
//  3. If its owner can pay, the [Teller] holds the budget with the terms as a note
//     (phase Waiting), and the floor starts its tasks (phase Running).
//  4. [Broker.Advance] asks the floor what has happened since: tasks are done, limits
//     pass, hosts come and leave. Broker.ran looks at the run concerned. Work that may
//     go on after its deadline does; otherwise this is the end.
//  5. It is judged and billed by contracts/settlement; the Teller pays the owners of its
//     hosts and gives the rest back, with the verdict as a note; a penalty is paid in an
//     entry of its own. It is in [Broker.Ended] then, and the policy is told
//     [contracts.Over], if it has not ended the contract itself.
//  6. There is room now, so the policy is told [contracts.Freed], once an instant, and
//     may decide about those who wait.
//
// In calls, from the host's event to the ledger:
//
//	Broker.Advance → floor.Advance → Broker.ran → Broker.end
//	    → Case.Judge → Case.Bill → note.Verdict → Teller.Settle
//
// # What a policy is told
//
//	event                      who says so          the policy is told
//	the market opens           New                  Opened
//	Submit                     its owner            Submitted
//	Cancel                     its owner            Withdrawn, if it is booked; otherwise Over
//	a task is done, a limit    floor.Advance        Over, or Done if it is booked
//	a host comes, leaves       floor.Advance        Came, Gone; of what was on it Lost, or Over
//	a deadline of who waits    the broker's timers  Overdue
//	an instant that it named   Policy.Next          Tick
//	room, after any of these   the broker           Freed
//	its actions are done       the broker           Continue
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
// broken contract is a violated one; its delay is at least that of the work left undone.
//
// A hard deadline that passes while a request waits for a decision ends it there,
// unstarted, unless its policy looks after that itself: nothing was held.
//
// When the market closes ([Broker.Close]) what is accepted is unfinished and pays
// nothing.
//
// # Words
//
//	request     what is asked for, before it is decided
//	contract    a request that was accepted: its budget is held
//	run         the work of a contract, on the floor
//	allocation  one node of a run on a host
//	booked      promised places on hosts by its policy, which starts and ends it
//	part        of what is booked: a gang of its nodes, on one host; one or several
//	repeat      a contract whose host has left, to be placed again
//	phase       where a contract is in its life; outcome: how that ended
//	terms       what was agreed, as the ledger notes it; verdict: how it ended there
package broker
