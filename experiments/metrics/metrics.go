// Package metrics computes numbers from the outcome of one replication. Each metric has its
// own file.
//
// The package is independent of how the outcome was produced. To add a metric, write its file
// and add the metric to the table below.
//
// The paper cited by § and eq. is Sandholm, Lai, Clearwater, "Admission Control in a
// Computational Market". "Risk" and "SLA" refer to Yeo and Buyya's papers on LibraRisk and
// LibraSLA.
package metrics

import (
	"math"
	"slices"

	"bourse/workloadgen/plugin"
)

// An Outcome is the input to all metrics.
type Outcome struct {
	Jobs     []Job   // jobs in order of arrival
	Capacity float64 // work per second of the whole fleet
	Optimum  float64 // U*, the highest total value that a planner who knows all jobs could achieve, or a bound on it
	Prices   []float64
	Demand   []float64 // prices of the best-effort run on the same jobs; nil if there was no such run

	HostPrices, HostDemand [][]float64 // prices and demand of each host; nil if they are not recorded

	OptimumOfParts float64 // value of Optimum for elastic users (alpha 0), if it is higher

	Earlier    []Job   // warm-up jobs before Jobs, which use hosts but are not measured
	Hosts      int     // number of hosts in the fleet
	Processors float64 // processors of one host
	Booked     bool    // whether hosts have reservation books
	Cancels    bool    // whether owners may cancel jobs
	AdmitsAll  bool    // whether the policy admits every request that can be placed

	Open      []Job     // jobs that had not ended when the run ended; they count only as load on the hosts
	Horizon   float64   // time in seconds at which the run ends even if jobs are open; +Inf or 0 if it ends when all work is done
	Volatile  bool      // whether hosts come and go
	Available float64   // work that hosts could have done while they were present, from the first arrival to the last end or to the horizon; used if hosts come and go
	Held      []Held    // utilization of each resource that any host offers for tasks to hold
	Promises  []Promise // predictions requested from the predictor; empty unless a figure shows a metric about them
}

// bounded reports whether the run ends at a horizon even if jobs are open.
func (o *Outcome) bounded() bool { return o.Horizon > 0 && !math.IsInf(o.Horizon, 1) }

// A Metric is a number with a name, a unit and a source.
type Metric struct {
	Name  string // name in results
	Label string // display name, if it differs from the name with spaces
	Unit  string // unit; "1" if dimensionless
	Doc   string // definition and paper

	Bound Bound // range of its values
	Less  bool  // whether smaller values are better

	// Decided means that the metric depends only on admission decisions. The metric is then
	// constant under a policy that admits every request.
	Decided bool

	// Of returns the value of the metric, or false if it is undefined.
	Of func(*Outcome) (float64, bool)

	// Trials returns the number of trials (requests, contracts or attempts) of which the
	// metric is a fraction or a mean. It returns 0 if the metric is constant by definition.
	// Trials is nil for metrics that are not based on trials.
	Trials func(*Outcome) int
}

// table lists the metrics in the order used in reports.
var table = []Metric{
	Violations,
	Rejections,
	Utilization,
	DemandCorrelation,
	efficiencyAt("efficiency_0", 0),
	efficiencyAt("efficiency_0.5", 0.5),
	efficiencyAt("efficiency_1", 1),
	meanEfficiencyAt("mean_efficiency_0", 0),
	meanEfficiencyAt("mean_efficiency_0.5", 0.5),
	meanEfficiencyAt("mean_efficiency_1", 1),
	Admission,
	Fulfilment,
	Completion,
	CostOverValue,
	MeanCostOverValue,
	DeadlinesFulfilled,
	ofClass(DeadlinesFulfilled, true),
	ofClass(DeadlinesFulfilled, false),
	Slowdown,
	ofClass(Slowdown, true),
	ofClass(Slowdown, false),
	Completed,
	UtilityAchieved,
	RejectedWork,
	RejectedSize,
	RejectedWorkAR,
	RejectionsAR,
	ClusterUtilization,
	ClusterLeast,
	ClusterMost,
	ResponseOD,
	ResponseAR,
	Late,
	Killed,
	Cancelled,
	JobProcessRatio,
	Makespan,
	Wasted,
	Resubmissions,
	Queued,
	CompletedLength,
	Brier,
	Promised,
	Kept,
	Wait,
	WaitMedian,
	WaitP95,
	BoundedSlowdown,
	Span,
	Revenue,
}

