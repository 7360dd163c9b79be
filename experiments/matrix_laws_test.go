package experiments

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"bourse/bank"
	"bourse/contracts"
	"bourse/experiments/metrics"
	"bourse/experiments/results"
)

// percent and part list the metrics that are proportions of 100 and of 1. Every metric is
// in one of the three lists, so that a new metric is not forgotten.
var (
	part    = words("violations rejections utilization p_a p_w p_d q q_mean rejections_ar cluster_utilization cluster_utilization_min cluster_utilization_max brier promised kept")
	percent = words("deadlines_fulfilled deadlines_fulfilled_high deadlines_fulfilled_low rejected_work rejected_work_ar job_process_ratio")
	amounts = words("slowdown slowdown_high slowdown_low completed rejected_size response_od response_ar late killed cancelled makespan wasted resubmissions queued completed_length wait wait_median wait_p95 bounded_slowdown span offers offers_taken")
	signed  = words("demand_correlation efficiency_0 efficiency_0.5 efficiency_1 mean_efficiency_0 mean_efficiency_0.5 mean_efficiency_1 utility revenue")
)

func words(s string) map[string]bool {
	all := make(map[string]bool)
	for _, w := range strings.Fields(s) {
		all[w] = true
	}
	return all
}

// rounding is the tolerance for proportions and work, which are sums of a few dozen numbers
// that are each accurate to one float64 step of time.
const rounding = 1e-9

// laws checks the conditions that hold for every run.
func (r *told) laws() error {
	if err := r.summaryLaws(); err != nil {
		return err
	}
	for _, run := range r.runs {
		fail := func(err error) error {
			return fmt.Errorf("%s, replication %d: %w", run.offer.Label, run.rep, err)
		}
		for i := range run.Jobs {
			if err := run.jobLaws(&run.Jobs[i]); err != nil {
				return fail(fmt.Errorf("job %d: %w", run.Jobs[i].ID, err))
			}
		}
		if err := errors.Join(run.chainLaw(), run.licencesLaw()); err != nil {
			return fail(err)
		}
		for i, m := range metrics.All() {
			x, ok := m.Of(&run.Outcome)
			if !ok {
				continue
			}
			off := run.ticks()
			if Negotiates(&run.offer.Choice) && (m.Name == "q" || m.Name == "q_mean") {
				off = math.Inf(1) // a user who accepted an offer may have paid more than the value of the job
			}
			if err := metricLaw(i, x, off); err != nil {
				return fail(err)
			}
			if m.Trials != nil {
				if err := trialsLaw(m, x, m.Trials(&run.Outcome), len(run.Jobs)); err != nil {
					return fail(err)
				}
			}
		}
		if err := run.efficiencyLaw(); err != nil {
			return fail(err)
		}
		for i, p := range run.Prices {
			if !(p >= 0) || math.IsInf(p, 1) {
				return fail(fmt.Errorf("the price of interval %d is %v", i, p))
			}
		}
		if err := run.journal.laws(run.Closed); err != nil {
			return fail(err)
		}
		if t := run.tape; len(t.amiss) > 0 {
			return fail(fmt.Errorf("tape: %s", t.amiss[0]))
		}
	}
	return nil
}

// chainLaw checks that each job that follows another job of the run arrives when its think
// time has passed after that job ended or, according to the ledger, was rejected. Jobs must
// be in the order of arrival.
func (run *toldRun) chainLaw() error {
	ended := make(map[int64]float64)
	for _, e := range run.journal.entries {
		if e.kind == bank.Settle || e.kind == bank.Reject {
			ended[e.contract] = e.time
		}
	}
	last := 0.0
	for _, j := range run.Jobs {
		at, ok := ended[j.After]
		if ok && j.After != 0 && j.Arrival != at+j.Think {
			return fmt.Errorf("job %d arrives at %v, want %v s after job %d ended at %v", j.ID, j.Arrival, j.Think, j.After, at)
		}
		if j.Arrival < last {
			return fmt.Errorf("job %d arrives at %v, after one that arrived at %v", j.ID, j.Arrival, last)
		}
		last = j.Arrival
	}
	return nil
}

// events lists the metrics that are fractions of trials, with the value that means all trials.
var events = map[string]float64{"violations": 1, "rejections": 1, "p_a": 1, "p_w": 1, "kept": 1, "deadlines_fulfilled": 100, "rejections_ar": 1, "job_process_ratio": 100}

// trialsLaw checks that metric m with value x is a whole number of events in the given
// number of trials. There must be at least as many jobs as trials that are jobs. Without
// trials, x must have its defined value.
func trialsLaw(m metrics.Metric, x float64, trials, jobs int) error {
	whole := events[m.Name]
	switch n := x / whole * float64(trials); {
	case trials < 0 || whole == 1 && m.Name != "kept" && trials > jobs:
		return fmt.Errorf("metric %s is of %d trials, of %d jobs", m.Name, trials, jobs)
	case whole == 0:
	case trials == 0 && x != 0 && x != whole:
		return fmt.Errorf("metric %s is %v by construction", m.Name, x)
	case math.Abs(n-math.Round(n)) > 1e-6:
		return fmt.Errorf("metric %s is %v of %d trials, which is no number of them", m.Name, x, trials)
	}
	return nil
}

