package metrics

// Utilization is the work done against what the fleet could have done from the
// first arrival to the last end. Hosts that come and go could have done it while they
// were there, until the horizon if anything was open then, and work that was lost or is
// not finished counts as done.
var Utilization = Metric{
	Name:  "utilization",
	Unit:  "1",
	Bound: Proportion,
	Doc:   "work done / (capacity x time from first arrival to last end), w/w* (§4.2)",
	Of: func(o *Outcome) (float64, bool) {
		if o.Volatile {
			return over(sumOpen(o, func(j *Job) float64 { return j.Contract.Done + j.Contract.Wasted }), o.Available)
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