// onRequest lists the metrics that are measured only if a figure, a stopping rule or a
// search names them.
var onRequest = []Metric{
	HostDemandCorrelation,
	jobEfficiencyAt("job_efficiency_0", 0),
	jobEfficiencyAt("job_efficiency_0.5", 0.5),
	jobEfficiencyAt("job_efficiency_1", 1),
	fulfilledValue,
	Welfare,
	welfareOf(true),
	welfareOf(false),
	Jain,
	Gini,
	Envy,
	Disparity,
	Interruptions,
	Offers,
	OffersTaken,
	named("memory"),
	named("disk"),
	named("bandwidth"),
	named("gpu"),
}

// All returns the metrics in the order used in reports.
func All() []Metric { return table }

// With returns the metrics of All, followed by the named metrics that are measured only on
// request. These may include the utilization of any resource.
func With(names ...string) []Metric {
	all := slices.Clip(table)
	for _, m := range onRequest {
		if slices.Contains(names, m.Name) {
			all = append(all, m)
		}
	}
	for _, name := range names {
		if m, ok := heldOf(name); ok && !slices.ContainsFunc(all, func(m Metric) bool { return m.Name == name }) {
			all = append(all, m)
		}
	}
	return all
}

// Table returns the metrics by name. It includes those that are measured only on request.
func Table() plugin.Table[Metric] {
	all := append(slices.Clip(table), onRequest...)
	t := plugin.Table[Metric]{Kind: "metric", Members: make(plugin.Members[Metric], len(all))}
	for _, m := range all {
		in := t.Members[m.Name]
		in.Doc, in.New = m.Doc, plugin.Is(m)
		t.Members[m.Name] = in
	}
	return t
}

// Ends returns the range of each bounded metric.
func Ends() map[string][2]float64 {
	ends := make(map[string][2]float64)
	for _, m := range slices.Concat(table, onRequest) {
		if m.Bound != Unbounded {
			lo, hi := m.Bound.Ends()
			ends[m.Name] = [2]float64{lo, hi}
		}
	}
	return ends
}

// Volatile returns the names of the metrics for hosts that come and go, in the order used
// in reports.
func Volatile() []string {
	return []string{"job_process_ratio", "makespan", "wasted", "resubmissions", "queued", "completed_length"}
}

// mean returns the mean of f over the jobs for which f is defined.
func mean(o *Outcome, f func(*Job) (float64, bool)) (float64, bool) {
	sum, n := 0.0, 0
	for i := range o.Jobs {
		if x, ok := f(&o.Jobs[i]); ok {
			sum += x
			n++
		}
	}
	return sum / float64(max(n, 1)), n > 0
}

// requests returns the number of requests on which the policy decided. It returns 0 if the
// policy admits every request that can be placed and every request could be placed.
func requests(o *Outcome) int {
	if o.AdmitsAll && !slices.ContainsFunc(o.Jobs, func(j Job) bool { return !j.Admitted() }) {
		return 0
	}
	return len(o.Jobs)
}

// submitted returns the number of jobs that were submitted.
func submitted(o *Outcome) int { return len(o.Jobs) }

// promises returns the number of contracts whose promise was kept or broken. It returns 0
// if all contracts were fulfilled and none has a deadline.
func promises(o *Outcome) (n int) {
	due := false
	for i := range o.Jobs {
		if j := &o.Jobs[i]; j.judged() {
			n++
			due = due || !math.IsInf(j.Due(), 1) || !j.Fulfilled() // jobs without a deadline can still be killed
		}
	}
	if !due {
		return 0
	}
	return n
}

// one returns 1 if b is true and 0 if b is false.
func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
