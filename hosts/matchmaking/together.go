package matchmaking

import (
	"cmp"
	"slices"

	"bourse/hosts/timetable"
)

// An Order asks for several gangs on distinct clusters with one common start.
// The paper mentions such co-reservations without an algorithm.
type Order struct {
	ID       int64
	Arrival  int64
	Earliest int64 // t
	Deadline int64 // d, by which every part must have ended
	Parts    []Part
	Step     int64 // seconds between further starts to try from Earliest on; 0 is none
}

// A Part of an order is one gang.
type Part struct {
	Nodes    int
	Estimate int64 // seconds at reference speed
}

// A Venue is a seller that also says when something on it begins or ends.
type Venue interface {
	Seller

	// Speed returns the cluster's speed in permille of the reference speed.
	Speed() int64

	// Instants appends every estimated end of a running job and every planned
	// start and end to out.
	Instants(out []int64) []int64
}

// Together finds the earliest common start in [max(now, t), d] at which pick
// finds a seller for every part, the widest first, each on a seller of its own,
// and returns one choice a part, in the order of the parts. The quotes hold for
// now: with all of them committed the starts stay equal for ever, since parts
// have no laxity. The starts tried are those at which something changes.
//
// The parts are as jobs of the order's id: pick sees reservations without
// laxity, on a window of the sellers not used yet. With mli, ties must go to
// the index, as a part's own completion does not matter.
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

// after returns the common start to try after s, Forever if there is none:
// the next instant at which something changes, or the next on the grid.
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

// placeAt fills in choices for a common start, or reports false.
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

// exactly is a seller asked for one start only: the deadline that it sees
// leaves no laxity at its own speed.
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
