package timetable

import (
	"cmp"
	"fmt"
	"math"
)

// Kind says whether a job has a deadline to be met.
type Kind int8

// Kinds of jobs.
const (
	Advance  Kind = iota // AR: an advance reservation
	OnDemand             // OD: as soon as possible, planned after the reservations
)

// String returns "AR" or "OD".
func (k Kind) String() string {
	if k == OnDemand {
		return "OD"
	}
	return "AR"
}

// Forever is the deadline of a job that has none.
const Forever = math.MaxInt64

// Horizon is the latest instant and the longest span that a job may name,
// about 2,000 years: sums of them stay far from overflow.
const Horizon = 1 << 36

// A Job is what a user says of a rigid parallel job. All its nodes are taken
// and released together.
type Job struct {
	ID       int64 // unique on its cluster
	Kind     Kind
	Arrival  int64 // a, the second of the request
	Earliest int64 // t >= a, it may not start before
	Deadline int64 // d, it must end by then; Forever if it has none
	Estimate int64 // q >= 1, its runtime at reference speed as its user sees it
	Nodes    int   // n >= 1
}

// Validate returns an error that names the field at fault, if there is one. It
// does not ask whether the job fits anywhere.
func (j *Job) Validate() error {
	switch {
	case j.Kind != Advance && j.Kind != OnDemand:
		return fmt.Errorf("job %d: kind %d, want AR or OD", j.ID, j.Kind)
	case j.Arrival < 0 || j.Arrival > Horizon:
		return fmt.Errorf("job %d: arrival %d, want 0 to %d", j.ID, j.Arrival, int64(Horizon))
	case j.Earliest < j.Arrival || j.Earliest > Horizon:
		return fmt.Errorf("job %d: earliest start %d, want %d (its arrival) to %d", j.ID, j.Earliest, j.Arrival, int64(Horizon))
	case j.Deadline != Forever && (j.Deadline < 0 || j.Deadline > 3*Horizon):
		return fmt.Errorf("job %d: deadline %d, want 0 to %d or none", j.ID, j.Deadline, int64(3*Horizon))
	case j.Kind == Advance && j.Deadline == Forever:
		return fmt.Errorf("job %d: a reservation without a deadline", j.ID)
	case j.Estimate < 1 || j.Estimate > Horizon:
		return fmt.Errorf("job %d: estimate %d, want 1 to %d", j.ID, j.Estimate, int64(Horizon))
	case j.Nodes < 1 || j.Nodes > MaxNodes:
		return fmt.Errorf("job %d: %d nodes, want 1 to %d", j.ID, j.Nodes, MaxNodes)
	}
	return nil
}

// compare orders jobs by key: (deadline, earliest start, arrival, id). Those
// without a deadline follow in order of arrival.
func compare(a, b *Job) int {
	return cmp.Or(
		cmp.Compare(a.Deadline, b.Deadline),
		cmp.Compare(a.Earliest, b.Earliest),
		cmp.Compare(a.Arrival, b.Arrival),
		cmp.Compare(a.ID, b.ID),
	)
}
