package volunteers

import "math"

// A station is a host at work. Its jobs share it equally, or run one after
// another.
type station struct {
	speed  float64 // of a job alone
	inTurn bool
	at     float64 // the instant that it has been brought to
	tasks  []task  // in order of start
	busy   float64 // time spent with a job
}

type task struct {
	job   int32
	left  float64 // of its length
	start float64
}

// whole is how near to a whole second an instant counts as that second:
// instants are whole but for rounding unless jobs share a host.
const whole = 1e-6

// rate returns the progress that the i-th task makes in a second.
func (s *station) rate(i int) float64 {
	switch {
	case !s.inTurn:
		return s.speed / float64(len(s.tasks))
	case i == 0:
		return s.speed
	}
	return 0
}

// next returns when a job completes if none joins, +Inf without jobs.
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

// advance lets the jobs run until now.
func (s *station) advance(now float64) {
	if len(s.tasks) > 0 {
		s.busy += now - s.at
	}
	for i := range s.tasks {
		s.tasks[i].left -= (now - s.at) * s.rate(i)
	}
	s.at = now
}

// begin starts a job of that length.
func (s *station) begin(now float64, job int32, length float64) {
	s.advance(now)
	s.tasks = append(s.tasks, task{job, length, now})
}

// completed removes the jobs that would be complete within rounding of now and
// appends them to out, in order of start.
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
