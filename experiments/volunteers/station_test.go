package volunteers

import "math"

// A station is a host that runs jobs. Its jobs share it equally or run one after another.
type station struct {
	speed  float64 // of a job alone
	inTurn bool
	at     float64 // time to which it has been advanced
	tasks  []task  // in order of start
	busy   float64 // time during which it had a job
}

type task struct {
	job   int32
	left  float64 // of its length
	start float64
}

// whole is the distance within which a time counts as a whole second. Times are whole
// except for rounding, unless jobs share a host.
const whole = 1e-6

// rate returns the progress of the i-th task per second.
func (s *station) rate(i int) float64 {
	switch {
	case !s.inTurn:
		return s.speed / float64(len(s.tasks))
	case i == 0:
		return s.speed
	}
	return 0
}

// next returns the time at which the next job completes if none joins, or +Inf without
// jobs.
func (s *station) next() float64 {
	next := math.Inf(1)
	for i := range s.tasks {
		if rate := s.rate(i); rate > 0 {
			next = min(next, s.at+s.tasks[i].left/rate)
		}
	}
	if near := math.Round(next); math.Abs(next-near) < whole {
		return near
	}
	return next
}

// advance runs the jobs until now.
func (s *station) advance(now float64) {
	if len(s.tasks) > 0 {
		s.busy += now - s.at
	}
	for i := range s.tasks {
		s.tasks[i].left -= (now - s.at) * s.rate(i)
	}
	s.at = now
}

// begin starts a job with the given length.
func (s *station) begin(now float64, job int32, length float64) {
	s.advance(now)
	s.tasks = append(s.tasks, task{job, length, now})
}

// completed removes the jobs that complete within rounding of now and appends them to out,
// in the order of their starts.
func (s *station) completed(out []task) []task {
	kept := s.tasks[:0]
	for i, t := range s.tasks {
		if t.left <= 2*whole*s.rate(i) {
			out = append(out, t)
		} else {
			kept = append(kept, t)
		}
	}
	s.tasks = kept
	return out
}
