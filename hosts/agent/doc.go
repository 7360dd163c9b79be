// Package agent manages the tasks of one machine: it records the wanted tasks, runs them and
// measures them. It is independent of prices and users, and of the connection to its market.
//
// The market sends the [Agent] the wanted tasks ([Agent.Apply]). The agent kills running tasks
// that are not wanted and starts wanted tasks that have never had a folder. Orders describe a
// state rather than an action, so lost or repeated orders are harmless. A task name is started
// at most once, even if any process is killed at any time. [Agent.Serve] synchronizes the
// agent with a market on one goroutine. One Sync call is always in progress, and the next call
// reports all changes.
//
// Each task has a supervisor, a process of the same program ([Main]) that continues if the
// agent ends. The supervisor starts the command in isolation ([isolate]), waits for the command
// and all its descendants, enforces the deadline and the lease, and records how the command
// ended. The agent controls the supervisor through two files:
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
// A task whose folder exists is never started again. If the folder has neither a running
// supervisor nor exit.json, the task is Lost. A crash between any two steps can therefore only
// lose a task that has never run. No task runs twice.
//
// Usage is reported as totals since the start of the task. The reports are divided into spans,
// and each span has one allocation. The receiver subtracts the last total that it has booked.
// Repeated, late and lost spans therefore need no special treatment. When an agent starts, its
// first span starts where the last booked span of the previous agent ended. This span has the
// allocation that was in force between the two agents.
//
// An agent takes over a host if the session known to the market differs from the one in the
// agent's folder. The new agent starts no task during the first one and a half leases. After
// that time, all tasks of the other agent are paused, even if that agent has failed. When the
// other agent learns of its successor, it ends its tasks and then itself.
package agent
