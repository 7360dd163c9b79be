// Package floor is where contracts run: hosts, the auction of each, and who is
// where. It is told what to place and remove, and answers with what has happened.
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
// It knows no account and no amount of money, no policy and no promise. What a task
// is charged per second is a rule of the auction ([Tariff]) and accrues here as a
// float64; settlement makes money of it.
//
// A run is a contract's work. It is on hosts from Place to Remove; in between it may
// be off them, and keeps its number and its limit: because a host has left ([Lost])
// until it is placed again ([Floor.PlaceAgain]), or because it is booked, and only
// there when it is told so ([Floor.Book], [Floor.Resume], [Floor.Pause]).
//
// # The path of one run
//
//  1. [Floor.Place] gives it a number and, on each of its hosts, enters its bid in the
//     auction and starts its task on the machine.
//  2. Those hosts are marked. Before time passes, [Floor.Next] lets the sharing rule
//     allocate each anew, tells the machine the shares, asks it how fast each task now
//     is, and lets the tariff say what each is charged; the heap then has the instant
//     at which the run will be done.
//  3. [Floor.Advance] lets what is first in the heaps happen, and returns it as events:
//     [Done], [Left], [Expired] and so on. Each host that it touches is metered first:
//     work and dollars up to now are added up in its allocations.
//  4. A run that is done has been removed: what was done and is owed on each node is in
//     its placements, where whoever settles it finds it ([Floor.Contract]). One that
//     has expired is the caller's to remove or extend.
//
// # Design
//
// Rates change only when a task starts or stops on a host, or bids anew. A change
// marks the host; before time passes, or anybody looks, each marked host is allocated
// anew, once for all changes of an instant, and the runs whose rate has changed are
// looked at again. So an event costs the hosts that it touches and no more.
//
// A run whose nodes work towards one sum waits in one event heap for its completion
// or its limit, whichever is first; a run whose nodes each have their own work waits
// there for its limit only, and its hosts in a second heap for their tasks. Hosts
// that come and go wait in a third. What happens at one instant happens in the order
// tasks, runs, hosts: a task that ends just when its host leaves is done. Heaps and
// the order of hosts by price follow from the rest and are rebuilt by [Floor.Recall].
//
// What a machine does that is metered nobody can predict: a host elsewhere, which runs
// programs. There nothing is added up by rates. [Floor.Read] books what was measured, by
// the bids and the price of the deal under which it was done, and tasks end when the
// machine says so.
//
// # Words
//
//	host        a machine with its auction and what is on it
//	run         a contract's work, with a number, on hosts or off them for a while
//	node        one of the hosts of a run
//	allocation  a node of a run on its host: bid, share, rate, what is done and owed
//	limit       the instant at which a run is told of as Expired
//	booked      in gangs: all nodes of one part are one task on one host, started when told so
//	touch       to meter a host and mark it to be allocated anew
package floor
