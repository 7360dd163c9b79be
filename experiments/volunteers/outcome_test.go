package volunteers

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// A Job is one job of a list. Its index is its name.
type Job struct {
	Submit float64 // seconds since the start of the trace
	Length float64 // seconds alone on a host; at least 1
}

// Jobs draws the jobs in the order of submission.
func (s Stream) Jobs(rng *rand.Rand) ([]Job, error) {
	if !(s.Every > 0 && s.Mean > 0 && s.Least >= 1 && s.Least < s.Most) {
		return nil, fmt.Errorf("job stream %+v: want every and mean more than 0, and 1 <= least < most", s)
	}
	if n := (s.To - s.From) / s.Every; !(n >= 0 && n < 1e9) {
		return nil, fmt.Errorf("job stream %+v: %v jobs", s, n)
	}
	var jobs []Job
	for i := 0; ; i++ {
		at := s.From + float64(i)*s.Every
		if at >= s.To {
			return jobs, nil
		}
		jobs = append(jobs, Job{at, s.length(rng)})
	}
}

// An Outcome is the outcome of the jobs of a replay. Jobs that are running at its end count
// as neither done nor failed.
type Outcome struct {
	Done      int // jobs completed
	Failed    int // attempts that failed because the host left
	Resent    int // number of these that returned to the queue
	Queued    int // jobs waiting at the end
	Running   int // jobs running at the end
	Placed    int // attempts
	Submitted int

	Useful     float64 // work of completed jobs in seconds of a host of speed 1
	Wasted     float64 // that of failed attempts
	Unfinished float64 // work of jobs running at the end
	Busy       float64 // host-seconds in which hosts worked
	Available  float64 // host-seconds in which hosts were available
	Makespans  float64 // sum of completion - submission over completed jobs

	Log []Event // in order; nil unless requested
}

// Ratio returns the job process ratio in percent: completed jobs divided by completed jobs
// and failed attempts. NaN if nothing ended.
func (o *Outcome) Ratio() float64 { return 100 * float64(o.Done) / float64(o.Done+o.Failed) }

// Makespan returns the mean time from submission to completion in seconds. It is NaN if no
// job completed.
func (o *Outcome) Makespan() float64 { return o.Makespans / float64(o.Done) }

// MeanLength returns the mean length of completed jobs in seconds. If it is small, a high
// ratio results from selecting short jobs. It is NaN if no job completed.
func (o *Outcome) MeanLength() float64 { return o.Useful / float64(o.Done) }

// Utilization returns the fraction of the hosts' available time in which they ran jobs, in
// [0,1]. It is NaN if hosts were never available.
func (o *Outcome) Utilization() float64 {
	if o.Available == 0 {
		return math.NaN()
	}
	return o.Busy / o.Available
}

// WastedShare returns the fraction of the work that was lost, in [0,1]. It is NaN if no
// work was done.
func (o *Outcome) WastedShare() float64 { return o.Wasted / (o.Useful + o.Wasted + o.Unfinished) }

// An Event is a change in the state of a job.
type Event struct {
	Kind Kind
	At   float64
	Job  int32
	Host int32
}

// A Kind states what happened.
type Kind uint8

// The kinds of events.
const (
	Alloc Kind = iota
	Done
	Fail
)

// String returns "alloc", "done" or "fail".
func (k Kind) String() string { return [...]string{"alloc", "done", "fail"}[k] }
