// Package hosts defines the supply side of the market: the resources that a host offers, its
// tasks, and the progress of their work.
//
// A [Machine] divides one host among its tasks in proportion to their weights. The machines of
// hosts/sim compute the progress of their tasks; [Metered] machines measure it.
//
// The package is independent of prices, contracts and users. Policies and the market decide
// which tasks run on each host; a machine only carries out these decisions.
//
// Times and durations are in seconds; times count from the start of the run. Work is in
// processor-seconds at speed 1. For example, a task of 100 processor-seconds takes 50 s on one
// processor of speed 2.
package hosts

// An ID is the position of a host in its fleet, starting at 0. This order breaks ties between
// hosts.
type ID int32

// Resources are amounts that are reserved for a task while it is on a host. They are never
// shared or overbooked.
type Resources struct {
	Memory    float64 // bytes
	Disk      float64 // bytes
	Bandwidth float64 // bytes/s

	Cores  int32            // whole cores; 0 unless Spec.Whole is set
	Counts [MaxCounts]int32 // units of each countable resource, such as GPUs, in the market's order of names
}

// MaxCounts is the maximum number of countable resources of a market.
const MaxCounts = 8

// Zero reports whether all resources in r are 0.
func (r Resources) Zero() bool { return r == Resources{} }

// Fit reports whether r fits into room.
func (r Resources) Fit(room Resources) bool {
	if r.Memory > room.Memory || r.Disk > room.Disk || r.Bandwidth > room.Bandwidth || r.Cores > room.Cores {
		return false
	}
	for i, n := range r.Counts {
		if n > room.Counts[i] {
			return false
		}
	}
	return true
}

// Add returns r + o.
func (r Resources) Add(o Resources) Resources { return r.Sub(Resources{}.Sub(o)) }

// Sub returns r - o.
func (r Resources) Sub(o Resources) Resources {
	r.Memory, r.Disk, r.Bandwidth, r.Cores = r.Memory-o.Memory, r.Disk-o.Disk, r.Bandwidth-o.Bandwidth, r.Cores-o.Cores
	for i, n := range o.Counts {
		r.Counts[i] -= n
	}
	return r
}

// A Spec describes the resources that a host offers.
type Spec struct {
	Name  string  // unique in its fleet
	CPUs  float64 // number of processors, above 0
	Speed float64 // work per second of one processor; 1 is the reference speed
	Cap   float64 // maximum number of processors that one task can use; 0 means no maximum
	Whole bool    // each task reserves all cores that it may use, always a whole number
	Room  Resources
	Floor Floor // floor prices for tasks on this host
}

// Offers returns the resources that tasks can reserve on the idle host.
func (s *Spec) Offers() Resources {
	room := s.Room
	if s.Whole {
		room.Cores = int32(s.CPUs)
	}
	return room
}

// Cores returns the number of cores that a task with the given limit reserves. If the limit is
// 0, this is the number of cores of the host. No task reserves more than Cap. It returns false if
// the limit is not a whole number.
func (s *Spec) Cores(limit float64) (cores int32, ok bool) {
	if !s.Whole {
		return 0, true
	}
	if limit == 0 {
		limit = s.CPUs
	}
	if s.Cap > 0 {
		limit = min(limit, s.Cap)
	}
	return int32(min(limit, 1<<30)), limit == float64(int32(min(limit, 1<<30)))
}

// Capacity returns the work per second of all processors of the host.
func (s *Spec) Capacity() float64 { return s.CPUs * s.Speed }

// Usable returns the number of processors of the host that a task with the given limit can
// use. A limit of 0 means no limit. For example, on a host of 2 processors with a cap of 1, a
// task without a limit can use 1 processor.
func (s *Spec) Usable(limit float64) float64 {
	most := s.CPUs
	for _, limit := range [...]float64{s.Cap, limit} {
		if limit > 0 {
			most = min(most, limit)
		}
	}
	return most
}

// A Share determines the part of a host that a task receives. This part is Weight divided by
// the sum of all weights on the host, but at most Limit processors. For example, tasks of
// weight 1 and 3 on a host of 8 processors receive 2 and 6.
type Share struct {
	Weight float64 // at least 0; a weight of 0 pauses the task
	Limit  float64 // maximum number of processors; 0 means the host's own maximum
}

// A Task is work for one machine.
type Task struct {
	Key   int64     // number chosen by the caller and returned in reports
	Work  float64   // processor-seconds at speed 1; +Inf means that the task runs until it is stopped
	Holds Resources // resources reserved from Start until the task ends
	Until float64   // time at which a metered machine ends the task by itself; 0 means never
}

// A Slot identifies a task on a machine, from Start until the task completes or is stopped.
// Afterwards the machine may reuse the slot.
type Slot int32

// A Report states how much work a task has done.
type Report struct {
	Key  int64
	At   float64 // time at which the task completed or was stopped
	Done float64 // work done, in processor-seconds at speed 1
	Exit         // a separate struct, so that the compiler returns a report in registers
}

// An Exit identifies the slot of a task and states how the task ended.
type Exit struct {
	Slot Slot
	Why  End
	Code uint8 // exit status of a program
}

// A Machine runs the tasks of one host. The times passed to its methods must not decrease. A
// method that takes a time first advances the machine to that time.
type Machine interface {
	// Spec returns the offer of the host.
	Spec() *Spec

	// Room returns the resources that no task has reserved.
	Room() Resources

	// Start starts the task with share s. If the resources that the task reserves do not fit in
	// Room, Start returns an error and changes nothing.
	Start(now float64, task Task, s Share) (Slot, error)

	// SetShare changes the task's share from now on.
	SetShare(now float64, slot Slot, s Share)

	// Stop removes the task and reports the work it had done.
	Stop(now float64, slot Slot) Report

	// Rate returns the task's current work per second.
	Rate(slot Slot) float64

	// Processors returns the number of processors that each running task currently receives,
	// in the order in which the tasks were started. The slice belongs to the machine: callers
	// must not change it, and it is valid until the next call.
	Processors() []float64

	// Next returns the earliest time at which a task completes if nothing changes, or +Inf if
	// no task will complete.
	Next() float64

	// Advance moves the machine to now, ends the tasks that have completed, and appends their
	// reports to out. Reports are in order of completion; ties are in order of start.
	Advance(now float64, out []Report) []Report
}

// A Metered machine measures the work of its tasks. It represents a remote host that runs real
// programs, whose progress cannot be predicted. Next therefore returns only ends that are
// already known, and Stop and Advance report the most recently measured work.
type Metered interface {
	Machine

	// Deal starts a new allocation with the current shares and returns its number. Work is
	// charged at the price of the allocation under which it was measured.
	Deal() int64

	// Readings appends to out, in order, the usage measured since the last call.
	Readings(out []Reading) []Reading
}

// A Reading is the work that a task did in a span of time under one allocation of shares.
// Readings of the same span have equal fields Span and Deal. They are consecutive and sorted
// by slot.
type Reading struct {
	Slot Slot
	Deal int64
	Span float64 // seconds, by the machine's clock
	Work float64 // processor-seconds at speed 1
}
