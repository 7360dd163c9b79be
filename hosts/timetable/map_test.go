package timetable

import (
	"cmp"
	"slices"
)

// A Slot is the time and the nodes of a running or planned job.
type Slot struct {
	Job   int64
	Start int64
	End   int64   // estimated end
	Nodes []int32 // in ascending order
}

// Map returns the slots of running jobs, in order of id, followed by those of planned jobs in
// order of start, on the nodes that they receive if the plan is followed.
func (b *Book) Map() []Slot {
	slots := make([]Slot, 0, len(b.running)+len(b.plan))
	for _, e := range b.running {
		slots = append(slots, Slot{e.ID, e.start, e.end, slices.Clone(e.nodes)})
	}
	busy := slices.Clone(slots) // running jobs, sorted by end below
	slices.SortFunc(busy, byEnd)
	due := make([]Slot, len(b.plan))
	for i, e := range b.plan {
		due[i] = Slot{Job: e.ID, Start: b.slots[i].from, End: b.slots[i].to}
	}
	slices.SortStableFunc(due, func(a, b Slot) int { return cmp.Compare(a.Start, b.Start) })
	ns := nodes{lastEnd: slices.Clone(b.nodes.lastEnd), idle: slices.Clone(b.nodes.idle)}
	for _, s := range due {
		for len(busy) > 0 && busy[0].End <= s.Start {
			ns.release(busy[0].Nodes, busy[0].End)
			busy = busy[1:]
		}
		s.Nodes = ns.take(b.byID[s.Job].Nodes, nil)
		i, _ := slices.BinarySearchFunc(busy, s, byEnd)
		busy = slices.Insert(busy, i, s)
		slots = append(slots, s)
	}
	return slots
}

func byEnd(a, b Slot) int { return cmp.Compare(a.End, b.End) }
