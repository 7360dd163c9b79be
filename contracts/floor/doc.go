// Package floor runs contracts on hosts. It manages the hosts, the auction of each host and
// the placement of each contract. Callers place and remove runs; Advance returns the resulting
// events.
//
// # First use
//
//	var f floor.Floor
//	f.Reset(config)
//	run, err := f.Place(now, &request, task, placements, until)
//	for at := f.Next(); at <= now; at = f.Next() {
//		for _, e := range f.Advance(at) { ... } // Expired: f.Remove or f.Extend
//	}
//
// The package is independent of accounts, amounts of money, policies and promises. The
// [Tariff] sets the charge per second, which accrues here as a float64. Package settlement
// converts the accrued sum to money.
//
// A run is the work of one contract. It is active from Place to Remove. In between it may be
// on no host, but it keeps its number and its limit. This happens in two cases:
//
//   - A host has left ([Lost]); [Floor.PlaceAgain] places the run again.
//   - The run is booked: it occupies its hosts only while the caller says so ([Floor.Book],
//     [Floor.Resume], [Floor.Pause]).
//
// # The path of one run
//
//  1. [Floor.Place] numbers the run. On each of its hosts it enters a bid in the auction and
//     starts a task on the machine.
//  2. Place marks those hosts. Before time advances, [Floor.Next] has the sharing rule
//     reallocate each marked host, sends the new shares to the machine, reads the rate of each
//     task and computes the charges. The heap then holds the run's completion time.
//  3. [Floor.Advance] processes the earliest items of the heaps and returns them as events
//     ([Done], [Left], [Expired] and others). It first meters each affected host, adding the
//     work and charges since the last update to the host's allocations.
//  4. A run that is done has already been removed. Its placements hold the work done and the
//     amount owed on each node ([Floor.Contract]). The caller removes or extends an expired
//     run.
//
// # Design
//
// Rates change only when a task starts or stops on a host or changes its bid. Such a change
// marks the host. Each marked host is reallocated once, before time advances or a caller reads
// the host, regardless of the number of changes at that time. The cost of an event is
// therefore proportional to the number of hosts it affects.
//
// If the nodes of a run share one total of work, the run has one item in the event heap, for
// its completion or its limit, whichever is earlier. If each node has its own work, the run
// has an item only for its limit. A second heap then contains its hosts, ordered by the
// completion of their tasks. A third heap contains the hosts that come and go. Events at the
// same time are processed in the order tasks, runs, hosts. A task that ends at the time its
// host leaves therefore counts as done. The heaps and the hosts' price order are derived
// state; [Floor.Recall] rebuilds them.
//
// The progress of a metered machine, such as a remote host that runs real programs, cannot be
// predicted. For these machines the floor does not integrate rates. [Floor.Read] records the
// measured work and charges it at the bids and the price in force when it was done. The
// machine also reports when tasks end.
//
// # Terms
//
//	host        a machine, its auction and its tasks
//	run         the work of one contract; it has a number and may temporarily have no hosts
//	node        one of the hosts of a run
//	allocation  one node of a run: its bid, share, rate, work done and amount owed
//	limit       the time at which Advance reports a run as Expired
//	booked      scheduled in gangs: all nodes of a part are one task on one host, which
//	            starts when the caller says so
//	touch       to meter a host and mark it for reallocation
package floor
