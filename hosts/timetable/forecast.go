package timetable

// A forecast predicts the progress of the jobs of a preemptive book, assuming exact estimates
// and no further jobs.
type forecast struct {
	ends []int64 // one per job, in key order
	left []int64
}

// run computes f for jobs, some of which may be running, on n nodes.
func (f *forecast) run(jobs []share, n int, now int64) {
	f.ends, f.left = f.ends[:0], f.left[:0]
	for i := range jobs {
		f.ends = append(f.ends, 0)
		f.left = append(f.left, jobs[i].left)
	}
	for open := len(jobs); open > 0; {
		next, free := int64(Forever), n
		for i := range jobs {
			s := &jobs[i]
			switch {
			case f.left[i] == 0:
			case s.Earliest > now:
				next = min(next, s.Earliest)
			case s.Nodes <= free:
				free -= s.Nodes
				next = min(next, now+f.left[i])
			}
		}
		free = n
		for i := range jobs {
			s := &jobs[i]
			if f.left[i] == 0 || s.Earliest > now || s.Nodes > free {
				continue
			}
			free -= s.Nodes
			f.left[i] -= next - now
			if f.left[i] == 0 {
				f.ends[i] = next
				open--
			}
		}
		now = next
	}
}
