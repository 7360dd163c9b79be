package timetable

import (
	"cmp"
	"slices"
)

// nodes says which nodes are idle, and since when. It never decides whether a
// job fits: spans whose counts fit can always be given nodes in start order.
type nodes struct {
	lastEnd []int64 // one per node: end of its previous job
	idle    []int32 // in no order, as a rule nearly that of Choose
}

func (ns *nodes) init(n int) {
	ns.lastEnd = make([]int64, n)
	ns.idle = make([]int32, n)
	for i := range ns.idle {
		ns.idle[i] = int32(i)
	}
}

// take appends n idle nodes to out, rising, and marks them busy.
func (ns *nodes) take(n int, out []int32) []int32 {
	out = append(out, Choose(ns.lastEnd, ns.idle, n)...)
	ns.idle = slices.Delete(ns.idle, 0, n)
	slices.Sort(out)
	return out
}

// release marks the nodes of a job that ended at now as idle.
func (ns *nodes) release(ids []int32, now int64) {
	for _, id := range ids {
		ns.lastEnd[id] = now
	}
	ns.idle = slices.Insert(ns.idle, 0, ids...) // where sorting leaves them
}

// Choose returns the n of the idle nodes to give to a job: those that were busy
// latest, so that the smallest gaps are left behind, ties to the lowest id. It
// sorts idle and returns its head. LastEnd holds one instant per node of the
// cluster, the end of its previous job.
func Choose(lastEnd []int64, idle []int32, n int) []int32 {
	if n > len(idle) {
		panic("timetable: more nodes taken than are idle")
	}
	slices.SortFunc(idle, func(a, b int32) int {
		if c := cmp.Compare(lastEnd[b], lastEnd[a]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	return idle[:n]
}
