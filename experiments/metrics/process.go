package metrics

// JobProcessRatio is the measure of Zhang, Phillips, "Job-Scheduling with Resource
// Availability Prediction for Volunteer-Based Grid Computing" (Volunteers). It counts every
// failed attempt, including those of jobs that are open at the horizon.
var JobProcessRatio = Metric{
	Name:   "job_process_ratio",
	Unit:   "%",
	Bound:  Percent,
	Doc:    "jobs completed / (jobs completed + jobs interrupted because a host left) (Volunteers, §5)",
	Trials: func(o *Outcome) int { done, _ := Completed.Of(o); return int(done + losses(o)) },
	Of: volatile(func(o *Outcome) (float64, bool) {
		done, _ := Completed.Of(o)
		return over(100*done, done+losses(o))
	}),
}

// losses returns the number of times that a host left while it ran a job.
func losses(o *Outcome) float64 {
	return sumOpen(o, func(j *Job) float64 { return float64(j.Contract.Losses) })
}

// volatile makes a metric undefined if hosts never leave.
func volatile(of func(*Outcome) (float64, bool)) func(*Outcome) (float64, bool) {
	return func(o *Outcome) (float64, bool) {
		if !o.Volatile {
			return 0, false
		}
		return of(o)
	}
}

// sumOpen returns the sum of f over all jobs, including those open at the horizon.
func sumOpen(o *Outcome, f func(*Job) float64) (sum float64) {
	for _, jobs := range [][]Job{o.Jobs, o.Open} {
		for i := range jobs {
			sum += f(&jobs[i])
		}
	}
	return sum
}
