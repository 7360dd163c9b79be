package experiments

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/bank"
	"bourse/contracts"
	"bourse/experiments/metrics"
	"bourse/experiments/results"
	"bourse/workloadgen"
)

// Refits recompute the metrics of replications from their rows in the jobs table and their
// plans of jobs. The plans are generated from the scenario and the seed.
type Refits struct {
	p         *Prepared
	workspace *workspace
	by        *measuring
	named     map[string]bool            // columns for which a difference has already been reported
	find      func(found, wanted string) // reports a difference in the current row
}

// Refits returns the refits for the replications of p. The refits pass each difference between
// a row and the plan to find. The function find must add the number of the row to its message.
func (p *Prepared) Refits(find func(found, wanted string)) *Refits {
	return &Refits{p: p, workspace: newWorkspace(), named: make(map[string]bool), find: find}
}

// Next generates a replication of a configuration. If solve is set and there are few enough
// jobs, Next computes U*. It reports whether the number of jobs was small enough.
func (r *Refits) Next(configuration, rep int, solve bool) (solved bool, err error) {
	s, a, seed := r.p.settings[configuration], r.workspace, r.p.Experiment.Seed
	if err := a.draw(s, seed, rep); err != nil {
		return false, err
	}
	if err := a.come(s, seed, rep); err != nil {
		return false, err
	}
	a.indexPlan()
	var best yardstick
	if solved = len(a.plan) <= manyJobs || s.payment.Whole; solved && solve {
		best = a.yardstick(s, s.conf.Workload.Warmup)
	}
	r.by = a.measuring(r.p.Experiment, s, rep, best)
	return solved, nil
}

// Jobs returns the number of jobs of the replication.
func (r *Refits) Jobs() int { return len(r.workspace.plan) }

// Kind returns the kind of the replication's U*, as stored in the results.
func (r *Refits) Kind() float64 { return float64(r.by.best.kind()) }

// Apart reports whether the rows describe jobs that are not in the plan.
func (r *Refits) Apart() bool { return r.named["row"] }

// A Refit reconstructs a run from its rows. It combines the jobs of the plan with their
// outcomes.
type Refit struct {
	Run     *Run
	Unknown map[string]bool // metrics that cannot be computed from the rows

	of    *Refits
	offer *offer
	books bool
	known bool   // whether users know the runtimes of their jobs
	at    int    // position of the next job in the plan
	chain *chain // nil if no job of the plan follows another job
}

// Begin returns the refit of the run under policy k. Policies must be processed in order.
func (r *Refits) Begin(k int) *Refit {
	f := &Refit{Run: new(Run), Unknown: make(map[string]bool), of: r}
	f.begin(k)
	return f
}

// End completes f after the last row of its run. It returns the runs whose metrics can now
// be computed, and the position of the first of these runs.
func (r *Refits) End(f *Refit) (first int, done []*Run, err error) { return r.by.next(f.end()) }

// begin prepares f for the first row of a run under policy k.
func (f *Refit) begin(k int) {
	a := f.of.workspace
	f.offer = &f.of.by.s.offers[k]
	f.books = f.offer.about.Books
	f.known = !a.anyJob(func(j *workloadgen.Job) bool { return j.Estimate != j.Runtime && j.Arrival < f.of.by.s.horizon() })
	if follows(a.plan) {
		f.chain = &chain{ended: make(map[int64]ended), seen: make(map[int]bool)}
	}
	out := &f.Run.Outcome
	out.Booked, out.Cancels = f.books, a.anyJob(func(j *workloadgen.Job) bool { return j.Cancel > 0 })
	if f.books { // the table does not contain the hosts on which gangs ran
		f.unsure(metrics.ClusterUtilization, metrics.ClusterLeast, metrics.ClusterMost)
	}
	if a.churn != nil {
		f.unsure(metrics.Resubmissions)
	}
	if Negotiates(&f.offer.Choice) {
		f.unsure(metrics.Offers)
	}
	f.unsure(metrics.HostDemandCorrelation) // no table contains the prices of hosts
	for _, k := range f.of.by.s.offered() { // no table shows how long nodes held resources
		f.Unknown[metrics.HeldName(k.Name(f.of.by.s.counts))] = true
	}
}

