package volunteers

import (
	"context"
	"fmt"
	"math"

	"bourse/experiments/des"
	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/hosts/availability/sched"
	"bourse/hosts/eventheap"
)

// A Config states what is replayed.
type Config struct {
	Trace *availability.Trace
	Jobs  []Job // in order of submission

	From, To float64 // the replay starts at From and ends before To
	Interval float64 // the queue is processed at From and every Interval seconds after that; positive

	Queue      sched.QueueOptions
	Matchmaker sched.Matchmaker

	// InTurn runs the jobs on a host one after another, in the order of their starts. If it
	// is not set, they share the host equally. In both cases, all are lost when the host
	// leaves.
	InTurn bool

	// Speeds makes a job take Length/MIPS seconds on a host. If it is not set, a job takes
	// Length on every host, as in the paper.
	Speeds bool

	Log bool // keep every event
}

// Replay is the oracle for the market's queue on hosts that come and go. It runs the jobs
// without a bank and a broker. Events at the same time are processed in this order:
// completions and failures, by host; changes of availability, by host; submissions; the
// queue.
func Replay(ctx context.Context, c Config) (*Outcome, error) {
	r, err := newReplay(c)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	horizon := math.Nextafter(c.To, math.Inf(-1))
	err = des.Run(ctx, new(des.Virtual), horizon, (*endings)(r), (*changes)(r), (*arrivals)(r), (*ticks)(r))
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	return r.close(), nil
}

// A replay is the state of a run. The event sources are views of it.
type replay struct {
	c        Config
	out      Outcome
	pool     *sched.Pool
	queue    *sched.Queue
	stations []station
	interval []int // index of the current or next interval, by host

	ending eventheap.Heap // hosts ordered by the time at which a job on them ends
	change eventheap.Heap // hosts ordered by the time at which their availability changes

	arrived int     // jobs submitted
	tick    float64 // time at which the queue is processed next

	placements []sched.Placement
	completed  []task
}

func newReplay(c Config) (*replay, error) {
	if !(c.From < c.To) || !(c.Interval > 0) {
		return nil, fmt.Errorf("from %v to %v at intervals of %v: want from < to and an interval more than 0", c.From, c.To, c.Interval)
	}
	last := math.Inf(-1)
	for i, j := range c.Jobs {
		if !(j.Length >= 1 && j.Length < 1e12) || !(j.Submit >= max(last, c.From)) {
			return nil, fmt.Errorf("job %d of length %v at %v: want a length of at least 1, and submissions in order from %v", i, j.Length, j.Submit, c.From)
		}
		last = j.Submit
	}
	queue, err := sched.NewQueue(c.Queue)
	if err != nil {
		return nil, err
	}
	n := len(c.Trace.Hosts)
	r := &replay{c: c, pool: sched.NewPool(c.Trace.Hosts, c.Speeds), queue: queue, stations: make([]station, n), interval: make([]int, n), tick: c.From}
	for i, h := range c.Trace.Hosts {
		r.out.Available += h.Available(c.From, c.To)
		r.stations[i] = station{speed: r.pool.Speed(hosts.ID(i)), inTurn: c.InTurn}
		k := h.After(c.From)
		r.interval[i] = k
		if k == len(h.Intervals()) {
			continue
		}
		if v := h.Intervals()[k]; v.Start <= c.From {
			r.pool.Rise(c.From, hosts.ID(i))
			r.change.Set(int32(i), v.End)
		} else {
			r.change.Set(int32(i), v.Start)
		}
	}
	return r, nil
}

// close counts the jobs that are left at the end.
func (r *replay) close() *Outcome {
	r.out.Queued = r.queue.Len()
	for i := range r.stations {
		s := &r.stations[i]
		s.advance(r.c.To)
		r.out.Busy += s.busy
		r.out.Running += len(s.tasks)
		for _, t := range s.tasks {
			r.out.Unfinished += r.c.Jobs[t.job].Length - t.left
		}
	}
	return &r.out
}

func (r *replay) log(kind Kind, at float64, job int32, h int32) {
	if r.c.Log {
		r.out.Log = append(r.out.Log, Event{kind, at, job, h})
	}
}

// reschedule sets the next time at which a job on a host ends or the host's interval ends.
func (r *replay) reschedule(h int32) {
	s := &r.stations[h]
	if len(s.tasks) == 0 {
		r.ending.Remove(h)
		return
	}
	end := r.c.Trace.Hosts[h].Intervals()[r.interval[h]].End
	r.ending.Set(h, min(s.next(), end))
}
