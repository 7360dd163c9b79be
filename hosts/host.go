// Package hosts is the supply side: what a host is, what it is asked to run,
// and how much of it has been done.
//
// A [Machine] divides one host among its tasks in proportion to their weights;
// that of hosts/sim computes their progress. The package does not know prices,
// contracts, or who asked.
//
// Instants and spans are seconds since the origin of the run.
package hosts

// An ID is a host's position in its fleet, from 0. Order is the tie-breaker
// everywhere.
type ID int32

// Resources are what a task holds for itself as long as it is on a host: it is
// never shared and never oversold.
type Resources struct {
	Memory    float64 // bytes
	Disk      float64 // bytes
	Bandwidth float64 // bytes/s
}

// Zero reports whether nothing is held.
func (r Resources) Zero() bool { return r == Resources{} }

// Fit reports whether r can be held where room is left.
func (r Resources) Fit(room Resources) bool {
	return r.Memory <= room.Memory && r.Disk <= room.Disk && r.Bandwidth <= room.Bandwidth
}

// Sub returns r - o.
func (r Resources) Sub(o Resources) Resources {
	return Resources{r.Memory - o.Memory, r.Disk - o.Disk, r.Bandwidth - o.Bandwidth}
}

// A Spec is what a host offers.
type Spec struct {
	Name  string  // unique in its fleet
	CPUs  float64 // number of processors, more than 0
	Speed float64 // work per second of one processor; 1 is the reference
	Cap   float64 // the most that one task can use, in processors; 0 is no cap
	Room  Resources
}

// Capacity returns the work per second of the whole host.
func (s *Spec) Capacity() float64 { return s.CPUs * s.Speed }

// A Share says what part of a host a task is to get: of the host's processors,
// Weight over the sum of all weights on it, but never more than Limit of them.
type Share struct {
	Weight float64 // at least 0; 0 pauses the task
	Limit  float64 // processors; 0 is the host's own cap
}

// A Task is work for one machine.
type Task struct {
	Key   int64     // the caller's own name for it, returned in reports
	Work  float64   // processor-seconds at speed 1; +Inf runs until stopped
	Holds Resources // held from Start to the end
	Until float64   // instant at which a machine that is metered ends it by itself; 0 is never
}

// A Slot names a task on a machine from Start until it completes or is stopped;
// then the slot is free to be used again.
type Slot int32

// A Report says how far a task has come.
type Report struct {
	Key  int64
	At   float64 // instant at which it completed or was stopped
	Done float64 // work done, in processor-seconds at speed 1
	Exit         // apart, so that a report is returned in registers
}

// An Exit says where a task was, and how it ended.
type Exit struct {
	Slot Slot
	Why  End
	Code uint8 // with which a program ended
}

// A Machine runs the tasks of one host. The instants passed to its methods
// never decrease; a method that takes an instant first brings the machine to it.
type Machine interface {
	// Spec returns what the host offers.
	Spec() *Spec

	// Room returns the resources not held by any task.
	Room() Resources

	// Start begins task with share s. It returns an error, and nothing has
	// changed, if what the task holds does not fit in Room.
	Start(now float64, task Task, s Share) (Slot, error)

	// SetShare changes the task's share from now on.
	SetShare(now float64, slot Slot, s Share)

	// Stop removes the task and reports what it had done.
	Stop(now float64, slot Slot) Report

	// Rate returns the work per second that the task gets at present.
	Rate(slot Slot) float64

	// Processors returns how many processors each task that runs gets at
	// present, in order of start. The slice is the machine's own: it is read
	// only, and good until the next call.
	Processors() []float64

	// Next returns the earliest instant at which a task completes if nothing
	// changes, +Inf if none will.
	Next() float64

	// Advance brings the machine to now, ends the tasks that have completed,
	// and appends their reports to out in order of completion, ties in order
	// of start.
	Advance(now float64, out []Report) []Report
}

// A Prefetcher is a machine of which there may be so many that processors wait for its
// memory.
type Prefetcher interface {
	// Prefetch reads what the next Start or Stop will, changes nothing, and returns something
	// of it, so that compilers do not leave it out. Processors fetch the memory of several
	// machines at once if these are asked one right after another, and that of one at a time
	// in between much else.
	Prefetch() float64
}

// Metered is a machine that measures what its tasks do: a host elsewhere, which runs
// programs. Nothing of them can be predicted: Next returns an instant only for ends that
// it knows of already, and Stop and Advance report the work that was read last.
type Metered interface {
	Machine

	// Deal begins another deal, of the shares that hold now, and returns its number.
	Deal() int64

	// Readings appends what was measured since it was asked last, in order, to out.
	Readings(out []Reading) []Reading
}

// A Reading is what a task has done in a span in which one deal of shares stood. Readings
// of one span have the same Span and Deal, and stand together in order of slots.
type Reading struct {
	Slot Slot
	Deal int64
	Span float64 // s, by the machine's clock
	Work float64 // processor-seconds at speed 1
}
