// Package linux shares the processors of a Linux machine among groups of processes. A [Kernel]
// uses one of these mechanisms:
//
//	cgroup2  a subtree with the cpu controller: requires root or a delegated unit
//	cgroup1  the hierarchies cpu, cpuacct and freezer: requires root
//	signals  stop and continue: every 100 ms the groups that received least run and the others are stopped
//	none     no sharing; used only on request
//
// The files of groups stay open. Reading a hundred groups takes half a millisecond; opening the
// files each time would take four times as long. Existing libraries for control groups do not
// keep files open, and they convert weights by nonlinear formulas.
//
// Two kinds of processes use a Kernel: the process that shares the processors ([Open]) and the
// supervisor of each group ([Attach]). A supervisor continues to run if the sharing process
// ends, and a group continues to run if both end.
//
// The package is independent of users, payments and the network.
package linux
