package timetable

import (
	"cmp"
	"fmt"
	"math"
)

// Kind distinguishes reservations from on-demand jobs.
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

// Forever is the value of Deadline for a job without a deadline.
const Forever = math.MaxInt64

// Horizon is the latest time and the longest duration of a job, about 2,000 years. Sums of such
// values cannot overflow.
const Horizon = 1 << 36

// A Job describes a rigid parallel job as its user states it. All its nodes are allocated and
// released at the same time.
type Job struct {
	ID       int64 // unique within its cluster
	Kind     Kind
	Arrival  int64 // a, the second at which it was requested
	Earliest int64 // t, the earliest start; at least a
	Deadline int64 // d, the latest end; Forever if there is no deadline
	Estimate int64 // q, the runtime at reference speed as estimated by the user; at least 1
	Nodes    int   // n >= 1
}

// Validate returns an error that names the first invalid field, if there is one. It does not
// check whether the job fits a cluster.
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

// compare orders jobs by key: deadline, earliest start, arrival, id. Jobs without a deadline
// come last, in order of arrival.
func compare(a, b *Job) int {
	return cmp.Or(
		cmp.Compare(a.Deadline, b.Deadline),
		cmp.Compare(a.Earliest, b.Earliest),
		cmp.Compare(a.Arrival, b.Arrival),
		cmp.Compare(a.ID, b.ID),
	)
}
