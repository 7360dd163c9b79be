package metrics

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Tau is a runtime in seconds. [BoundedSlowdown] treats jobs with shorter runtimes as if they
// had this runtime.
const Tau = 10

// Wait is the mean time in seconds that jobs wait before they start.
var Wait = Metric{
	Name: "wait", Less: true, Unit: "s", Doc: "mean of start - arrival over the jobs that started, including jobs that are open at the horizon",
	Of: func(o *Outcome) (float64, bool) {
		waits := o.waits()
		sum := 0.0
		for _, w := range waits {
			sum += w
		}
		return over(sum, float64(len(waits)))
	},
}

// WaitMedian is the median waiting time. For an even number of jobs, it is the mean of the
// middle two.
var WaitMedian = Metric{
	Name: "wait_median", Less: true, Unit: "s", Doc: "median of start - arrival over the jobs that started",
	Of: func(o *Outcome) (float64, bool) {
		waits := o.waits()
		n := len(waits)
		if n == 0 {
			return 0, false
		}
		slices.Sort(waits)
		return (waits[(n-1)/2] + waits[n/2]) / 2, true
	},
}

// WaitP95 is the 95th percentile of the waiting times. It is always one of these times.
var WaitP95 = Metric{
	Name: "wait_p95", Less: true, Unit: "s", Doc: "95th percentile of start - arrival over the jobs that started",
	Of: func(o *Outcome) (float64, bool) {
		waits := o.waits()
		if len(waits) == 0 {
			return 0, false
		}
		slices.Sort(waits)
		return stat.Quantile(0.95, stat.Empirical, waits, nil), true
	},
}

// BoundedSlowdown is the slowdown with a minimum runtime, which limits the influence of
// short jobs.
var BoundedSlowdown = Metric{
	Name: "bounded_slowdown", Less: true, Unit: "1",
	Doc: "mean of max(1, (end - arrival) / max(runtime, 10 s)) over completed jobs (Feitelson, Rudolph)",
	Of: func(o *Outcome) (float64, bool) {
		return mean(o, func(j *Job) (float64, bool) {
			return max(1, j.response()/max(j.Runtime, Tau)), j.completed() && j.Runtime > 0
		})
	},
}

// Span is the time from the first arrival to the last end, in seconds.
var Span = Metric{
	Name: "span", Less: true, Unit: "s", Doc: "last end - first arrival: the makespan of a single log",
	Of: func(o *Outcome) (float64, bool) {
		first, last := math.Inf(1), math.Inf(-1)
		for i := range o.Jobs {
			j := &o.Jobs[i]
			if first = min(first, j.Arrival); j.Admitted() {
				last = max(last, j.Contract.Ended)
			}
		}
		return last - first, last >= first
	},
}

// Revenue is the total amount earned by the hosts and the provider.
var Revenue = Metric{
	Name: "revenue", Unit: "$", Doc: "payments by users minus penalties paid to them, over all jobs",
	Of: func(o *Outcome) (sum float64, ok bool) {
		for i := range o.Jobs {
			sum += o.Jobs[i].revenue()
		}
		return sum, len(o.Jobs) > 0
	},
}

// waits returns the waiting times of the jobs that started, including those open at the
// horizon.
func (o *Outcome) waits() []float64 {
	waits := make([]float64, 0, len(o.Jobs)+len(o.Open))
	for _, jobs := range [][]Job{o.Jobs, o.Open} {
		for i := range jobs {
			if w, ok := jobs[i].wait(); ok {
				waits = append(waits, w)
			}
		}
	}
	return waits
}

// wait returns the waiting time of j in seconds and reports whether j started.
func (j *Job) wait() (float64, bool) {
	start := j.Contract.Admitted
	if j.Contract.Gang {
		start = j.Contract.Began
	}
	return start - j.Arrival, j.Admitted() && !math.IsInf(start, 1)
}

// OfLogs returns the names of the metrics shown for runs of logs, in the order used in
// reports.
func OfLogs() []string {
	return []string{
		Rejections.Name, Utilization.Name, Wait.Name, WaitMedian.Name, WaitP95.Name, BoundedSlowdown.Name, Span.Name, Revenue.Name,
	}
}