func (f *Refit) unsure(all ...metrics.Metric) {
	for _, m := range all {
		f.Unknown[m.Name] = true
	}
}

// planColumns are the jobs columns whose values follow from the plan. The endColumns are empty
// for jobs that were not accepted. The termColumns are the columns that an accepted offer may
// change.
var (
	planColumns = []string{"configuration", "admission", "replication", "user", "arrival", "runtime", "estimate", "nodes", "work", "value", "deadline", "bid"}
	endColumns  = append(slices.Clip(planColumns), "start", "finish", "share", "work_done", "paid", "penalty", "fulfilled", "losses", "wasted", "penalty_owed")
	termColumns = []string{"configuration", "admission", "replication", "user", "arrival"}
)

// skip reports the first job of the plan before position to that has no row.
func (f *Refit) skip(to int) {
	a, horizon := f.of.workspace, f.of.by.s.horizon()
	for ; f.at < to; f.at++ {
		j := &a.plan[f.at]
		if f.chain != nil && (f.chain.seen[f.at] || f.chain.arrival(a, j) >= horizon) {
			continue
		}
		if f.chain == nil && j.Arrival >= horizon || f.of.named["row"] { // the job was not submitted, because it arrived after the horizon
			continue
		}
		f.of.named["row"] = true
		f.of.find(fmt.Sprintf(": no row for job %d of %s, %s, replication %d", j.ID, f.of.by.s.conf.Name, f.offer.Label, f.of.by.rep), "a job derived from scenario and seed")
	}
}

// Takes reports whether a row belongs to this run although the row names another run. The
// row's job must be the next job of the plan. For the first job of the run, the next row of
// the table must also name this run.
func (f *Refit) Takes(row *results.Job, named bool) bool {
	next := f.of.workspace.plan[f.at:]
	return f.chain == nil && len(next) > 0 && row.Job == strconv.FormatInt(next[0].ID, 10) && (f.at > 0 || named)
}

// Add compares a row with the plan and adds the row's job to the run.
func (f *Refit) Add(row *results.Job) {
	of, a := f.of, f.of.workspace
	id, err := strconv.ParseInt(row.Job, 10, 64)
	at := -1
	if err == nil {
		at = a.places.Find(id)
	}
	unknown := at < f.at || f.chain == nil && a.plan[at].Arrival >= f.of.by.s.horizon()
	if f.chain != nil {
		unknown = at < 0 || f.chain.seen[at]
		f.chain.seen[at] = true
	}
	if unknown {
		if !of.named["row"] {
			of.named["row"] = true
			of.find(fmt.Sprintf(", column job: %.40s", row.Job), "a job that is derived from scenario and seed and has no earlier row")
		}
		return
	}
	planned := &a.plan[at]
	if f.chain == nil {
		f.skip(at)
		f.at = at + 1
	} else {
		planned = f.chain.arrive(a, *planned, row)
	}

	var want results.Job
	var o ending
	j := metrics.Job{Job: planned}
	j.Contract.Outcome = contracts.Refused
	jobRow(&want, &o, f.of.by.s.conf, f.offer.Label, f.of.by.rep, &j, f.known, false)
	columns := endColumns
	if sla := &f.of.by.s.conf.SLA; row.Reason == results.OfferTaken {
		columns = termColumns
	} else if row.Decision == contracts.Accept.String() {
		o.bid = dollars(planned.Value).Float64() / (sla.Slack * deadline(sla.Of, planned))
		columns, want.Bid = planColumns, &o.bid
	}
	if column, found, is := results.Differ(row, &want, columns...); column != "" && !of.named[column] {
		of.named[column] = true
		of.find(fmt.Sprintf(", column %s: %s", column, found), is+" derived from scenario and seed")
	}
	f.became(row, &j)
	f.Run.Jobs = append(f.Run.Jobs, j)
}