// summaryLaws checks that every published interval of a mean contains the mean and lies
// within the metric's bounds. Values that are all equal must have no interval unless the
// trials bound them.
func (r *told) summaryLaws() error {
	for i, row := range r.study.SummaryRows() {
		m := &r.study.Metrics[i%len(r.study.Metrics)]
		if row.Lo95 == nil {
			continue
		}
		lo, hi := m.Bound.Ends()
		switch off := rounding * max(1, math.Abs(*row.Mean)); {
		case row.N < 2 || *row.Lo95 > *row.Mean+off || *row.Hi95 < *row.Mean-off:
			return fmt.Errorf("%s of %s: mean %v of %d in [%v, %v]", row.Metric, row.Admission, *row.Mean, row.N, *row.Lo95, *row.Hi95)
		case *row.Lo95 == *row.Hi95:
			return fmt.Errorf("%s of %s: an interval of no width at %v", row.Metric, row.Admission, *row.Mean)
		case r.inBounds(row, lo, hi) && (*row.Lo95 < lo || *row.Hi95 > hi):
			return fmt.Errorf("%s of %s: [%v, %v] reaches beyond [%v, %v]", row.Metric, row.Admission, *row.Lo95, *row.Hi95, lo, hi)
		}
	}
	return nil
}

// efficiencyLaw checks that users of any inelasticity have at most U* or the bound used in
// its place.
func (run *toldRun) efficiencyLaw() error {
	alphas := []float64{0, 0.1, 0.25, 0.5, 0.75, 0.9, 1}
	for i, x := range metrics.Efficiency(&run.Outcome, alphas...) {
		if x > 1+1e-9 {
			o := &run.Outcome
			return fmt.Errorf("efficiency at alpha %v is %v, of U* %v at 1 and %v at 0, want 1 at most", alphas[i], x, o.Optimum, o.OptimumOfParts)
		}
	}
	for _, m := range metrics.All() {
		if x, ok := m.Of(&run.Outcome); ok && strings.HasPrefix(m.Name, "mean_efficiency") && x > 1+1e-9 {
			return fmt.Errorf("metric %s is %v, want 1 at most", m.Name, x)
		}
	}
	return nil
}

// inBounds reports whether every value in a row's summary lies within [lo,hi].
func (r *told) inBounds(row results.Summary, lo, hi float64) bool {
	for _, m := range r.study.MetricRows(row.Metric) {
		if m.Configuration == row.Configuration && m.Admission == row.Admission && m.Value != nil && !(*m.Value >= lo && *m.Value <= hi) {
			return false
		}
	}
	return true
}

// ticks is the tolerance for a proportion if tasks end one tick of work early and count as
// done.
func (run *toldRun) ticks() float64 {
	if name := run.offer.sharing.Name; name == "deadline" || name == "librasla" {
		return tickOfTime
	}
	return rounding
}

// metricLaw checks x, the value of metric i, with the given tolerance.
func metricLaw(i int, x, off float64) error {
	name := metrics.All()[i].Name
	least, most := 0.0, math.Inf(1)
	switch {
	case part[name]:
		most = 1
	case percent[name]:
		most = 100
	case amounts[name]:
	case signed[name]:
		least = math.Inf(-1)
	default:
		return fmt.Errorf("the matrix does not know what metric %s may be: want it in a list beside the laws", name)
	}
	if math.IsNaN(x) || math.IsInf(x, 0) || x < least || x > most*(1+off) {
		return fmt.Errorf("metric %s is %v, want it in [%v, %v]", name, x, least, most)
	}
	return nil
}

