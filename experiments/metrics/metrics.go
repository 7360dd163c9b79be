// Package metrics reduces the outcome of one replication to numbers, one
// metric to a file.
//
// It does not know how the outcome came about. To add a metric, write its file
// and its line in the table below.
//
// Reference, cited by §: Sandholm, Lai, Clearwater, "Admission Control in a
// Computational Market". Risk and SLA are Yeo and Buyya's papers on LibraRisk and
// LibraSLA.
package metrics

import (
	"math"
	"slices"

	"bourse/workloadgen/plugin"
)

// An Outcome is everything a metric may look at.
type Outcome struct {
	Jobs     []Job   // in order of arrival
	Capacity float64 // work per second of the whole fleet
	Optimum  float64 // U*, or a bound on it: the best total value of a planner who knows all jobs
	Prices   []float64
	Demand   []float64 // Prices of the best-effort run on the same jobs; nil if there is none

	OptimumOfParts float64 // Optimum where users are elastic (alpha 0), if that is more

	Earlier    []Job   // of the warm-up, before Jobs: they use hosts, and are not measured
	Hosts      int     // in the fleet
	Processors float64 // of one host
	Booked     bool    // hosts keep books, of reservations
	Cancels    bool    // owners take jobs back
	AdmitsAll  bool    // the policy admits every request that can be placed

	Open      []Job     // of Jobs, those not ended at the horizon: they used hosts, and count nowhere else
	Horizon   float64   // instant at which the run ends, whatever is open; +Inf or 0 if it ends when all is done
	Volatile  bool      // hosts come and go
	Available float64   // if so, the work that they could have done while they were there, from the first arrival to the last end, or to the horizon
	Promises  []Promise // that the predictor was asked for; none unless a figure shows what comes of them
}

// bounded reports whether the run ends at a horizon, whatever is open.
func (o *Outcome) bounded() bool { return o.Horizon > 0 && !math.IsInf(o.Horizon, 1) }

// A Metric is a number with a name, a unit and a source.
type Metric struct {
	Name  string // as written in results
	Label string // as people read it, where that is not the name in words
	Unit  string // "1" if dimensionless
	Doc   string // definition and paper

	Bound Bound // what its values lie between
	Less  bool  // less of it is better

	// Decided reports whether admission alone determines the metric, so that it is a constant
	// under a policy that admits every request.
	Decided bool

	// Of returns the metric, and false where it is undefined.
	Of func(*Outcome) (float64, bool)

	// Trials returns how many trials (requests, contracts, attempts) the metric is a share or
	// mean of, and 0 if it is constant by construction. It is nil for a metric that is neither.
	Trials func(*Outcome) int
}

// table lists the metrics in the order of reports.
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

// onRequest lists those that are measured where something asks for them: a figure, a rule of
// stopping or a search.
var onRequest = []Metric{
	Welfare,
	Offers,
	OffersTaken,
}

// All returns the metrics in the order of reports.
func All() []Metric { return table }

// With returns All, and after them those of names that are measured on request alone.
func With(names ...string) []Metric {
	all := slices.Clip(table)
	for _, m := range onRequest {
		if slices.Contains(names, m.Name) {
			all = append(all, m)
		}
	}
	return all
}

// Table returns the metrics by name, those on request among them.
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

// Ends returns what the metrics lie between that lie between two values.
func Ends() map[string][2]float64 {
	ends := make(map[string][2]float64)
	for _, m := range table {
		if m.Bound != Unbounded {
			lo, hi := m.Bound.Ends()
			ends[m.Name] = [2]float64{lo, hi}
		}
	}
	return ends
}

// Volatile returns the names of the metrics that tell of hosts that come and go, in
// the order of reports.
func Volatile() []string {
	return []string{"job_process_ratio", "makespan", "wasted", "resubmissions", "queued", "completed_length"}
}

// mean returns the mean of f over the jobs that have one.
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

// requests returns how many requests admission decided on, 0 if it admits all that can be
// placed and all could be.
func requests(o *Outcome) int {
	if o.AdmitsAll && !slices.ContainsFunc(o.Jobs, func(j Job) bool { return !j.Admitted() }) {
		return 0
	}
	return len(o.Jobs)
}

// submitted returns how many jobs were submitted.
func submitted(o *Outcome) int { return len(o.Jobs) }

// promises returns how many contracts were fulfilled or broke their promise, 0 if all were fulfilled and none of
// them promises a time.
func promises(o *Outcome) (n int) {
	due := false
	for i := range o.Jobs {
		if j := &o.Jobs[i]; j.judged() {
			n++
			due = due || !math.IsInf(j.Due(), 1) || !j.Fulfilled() // some are killed without a time
		}
	}
	if !due {
		return 0
	}
	return n
}

// one is 1 if b and 0 otherwise.
func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