// became sets the outcome of j, a job of the plan, to the outcome in row.
func (f *Refit) became(row *results.Job, j *metrics.Job) {
	c, planned := &j.Contract, j.Job
	if row.Decision == contracts.Reject.String() {
		j.Reason = contracts.Reason(row.Reason)
		if strings.HasPrefix(row.Reason, string(contracts.TooLate)+" ") {
			j.Reason = contracts.TooLate
		}
		return
	}
	if row.Reason == results.OfferTaken {
		taken := *planned
		taken.Runtime, taken.Nodes = row.Runtime, row.Nodes
		j.Job, j.Bargained = &taken, true
	}
	c.Outcome = contracts.Open
	if row.Decision != contracts.Accept.String() {
		return
	}
	amount := func(m *results.Money) bank.Amount { return bank.Micros(int64(or0(m))) }
	start, finish, due := or0(row.Start), or0(row.Finish), math.Inf(1)
	if row.Deadline != nil {
		due = *row.Deadline
	}
	c.Budget, c.Deadline = bank.Micros(int64(row.Value)), due-row.Arrival
	c.Admitted, c.Began, c.Ended = start, start, finish
	c.Done, c.ByDue = or0(row.Share)*(float64(j.Nodes)*(finish-start)), or0(row.WorkDone)
	c.Paid, c.Penalty, c.Owed = amount(row.Paid), amount(row.Penalty), amount(row.PenaltyOwed)
	c.Losses, c.Wasted, c.Gang = or0(row.Losses), or0(row.Wasted), f.books
	f.Run.End = max(f.Run.End, finish)
	done := contracts.Enough(c.Done, j.Work())
	switch c.Outcome = contracts.Late; {
	case or0(row.Fulfilled):
		c.Outcome = contracts.Fulfilled
	case finish == f.of.by.s.horizon():
		c.Outcome = contracts.Unfinished
		f.unsure(metrics.Queued) // the job may have been waiting
	case planned.Cancel > 0 && finish == planned.Arrival+planned.Cancel && !done && (finish < due || f.overruns(j)):
		c.Outcome = contracts.Cancelled
	case f.offer.about.Rated && !done && c.Losses == 0 && (finish < due || f.overruns(j)): // the budget was spent, or the job was interrupted
		c.Outcome = contracts.Cancelled
	case f.books && finish < due || planned.OnDemand:
		c.Outcome = contracts.Killed
	case f.books && !done: // the job was killed after its deadline, or ended at the deadline
		f.unsure(metrics.Late, metrics.Killed, metrics.ResponseOD, metrics.ResponseAR)
	}
	if f.offer.about.Clears { // rows do not contain the times at which a job was suspended
		f.unsure(metrics.Interruptions)
	}
	if f.books && c.Done == 0 && c.Outcome != contracts.Fulfilled { // the job may not have started
		c.Began = math.Inf(1)
		f.unsure(metrics.Wait, metrics.WaitMedian, metrics.WaitP95)
	}
}

// overruns reports whether j may continue after its deadline.
func (f *Refit) overruns(j *metrics.Job) bool {
	var asked contracts.Request
	f.of.by.s.request(j.Job, &asked)
	return f.books || asked.SLA.GoesOn()
}

// or0 returns the value that p points to, or the zero value if p is nil.
func or0[T any](p *T) (x T) {
	if p != nil {
		x = *p
	}
	return x
}

// end completes the run after its last row and returns it.
func (f *Refit) end() *Run {
	f.skip(len(f.of.workspace.plan))
	f.Run.Closed = slices.ContainsFunc(f.Run.Jobs, func(j metrics.Job) bool {
		return j.Open() || j.Admitted() && j.Contract.Ended == f.of.by.s.horizon()
	})
	return f.Run
}
