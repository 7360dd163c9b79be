// Package agent keeps the tasks of one machine: what is wanted, what runs, and what was
// read of it. It does not know prices, users, or that there is a network.
//
// The [Agent] is told what is wanted ([Agent.Apply]) and makes it so: what runs and is
// not wanted is killed, what is wanted and was never there is started. Nothing is
// commanded once, so an order that is lost or comes twice changes nothing. A name is
// started once, whatever is killed when.
//
// Each task has a minder, a process of the same program ([Main]), which outlives the agent: it
// starts the command apart from others ([isolate]), gathers what the command leaves behind, keeps
// the deadline and the lease, and writes how it ended. The agent tells it what to do by
// two files:
//
//	lease              until when any task may run, unless the agent hears more
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
// Usage and spans are told as totals since the task began, together with the deal under
// which they were reached. Who is told takes differences to what he booked last: doubled,
// late and lost readings then need no care.
package agent
