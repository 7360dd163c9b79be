// Package agent manages the tasks of one machine: it stores which tasks are wanted, runs them
// and measures them. It is independent of prices and users, and of how its market is reached.
//
// The market sends the [Agent] the wanted tasks ([Agent.Apply]). The agent kills running
// tasks that are not wanted and starts wanted tasks that have never had a folder. Orders
// describe a state rather than an action, so lost or repeated orders are harmless. A name is
// started at most once, whichever process is killed at whatever time. [Agent.Serve]
// synchronizes the agent with a market, on one goroutine: one Sync call is always in
// progress, and its successor reports all changes.
//
// Each task has a supervisor, a process of the same program ([Main]) that survives the agent.
// It starts the command in isolation ([isolate]), waits for all of its descendants, enforces
// the deadline and the lease, and records how the command ended. The agent controls it through
// two files:
//
//	lease              until when tasks may run without contact to the agent; the allocation in force, and up to when usage is booked
//	session            how many agents the folder has had, and the last one that the market answered
//	blobs/             jobs and their files, by SHA-256
//	tasks/NAME/orders  until when this task may run, whether it is paused, and when to kill it
//
// All times are in seconds of CLOCK_BOOTTIME, which continues while the machine sleeps. The
// folder of a task also contains:
//
//	task.json  the request; written before anything is started
//	lock       locked by the supervisor while it exists
//	dir/       the command's own folder, in which it starts
//	out, err   the command's output, cut at a limit
//	exit.json  how the command ended
//	told       when the end was acknowledged; an hour later the folder is removed
//
// # Design
//
// A task whose folder exists is never started again. If it has neither a supervisor nor
// exit.json, it is Lost. A crash between any two steps therefore costs at most a task that
// never ran, and no task runs twice.
//
// Usage is reported as totals since the start of the task, in spans with one allocation each.
// The receiver computes differences to the last total that it booked, so repeated, late and
// lost spans need no special care. The next agent starts its first span where the last booked
// span ended, under the allocation that was in force in between.
//
// An agent takes over if its market has a session other than the one in its own folder. It
// starts nothing for one and a half leases. By then, all tasks of the other agent are paused,
// whatever happened to it. The other agent ends its tasks and itself when it learns of its
// successor.
package agent
