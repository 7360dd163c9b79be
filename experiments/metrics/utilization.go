package metrics

import "math"

// Utilization is the work done divided by the work that the fleet could have done from the
// first arrival to the last end. Hosts that come and go count while they are present. If jobs
// are open at the horizon, the time ends at the horizon. Work that was lost or not completed
// counts as done. With a horizon, the denominator is the work that the fleet could have done
// until then. It starts at time 0 or, after a warm-up, at the first measured arrival.
var Utilization = Metric{
	Name:  "utilization",
	Unit:  "1",
	Bound: Proportion,
	Doc:   "work done / (capacity x time from the first arrival to the last end or, with a horizon, from 0 to the horizon), w/w* (§4.2)",
	Of: func(o *Outcome) (float64, bool) {
		if o.Volatile {
			return over(sumOpen(o, func(j *Job) float64 { return j.Contract.Done + j.Contract.Wasted }), o.Available)
		}
		if o.bounded() {
			from := 0.0
			if len(o.Earlier) > 0 {
				from = firstArrival(o.Jobs, o.Open)
			}
			return over(sumOpen(o, func(j *Job) float64 { return j.Contract.Done }), o.Capacity*(o.Horizon-from))
		}
		done, last := 0.0, 0.0
		for i := range o.Jobs {
			if j := &o.Jobs[i]; j.Admitted() {
				done += j.Contract.Done
				last = max(last, j.Contract.Ended)
			}
		}
		if len(o.Jobs) == 0 || last <= o.Jobs[0].Arrival {
			return 0, false
		}
		return done / (o.Capacity * (last - o.Jobs[0].Arrival)), true
	},
}

// firstArrival returns the earliest arrival in lists, or 0 if there are no jobs. Each list
// must be ordered by arrival.
func firstArrival(lists ...[]Job) float64 {
	first := math.Inf(1)
	for _, jobs := range lists {
		if len(jobs) > 0 {
			first = min(first, jobs[0].Arrival)
		}
	}
	if math.IsInf(first, 1) {
		return 0
	}
	return first
}
