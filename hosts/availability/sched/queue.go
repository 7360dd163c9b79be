package sched

import (
	"math"
	"slices"

	"bourse/hosts"
	"bourse/hosts/eventheap"
	"bourse/workloadgen/config"
)

// QueueOptions say how a queue is served. The paper leaves all of them open but
// that there is one queue, first come first served.
type QueueOptions struct {
	// Hold is for how long a job waits that every idle host was refused for, in
	// seconds: at least 0, 300 by default.
	Hold float64 `yaml:"hold" validate:"min=0" doc:"delay before a job is retried after every host was refused, s"`

	// Mode is "skip", the default, if such a job keeps its place while those
	// behind it are tried, and "block" if the whole queue waits with it.
	Mode string `yaml:"hold_mode" validate:"oneof=skip block" doc:"during that delay: skip (later jobs are tried) or block (the whole queue waits)"`

	// Resubmit is where a job goes that its host left: to the "tail", the
	// default, to the "head", or away ("drop").
	Resubmit string `yaml:"resubmit" validate:"oneof=tail head drop" doc:"queue position of a job whose host left: tail, head, or drop (removed)"`
}

// DefaultQueue returns the options that reproduce the paper.
func DefaultQueue() QueueOptions { return QueueOptions{Hold: 300, Mode: "skip", Resubmit: "tail"} }

// A Queue holds jobs until a host takes them, first come first served. Jobs are
// numbered from 0 by the caller. It scans only what can have changed: jobs on
// hold cost nothing until their time comes.
type Queue struct {
	o       QueueOptions
	ready   eventheap.Heap // by place in the queue
	held    []held         // by the instant at which the hold ends
	done    int            // of held, those that are over
	lengths []float64      // by job, seconds
	head    float64        // the place before all
	tail    float64        // the place behind all
	blocked float64        // nothing is tried before
}

type held struct {
	until float64
	place float64
	job   int32
}

// NewQueue returns an empty queue; the error names the option that is wrong.
func NewQueue(o QueueOptions) (*Queue, error) {
	if err := config.Check(&o); err != nil {
		return nil, err
	}
	return &Queue{o: o, blocked: math.Inf(-1)}, nil
}

// Len returns the number of jobs that wait, on hold or not.
func (q *Queue) Len() int { return q.ready.Len() + len(q.held) - q.done }

// Submit appends a job of that length.
func (q *Queue) Submit(job int32, length float64) {
	for int(job) >= len(q.lengths) {
		q.lengths = append(q.lengths, 0)
	}
	q.lengths[job] = length
	q.append(job)
}

// Resubmit takes back a job that was submitted, started and lost, and reports
// whether it waits again.
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

// Withdraw takes out a job that waits, on hold or not.
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

// A Placement gives a host to a job.
type Placement struct {
	Job  int32
	Host hosts.ID
}

// Tick gives hosts to jobs in the order of the queue, as many as find one, puts
// the jobs on the pool's hosts, and appends the placements to out. A job that
// the matchmaker refuses all hosts for goes on hold. Instants never decrease.
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

// release returns to their places the jobs whose hold is over.
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
