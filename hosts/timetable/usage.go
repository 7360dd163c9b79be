package timetable

// usage counts node-seconds.
type usage struct {
	done    int64 // done by jobs that have ended
	planned int64 // estimated for jobs that have not started
	busy    int64 // nodes of running jobs
	begun   int64 // sum of nodes x start over running jobs
	ending  int64 // sum of nodes x estimated end over running jobs
}

func (u *usage) start(e *entry) {
	n := int64(e.Nodes)
	u.busy += n
	u.begun += n * e.start
	u.ending += n * e.end
}

func (u *usage) stop(e *entry, now int64) {
	n := int64(e.Nodes)
	u.done += n * (now - e.start)
	u.busy -= n
	u.begun -= n * e.start
	u.ending -= n * e.end
}

// executed returns the node-seconds done by now.
func (u *usage) executed(now int64) int64 { return u.done + u.busy*now - u.begun }

// committed returns the estimated remaining node-seconds of running and planned jobs.
func (u *usage) committed(now int64) int64 { return u.planned + u.ending - u.busy*now }
