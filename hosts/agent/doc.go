// Package agent keeps the tasks of one machine: what is wanted, what runs, and what was
// read of it. It does not know prices or users, nor how its market is reached.
//
// The [Agent] is told what is wanted ([Agent.Apply]) and makes it so: what runs and is
// not wanted is killed, what is wanted and was never there is started. Nothing is
// commanded once, so an order that is lost or comes twice changes nothing. A name is
// started once, whatever is killed when. [Agent.Serve] keeps it up with a market, on one
// goroutine: one Sync is always under way, and tells all that is new when it is answered.
//
// Each task has a minder, a process of the same program ([Main]), which outlives the agent: it
// starts the command apart from others ([isolate]), gathers what the command leaves behind, keeps
// the deadline and the lease, and writes how it ended. The agent tells it what to do by
// two files:
//
//	lease              until when any task may run, unless the agent hears more; the deal that
//	                   stands, and up to when what was used is booked
//	session            how many agents the folder has had, and the one that was heard last
//	blobs/             jobs and their files, by SHA-256
//	tasks/NAME/orders  until when this one may, whether it stands, when to kill it
//
// All instants are seconds of CLOCK_BOOTTIME, which goes on while the machine sleeps. The
// rest of the folder of a task:
//
//	task.json  what was asked; written before anything is started
//	lock       held by the minder, and by nobody when it is gone
//	dir/       the command's own folder, where it starts
//	out, err   what it printed, cut at a limit
//	exit.json  how it ended
//	told       when that was acknowledged; an hour later the folder is removed
//
// # Design
//
// A folder, once it is there, is never started again: one without a minder and without
// exit.json is Lost. So a kill between any two steps costs at most a task that never ran, and
// none runs twice.
//
// Usage is told as a total since the task began, in spans in each of which one deal stood.
// Who is told takes differences to what he booked last: doubled, late and lost spans then
// need no care. The next agent begins its first span where the last that it knows to be
// booked ended, under the deal that stood in the meantime.
//
// An agent that finds another's session at its market, and not that of its own folder, takes
// over: it begins nothing for half as long again as a lease. By then what the other runs
// stands, whatever became of it; and the other ends it, and itself, when it hears of this.
package agent
