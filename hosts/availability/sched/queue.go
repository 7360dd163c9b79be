package sched

import (
	"math"
	"slices"

	"bourse/hosts"
	"bourse/hosts/eventheap"
	"bourse/workloadgen/config"
)

// QueueOptions are the rules of a queue. The paper specifies only that there is one queue,
// first come, first served.
type QueueOptions struct {
	// Hold is the delay, in seconds, before a job is retried after every idle host was refused
	// for it; at least 0, default 300.
	Hold float64 `yaml:"hold" validate:"min=0" doc:"delay before a job is retried after every host was refused, s"`

	// Mode is "skip" (the default) if the queue tries later jobs while a job is on hold, or
	// "block" if the whole queue waits for that job.
	Mode string `yaml:"hold_mode" validate:"oneof=skip block" doc:"during that delay: skip (later jobs are tried) or block (the whole queue waits)"`

	// Resubmit is the new position in the queue of a job whose host has left: "tail" (the
	// default), "head", or "drop", which removes the job.
	Resubmit string `yaml:"resubmit" validate:"oneof=tail head drop" doc:"queue position of a job whose host left: tail, head, or drop (removed)"`
}

// DefaultQueue returns the options that reproduce the paper.
func DefaultQueue() QueueOptions { return QueueOptions{Hold: 300, Mode: "skip", Resubmit: "tail"} }

// A Queue holds jobs until they are placed on hosts, first come, first served. The caller
// numbers the jobs from 0. The queue examines only jobs whose state may have changed. Jobs on
// hold cost nothing until their hold ends.
type Queue struct {
	o       QueueOptions
	ready   eventheap.Heap // jobs by position in the queue
	held    []held         // by end of the hold
	done    int            // number of holds in the list held that have ended
	lengths []float64      // length of each job, in seconds
	head    float64        // position before all jobs
	tail    float64        // position after all jobs
	blocked float64        // no job is tried before this time
}

type held struct {
	until float64
	place float64
	job   int32
}

// NewQueue returns an empty queue. The error names the invalid option.
func NewQueue(o QueueOptions) (*Queue, error) {
	if err := config.Check(&o); err != nil {
		return nil, err
	}
	return &Queue{o: o, blocked: math.Inf(-1)}, nil
}

// Len returns the number of waiting jobs, including jobs on hold.
func (q *Queue) Len() int { return q.ready.Len() + len(q.held) - q.done }

// Submit appends a job of the given length.
func (q *Queue) Submit(job int32, length float64) {
	for int(job) >= len(q.lengths) {
		q.lengths = append(q.lengths, 0)
	}
	q.lengths[job] = length
	q.append(job)
}

// Resubmit returns a lost job to the queue and reports whether it waits again. The job must
// have been submitted and started.
func (q *Queue) Resubmit(job int32) bool {
	switch q.o.Resubmit {
	case "drop":
		return false
	case "head":
		q.head--
		q.ready.Set(job, q.head)
	default:
		q.append(job)
	}
	return true
}

// Withdraw removes a waiting job, which may be on hold.
func (q *Queue) Withdraw(job int32) {
	q.ready.Remove(job)
	for k := q.done; k < len(q.held); k++ {
		if q.held[k].job == job {
			q.held = slices.Delete(q.held, k, k+1)
			return
		}
	}
}

func (q *Queue) append(job int32) {
	q.ready.Set(job, q.tail)
	q.tail++
}

// A Placement assigns a host to a job.
type Placement struct {
	Job  int32
	Host hosts.ID
}

// Tick assigns hosts to jobs in queue order, as long as hosts are found, starts the jobs on
// the pool's hosts, and appends the placements to out. If the matchmaker refuses all hosts for
// a job, the job is put on hold. Times must not decrease.
func (q *Queue) Tick(now float64, p *Pool, m Matchmaker, out []Placement) []Placement {
	if now < q.blocked {
		return out
	}
	q.release(now)
	for {
		candidates := p.idle
		if m.Piles() {
			candidates = p.Available()
		}
		job, place, ok := q.ready.Min()
		if !ok || candidates == 0 {
			return out
		}
		h := m.Match(now, q.lengths[job], p)
		if h == None && q.o.Mode == "block" {
			q.blocked = now + q.o.Hold
			return out
		}
		q.ready.Remove(job)
		if h == None {
			q.held = append(q.held, held{now + q.o.Hold, place, job})
			continue
		}
		p.Begin(h)
		out = append(out, Placement{job, h})
	}
}

// release returns jobs whose hold has ended to their positions.
func (q *Queue) release(now float64) {
	for q.done < len(q.held) && q.held[q.done].until <= now {
		q.ready.Set(q.held[q.done].job, q.held[q.done].place)
		q.done++
	}
	if q.done > 64 && q.done > len(q.held)/2 {
		q.held = q.held[:copy(q.held, q.held[q.done:])]
		q.done = 0
	}
}
