// Package linux shares the processors of one Linux machine among groups of processes:
// one [Kernel], whatever the machine has to do it by.
//
//	cgroup2  a subtree with cpu among its controllers: root, or a unit that is delegated
//	cgroup1  root, and the hierarchies cpu, cpuacct and freezer
//	signals  nothing: every 100 ms the groups that got least run, the others stand
//	none     nothing, and nothing is shared; it is asked for by name
//
// Their files stay open: a hundred groups are read in half a millisecond, where opening
// the files each time takes four times that. The libraries that keep groups open none, and convert
// weights by formulas that are not linear.
//
// Two processes use one Kernel: who shares ([Open]) and, for each group, its minder
// ([Attach]), which outlives the other. Groups outlive both.
//
// The package does not know who asked, what is paid, or that there is a network.
package linux
