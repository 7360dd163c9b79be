package matchmaking

import (
	"cmp"
	"slices"

	"bourse/hosts/timetable"
)

// An Order requests several gangs on different clusters with a common start. The paper mentions
// such co-reservations without an algorithm.
type Order struct {
	ID       int64
	Arrival  int64
	Earliest int64 // earliest common start (t)
	Deadline int64 // deadline of every part (d)
	Parts    []Part
	Step     int64 // interval, in seconds, of additional starts to try from Earliest on; 0 means none
}

// A Part of an order is one gang.
type Part struct {
	Nodes    int
	Estimate int64 // seconds at reference speed
}

// A Venue is a seller that also lists the times at which its jobs start and end.
type Venue interface {
	Seller

	// Speed returns the cluster's speed in permille of the reference speed.
	Speed() int64

	// Instants appends to out the estimated end of each running job and the planned start and
	// end of each planned job.
	Instants(out []int64) []int64
}

// Together finds the earliest common start in [max(now, t), d] at which pick finds a different
// seller for every part, starting with the widest part. It returns one choice per part, in the
// order of the parts. The quotes are valid at now. If all are committed, the starts remain
// equal, because the parts have no laxity. Together tries only starts at which the state of a
// seller changes.
//
// Pick receives each part as a reservation without laxity with the order's id, and a window of the
// sellers not used yet. With mli, ties must go to the index, because the completion of a single
// part does not matter.
func Together(now int64, o Order, window []Venue, pick Matchmaker) ([]Choice, bool) {
	if len(o.Parts) > len(window) || len(o.Parts) == 0 {
		return nil, false
	}
	widest := make([]int, len(o.Parts))
	for i := range widest {
		widest[i] = i
	}
	slices.SortStableFunc(widest, func(a, b int) int { return cmp.Compare(o.Parts[b].Nodes, o.Parts[a].Nodes) })

	var instants []int64
	for _, v := range window {
		instants = v.Instants(instants)
	}
	slices.Sort(instants)
	choices := make([]Choice, len(o.Parts))
	for s := max(now, o.Earliest); s <= min(o.Deadline, timetable.Horizon); s = o.after(s, instants) {
		if o.placeAt(now, s, widest, window, pick, choices) {
			return choices, true
		}
	}
	return nil, false
}

// after returns the next common start to try after s, or Forever if there is none. It is the next
// time at which a seller changes, or the next one on the grid.
func (o *Order) after(s int64, instants []int64) int64 {
	next := int64(timetable.Forever)
	if i, _ := slices.BinarySearch(instants, s+1); i < len(instants) {
		next = instants[i]
	}
	if o.Step > 0 {
		grid := o.Earliest + ((s-o.Earliest)/o.Step+1)*o.Step
		next = min(next, grid)
	}
	return next
}

// placeAt sets choices for a common start. It returns false if a part cannot be placed.
func (o *Order) placeAt(now, start int64, widest []int, window []Venue, pick Matchmaker, choices []Choice) bool {
	left := make([]int, len(window))
	for i := range left {
		left[i] = i
	}
	for _, p := range widest {
		sellers := make([]Seller, len(left))
		for i, at := range left {
			sellers[i] = exactly{window[at], start, o.Deadline}
		}
		c, ok := pick.Match(now, timetable.Job{
			ID: o.ID, Kind: timetable.Advance, Arrival: o.Arrival, Earliest: start, Deadline: o.Deadline,
			Estimate: o.Parts[p].Estimate, Nodes: o.Parts[p].Nodes,
		}, sellers)
		if !ok {
			return false
		}
		i := c.Seller
		c.Seller = left[i]
		choices[p] = c
		left = slices.Delete(left, i, i+1)
	}
	return true
}

// exactly is a seller that is tried for a single start. It sets the deadline of each job so that
// the job has no laxity at the seller's speed.
type exactly struct {
	Venue
	start, deadline int64
}

func (e exactly) Quote(now int64, j timetable.Job) timetable.Quote {
	j.Deadline = e.start + timetable.Span(j.Estimate, e.Speed())
	if j.Deadline > e.deadline {
		return timetable.Quote{Job: j, Reason: timetable.TooLong, At: now}
	}
	return e.Venue.Quote(now, j)
}