// jobLaws checks one job of the run.
func (run *toldRun) jobLaws(job *metrics.Job) error {
	j := &job.Contract
	for _, x := range []float64{job.Value, job.Arrival, job.Runtime, j.Admitted, j.Ended, j.ByDue, j.Done, j.Wasted} {
		if !(x >= 0) || math.IsInf(x, 1) {
			return fmt.Errorf("%+v has a number that is negative or none", *job)
		}
	}
	if err := run.priceLaw(job); err != nil {
		return err
	}
	if !job.Admitted() {
		if !reflect.DeepEqual(*j, contracts.Result{Outcome: j.Outcome}) {
			return fmt.Errorf("it was not admitted, and %+v", *j)
		}
		if (j.Outcome == contracts.Refused) != (job.Reason != contracts.None) {
			return fmt.Errorf("it was not admitted: %v for %q", j.Outcome, job.Reason)
		}
		if tooWide := slices.Contains([]string{"karma", "slices"}, run.offer.Name); j.Outcome == contracts.Open && !run.Closed && !tooWide { // the job may need more than its user's part
			return fmt.Errorf("it still waits when all is done")
		}
		return nil
	}
	f := &run.set.conf.Fleet // work done in one float64 step of time is within the rounding error
	fastest := f.CPUs * slices.Max(append([]float64{f.Speed}, f.Speeds...)) * float64(job.Nodes)
	most := job.Work()*(1+rounding) + 2*contracts.Moment(j.Ended)*fastest
	switch {
	case j.Admitted < job.Arrival:
		return fmt.Errorf("it is admitted at %v, and came at %v", j.Admitted, job.Arrival)
	case !(j.Began >= j.Admitted):
		return fmt.Errorf("it starts at %v, and was admitted at %v", j.Began, j.Admitted)
	case j.Ended < j.Admitted:
		return fmt.Errorf("it ends at %v, and started at %v", j.Ended, j.Admitted)
	case j.ByDue > most || j.Done > most:
		return fmt.Errorf("%v of its work is done, %v by the deadline, of %v", j.Done, j.ByDue, job.Work())
	case j.ByDue > j.Done*(1+rounding) && !job.Fulfilled() && j.Losses == 0 && j.Suspensions == 0: // a job that returns to hosts may lose work
		return fmt.Errorf("%v of its work is done, %v by the deadline", j.Done, j.ByDue)
	case job.Fulfilled() && j.ByDue != job.Work():
		return fmt.Errorf("it is fulfilled with %v of %v done", j.ByDue, job.Work())
	case j.Paid.Sign() < 0 || j.Paid.Cmp(j.Budget) > 0:
		return fmt.Errorf("it pays %v of %v", j.Paid, j.Budget)
	case j.Penalty.Sign() < 0 || j.Penalty.Sign() > 0 && (job.Fulfilled() || j.Outcome == contracts.Cancelled || job.Open()):
		return fmt.Errorf("it is paid a penalty of %v", j.Penalty)
	case job.Open() && j.Paid.Sign() > 0:
		return fmt.Errorf("it was open at the horizon, and pays %v", j.Paid)
	case run.Closed && j.Ended > run.set.horizon():
		return fmt.Errorf("it ends at %v, after the horizon", j.Ended)
	case job.Open() && !(run.Closed && j.Ended == run.set.horizon()):
		return fmt.Errorf("it is open, and ends at %v", j.Ended)
	}
	return nil
}

// priceLaw checks the value of a job whose value is a price times its worth and work. The value
// must be the exact product of the decimals, rounded toward zero to micro-dollars.
func (run *toldRun) priceLaw(job *metrics.Job) error {
	o := run.set.work.annotate
	if o == nil || o.Price == 0 || job.Bargained { // an offer has another number of nodes and another runtime
		return nil
	}
	product := big.NewRat(1e6, 1)
	for _, x := range []float64{o.Price, job.Worth, job.Runtime, float64(job.Nodes)} {
		factor, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
		if !ok {
			return fmt.Errorf("%v is no decimal", x)
		}
		product.Mul(product, factor)
	}
	whole := new(big.Int).Quo(product.Num(), product.Denom())
	if micros, _ := whole.Float64(); job.Value != micros/1e6 {
		return fmt.Errorf("it is worth %v, want %v micro-dollars at $%v", job.Value, whole, o.Price)
	}
	return nil
}

// A keptEntry is a ledger entry.
type keptEntry struct {
	time     float64
	kind     bank.Kind
	contract int64
	moves    []bank.Move
	note     string
}

// laws checks that money is conserved: the balances add up to the issued amount, no account
// is overdrawn, and no escrow remains.
func (r *recorder) laws(bool) error {
	holds := make(map[string]int64)
	open := make(map[int64]bool)
	before := 0.0
	for i, e := range r.entries {
		if e.time < before {
			return fmt.Errorf("entry %d is of %v, the one before of %v", i+1, e.time, before)
		}
		before = e.time
		if e.note != "" && !json.Valid([]byte(e.note)) {
			return fmt.Errorf("entry %d has a note that is no JSON: %s", i+1, e.note)
		}
		for _, m := range e.moves {
			holds[m.From] -= m.Amount.Micros()
			holds[m.To] += m.Amount.Micros()
			if holds[m.From] < 0 && m.From != "mint" || m.Amount.Sign() <= 0 {
				return fmt.Errorf("entry %d leaves %d in %s, after a move of %v", i+1, holds[m.From], m.From, m.Amount)
			}
		}
		switch e.kind {
		case bank.Admit:
			open[e.contract] = true
		case bank.Settle:
			if !open[e.contract] {
				return fmt.Errorf("entry %d settles contract %d, which is not open", i+1, e.contract)
			}
			delete(open, e.contract)
		case bank.Reject:
			if open[e.contract] {
				return fmt.Errorf("entry %d rejects contract %d, which is open", i+1, e.contract)
			}
		}
	}
	sum := int64(0)
	for account, has := range holds {
		sum += has
		if strings.HasPrefix(account, "escrow:") && has != 0 {
			return fmt.Errorf("%d micro-dollars are left in %s", has, account)
		}
	}
	if sum != 0 || len(open) > 0 {
		return fmt.Errorf("accounts add up to %d, and contracts %v are open", sum, open)
	}
	return nil
}
