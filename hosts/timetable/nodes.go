package timetable

import (
	"cmp"
	"slices"
)

// nodes tracks which nodes are idle, and since when. It does not decide whether a job fits: if
// the number of free nodes suffices for all slots, nodes can always be assigned to the slots in
// order of start.
type nodes struct {
	lastEnd []int64 // for each node, the end of its previous job
	idle    []int32 // unordered, but usually almost in the order of Choose
}

func (ns *nodes) init(n int) {
	ns.lastEnd = make([]int64, n)
	ns.idle = make([]int32, n)
	for i := range ns.idle {
		ns.idle[i] = int32(i)
	}
}

// take appends n idle nodes to out in ascending order and marks them as busy.
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
	ns.idle = slices.Insert(ns.idle, 0, ids...) // their position after sorting
}

// Choose returns the n idle nodes to allocate to a job. They are the nodes that became idle last,
// so that the remaining gaps are small. Ties are resolved by the lowest id. It sorts idle and
// returns its first n elements. LastEnd contains, for each node of the cluster, the end of its
// previous job.
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
