package experiments

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/policies"
	"bourse/experiments/metrics"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/workloadgen"
)

// A remaker computes the units of results again. It reads the rows of jobs and prices and
// encodes them, and encodes the rows of metrics from the stored values. It compares the rows
// of jobs with the plan of jobs, which it draws from scenario and seed, and the stored values
// with those computed from rows and plan. It implements [results.Source]; units must be read
// in order.
type remaker struct {
	*results.Whole
	*rederivation
	ctx   context.Context
	study *Study
	out   *results.Encoder
	arena *arena

	jobs     *reading[results.Job]
	prices   *reading[results.Price]
	measured int // rows of metrics so far

	named     map[string]bool // columns of jobs for which a difference was reported
	different int             // number of values that differ
	unknown   map[string]bool // metrics that could not be computed for some run
	unsolved  map[string]bool // configurations for which U* was not computed
}

func newRemaker(ctx context.Context, r *rederivation, e *scenario.Experiment) *remaker {
	return &remaker{
		Whole: r.units, rederivation: r, ctx: ctx, study: newStudy(e), out: results.NewEncoder(r.to.Tables, axes(e)), arena: newArena(),
		jobs: newReading(r, "jobs", r.d.TextJobs()), prices: newReading(r, "prices", r.d.Unchecked().Prices(nil)),
		named: make(map[string]bool), unknown: make(map[string]bool), unsolved: make(map[string]bool),
	}
}

// A reading reads the rows of a table in order.
type reading[R any] struct {
	r    *rederivation
	file string // empty if results have no such table
	next func() (R, error, bool)
	stop func()

	row   *R    // current row; nil after the last
	n     int   // number of the current row
	ahead *R    // the row after it
	err   error // error in reading the row ahead
}

func newReading[R any](r *rederivation, table string, rows iter.Seq2[R, error]) *reading[R] {
	in := &reading[R]{r: r, file: r.d.File(table), stop: func() {}}
	if in.file != "" {
		in.next, in.stop = iter.Pull2(rows)
		in.look()
	}
	if filepath.Ext(in.file) == ".csv" {
		in.n++ // the header counts as a row
	}
	return in
}

// look reads the row ahead.
func (in *reading[R]) look() {
	in.ahead = nil
	if row, err, ok := in.next(); err != nil {
		in.err = err
	} else if ok {
		in.ahead = &row
	}
}

// advance makes the row ahead the current one.
func (in *reading[R]) advance() error {
	if in.next == nil {
		return nil
	}
	if in.err != nil {
		in.r.find(in.file, in.err.Error(), "rows that can be read")
		return in.err
	}
	in.n++
	if in.row = in.ahead; in.row != nil {
		in.look()
	}
	return nil
}

// Read implements [results.Source].
func (m *remaker) Read(name string) (*results.Unit, error) {
	of, err := parseUnit(name)
	if err != nil {
		return nil, err
	}
	unit, err := m.Values(name)
	if err == nil {
		err = m.study.check(of, unit.Values)
	}
	if err != nil {
		m.find("units.values", err.Error(), "what was measured of unit "+name)
		return nil, err
	}
	if m.measured == 0 {
		if err = m.jobs.advance(); err == nil {
			err = m.prices.advance()
		}
	}
	if err != nil {
		return nil, err
	}
	found, size := unit.Values, 1+len(m.study.cells[of.Configuration])*m.study.width()
	for rep := of.From; rep < of.To; rep++ {
		if err := m.replication(of.Configuration, rep, found[:size]); err != nil {
			return nil, err
		}
		found = found[size:]
	}
	if unit.Block, err = m.out.Block(); err != nil {
		return nil, err
	}
	for file, rows := range unit.Block {
		unit.Block[file] = slices.Clone(rows)
	}
	return unit, nil
}

// end reports extra rows after the last, and what was not compared.
func (m *remaker) end() {
	if m.jobs.row != nil {
		m.find(m.jobs.file, fmt.Sprintf("row %d: one more", m.jobs.n), "none by scenario and seed")
	}
	if m.prices.row != nil {
		m.find(m.prices.file, fmt.Sprintf("row %d: one more", m.prices.n), "none by scenario and seed")
	}
	switch {
	case m.jobs.file == "":
		m.beyond("what was measured of each run (units.values, and the metrics made of it): the results keep no table of jobs; --deep computes it")
	case m.p == nil:
		m.beyond("what was measured of each run (units.values, and the metrics made of it): without the plan of jobs it cannot be computed")
	}
	if m.different > 1 {
		m.find("units.values", fmt.Sprintf("%d more values that differ", m.different-1), "none")
	}
	if len(m.unknown) > 0 {
		m.beyond("%s: %s does not have all that they are made of; --deep computes them", strings.Join(slices.Sorted(maps.Keys(m.unknown)), ", "), m.jobs.file)
	}
	if len(m.unsolved) > 0 {
		m.beyond("U*, and what is measured by it, of %s: it takes long; --deep computes it", strings.Join(slices.Sorted(maps.Keys(m.unsolved)), ", "))
	}
}

// replication recomputes the rows of a replication. The stored values are in found.
func (m *remaker) replication(configuration, rep int, found []float64) error {
	c, width := &m.study.Experiment.Configurations[configuration], m.study.width()
	var by *measuring
	solved := len(m.arena.plan) <= manyJobs
	if p := m.p; p != nil {
		s, a := p.settings[configuration], m.arena
		if err := a.draw(s, p.Experiment.Seed, rep); err != nil {
			return err
		}
		if err := a.come(s, p.Experiment.Seed, rep); err != nil {
			return err
		}
		a.indexPlan()
		var best yardstick
		if solved = len(a.plan) <= manyJobs || s.payment.Whole; solved && m.jobs.file != "" {
			best = a.yardstick(s, s.conf.Workload.Warmup)
		}
		by = a.measuring(p.Experiment, s, rep, best)
	}
	kind, found := found[0], found[1:]
	fits := make([]*fit, len(c.Admission))
	for k := range c.Admission {
		label, stored := c.Admission[k].Label, found[k*width:][:width]
		f := &fit{m: m, by: by, run: new(Run), conf: c, label: label, rep: rep, unknown: make(map[string]bool), metrics: m.measured}
		if fits[k] = f; by != nil {
			f.begin(k)
		}
		if err := m.rows(f); err != nil {
			return err
		}
		if err := m.out.Metrics(m.study.measuredRows(nil, configuration, k, rep, stored)); err != nil {
			return err
		}
		m.measured += len(m.study.Metrics)
		if by == nil || m.jobs.file == "" {
			continue
		}
		first, done, err := by.next(f.end())
		if err != nil {
			return err
		}
		for i := range done {
			if m.named["row"] {
				continue // a run that has other jobs has other numbers
			}
			m.compare(fits[first+i], found[(first+i)*width:][:width], solved)
		}
	}
	if by != nil && m.jobs.file != "" && !solved {
		m.unsolved[fmt.Sprintf("%s, with %d jobs", c.Name, len(m.arena.plan))] = true
	} else if by != nil && m.jobs.file != "" && kind != float64(by.best.kind()) {
		m.differs("units.values", fmt.Sprintf("kind %v of U* of %s, replication %d", kind, c.Name, rep), fmt.Sprint(int(by.best.kind())))
	}
	return nil
}

// rows reads and encodes the rows of a run.
func (m *remaker) rows(f *fit) error {
	var jobs []results.Job
	for j := m.jobs.row; j != nil && f.owns(j); j = m.jobs.row {
		if f.by != nil {
			f.row(j)
		}
		if jobs = append(jobs, *j); len(jobs) == rowsAtOnce {
			if err := m.out.Jobs(jobs); err != nil {
				return err
			}
			jobs = jobs[:0]
		}
		if err := m.jobs.advance(); err != nil {
			return err
		}
	}
	var prices []results.Price
	for p := m.prices.row; p != nil; p = m.prices.row {
		want := priceRow(f.conf.Name, f.label, f.rep, len(prices), p.MeanPrice)
		next := want
		if next.Time = p.Time; *p != next && (len(prices) == 0 || p.Time != want.Time) { // of another run
			break
		}
		prices = append(prices, want)
		f.run.Prices = append(f.run.Prices, p.MeanPrice)
		if err := m.prices.advance(); err != nil {
			return err
		}
	}
	if err := m.out.Jobs(jobs); err != nil {
		return err
	}
	return m.out.Prices(prices)
}

// differs counts a value that differs from the recomputed one, and reports the first.
func (m *remaker) differs(file, found, want string) {
	if m.different++; m.different == 1 {
		m.find(file, found, want+", as "+m.jobs.file+" comes to")
	}
}

// within is the tolerated relative error of metrics computed from the work done, which tables
// store as a share.
const within = 1e-9

// compare compares the stored values of a run with those computed from its rows.
func (m *remaker) compare(f *fit, stored []float64, solved bool) {
	if !solved {
		for _, metric := range m.study.Metrics {
			if strings.Contains(metric.Name, "efficiency") {
				f.unknown[metric.Name] = true
			}
		}
	}
	want := m.study.measure(f.run, nil)
	of := fmt.Sprintf("%s, %s, replication %d", f.conf.Name, f.label, f.rep)
	same := func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
	number := func(x float64) string {
		if math.IsNaN(x) {
			return "nothing"
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	table, first := m.d.File("metrics"), 1
	if filepath.Ext(table) == ".csv" {
		first++
	}
	at := len(m.study.Metrics)
	for i := range m.study.Metrics {
		metric := &m.study.Metrics[i]
		x, y := stored[i], want[i]
		close := metric.Name == metrics.Utilization.Name && math.Abs(x-y) <= within*math.Abs(y)
		row := f.metrics + i + first
		if !f.unknown[metric.Name] && !same(x, y) && !close {
			m.differs(table, fmt.Sprintf("row %d, column value: %s, %s of %s", row, number(x), metric.Name, of), number(y))
		}
		if metric.Trials == nil {
			continue
		}
		if x, y := stored[at], want[at]; !f.unknown[metric.Name] && !same(x, y) {
			m.differs(table, fmt.Sprintf("row %d, column trials: %s, of %s of %s", row, number(x), metric.Name, of), number(y))
		}
		at++
	}
	for name := range f.unknown {
		if !strings.Contains(name, "efficiency") {
			m.unknown[name] = true
		}
	}
	for i, alpha := range m.study.Experiment.Alphas {
		if x, y := stored[at+i], want[at+i]; solved && !same(x, y) {
			m.differs("units.values", fmt.Sprintf("efficiency %s at alpha %v of %s", number(x), alpha, of), number(y))
		}
	}
	at += len(m.study.Experiment.Alphas)
	for i, name := range [besides]string{"$ of unpaid penalties", "unpaid users", "jobs", "jobs rejected as too late", "jobs started", "jobs completed", "jobs open"} {
		if x, y := stored[at+i], want[at+i]; !same(x, y) && !(name == "jobs started" && f.unknown[metrics.Wait.Name]) {
			m.differs("units.values", fmt.Sprintf("%s %s of %s", number(x), name, of), number(y))
		}
	}
}

// A fit reconstructs a run from its rows: the jobs of the plan and their outcomes.
type fit struct {
	m       *remaker
	by      *measuring // nil without a plan
	run     *Run
	conf    *scenario.Configuration
	label   string
	rep     int
	metrics int // number of metric rows before its own

	offer   *offer
	books   bool
	known   bool   // users know how long their jobs run
	at      int    // position of the next job in the plan
	chain   *chain // nil if no job of the plan follows another
	unknown map[string]bool
}

// begin prepares f for the first row of a run under policy k.
func (f *fit) begin(k int) {
	a := f.m.arena
	f.offer = &f.by.s.offers[k]
	f.books = policies.Of(f.offer.Name).Books
	f.known = !a.anyJob(func(j *workloadgen.Job) bool { return j.Estimate != j.Runtime && j.Arrival < f.by.s.horizon() })
	if follows(a.plan) {
		f.chain = &chain{ended: make(map[int64]ended), seen: make(map[int]bool)}
	}
	of := &f.run.Outcome
	of.Booked, of.Cancels = f.books, a.anyJob(func(j *workloadgen.Job) bool { return j.Cancel > 0 })
	if f.books { // the table does not show where gangs ran
		f.unsure(metrics.ClusterUtilization, metrics.ClusterLeast, metrics.ClusterMost)
	}
	if a.churn != nil {
		f.unsure(metrics.Resubmissions)
	}
	if negotiates(&f.offer.Choice) {
		f.unsure(metrics.Offers)
	}
	f.unsure(metrics.HostDemandCorrelation) // no table has the prices of hosts
}

func (f *fit) unsure(all ...metrics.Metric) {
	for _, m := range all {
		f.unknown[m.Name] = true
	}
}

// planColumns are the columns of jobs that the plan determines. The endColumns are empty for a
// job that was not accepted. An offer does not change the termColumns.
var (
	planColumns = []string{"configuration", "admission", "replication", "user", "arrival", "runtime", "estimate", "nodes", "work", "value", "deadline", "bid"}
	endColumns  = append(slices.Clip(planColumns), "start", "finish", "share", "work_done", "paid", "penalty", "fulfilled", "losses", "wasted", "penalty_owed")
	termColumns = []string{"configuration", "admission", "replication", "user", "arrival"}
)

// skip reports the first job of the plan before position to that has no row.
func (f *fit) skip(to int) {
	a, horizon := f.m.arena, f.by.s.horizon()
	for ; f.at < to; f.at++ {
		j := &a.plan[f.at]
		if f.chain != nil && (f.chain.seen[f.at] || f.chain.arrival(a, j) >= horizon) {
			continue
		}
		if f.chain == nil && j.Arrival >= horizon || f.m.named["row"] { // not submitted before the horizon
			continue
		}
		f.m.named["row"] = true
		f.m.find(f.m.jobs.file, fmt.Sprintf("row %d: no row of job %d of %s, %s, replication %d", f.m.jobs.n, j.ID, f.conf.Name, f.label, f.rep), "one by scenario and seed")
	}
}

// owns reports whether a row belongs to the run. A row with a wrong configuration, policy or
// replication also does if it is in the place of the plan's next job.
func (f *fit) owns(row *results.Job) bool {
	names := func(row *results.Job) bool {
		return row.Configuration == f.conf.Name && row.Admission == f.label && row.Replication == f.rep
	}
	if names(row) {
		return true
	}
	next, ahead := f.m.arena.plan[f.at:], f.m.jobs.ahead
	return f.by != nil && f.chain == nil && len(next) > 0 && row.Job == strconv.FormatInt(next[0].ID, 10) && (f.at > 0 || ahead != nil && names(ahead))
}

// row compares a row with the plan and adds its job to the run.
func (f *fit) row(row *results.Job) {
	m, a := f.m, f.m.arena
	id, err := strconv.ParseInt(row.Job, 10, 64)
	at := -1
	if err == nil {
		at = a.places.Find(id)
	}
	unknown := at < f.at || f.chain == nil && a.plan[at].Arrival >= f.by.s.horizon()
	if f.chain != nil {
		unknown = at < 0 || f.chain.seen[at]
		f.chain.seen[at] = true
	}
	if unknown {
		if !m.named["row"] {
			m.named["row"] = true
			m.find(m.jobs.file, fmt.Sprintf("row %d, column job: %.40s", m.jobs.n, row.Job), "a job that is not in a row before, by scenario and seed")
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
	jobRow(&want, &o, f.by.s.conf, f.label, f.rep, &j, f.known, false)
	columns := endColumns
	if sla := &f.conf.SLA; row.Reason == results.OfferTaken {
		columns = termColumns
	} else if row.Decision == contracts.Accept.String() {
		o.bid = dollars(planned.Value).Float64() / (sla.Slack * deadline(sla.Of, planned))
		columns, want.Bid = planColumns, &o.bid
	}
	if column, found, is := results.Differ(row, &want, columns...); column != "" && !m.named[column] {
		m.named[column] = true
		m.find(m.jobs.file, fmt.Sprintf("row %d, column %s: %s", m.jobs.n, column, found), is+" by scenario and seed")
	}
	f.became(row, &j)
	f.run.Jobs = append(f.run.Jobs, j)
}

// became fills j, a job of the plan, with the outcome in row.
func (f *fit) became(row *results.Job, j *metrics.Job) {
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
	f.run.End = max(f.run.End, finish)
	done := contracts.Enough(c.Done, j.Work())
	switch c.Outcome = contracts.Late; {
	case or0(row.Fulfilled):
		c.Outcome = contracts.Fulfilled
	case finish == f.by.s.horizon():
		c.Outcome = contracts.Unfinished
		f.unsure(metrics.Queued) // it may have waited
	case planned.Cancel > 0 && finish == planned.Arrival+planned.Cancel && !done && (finish < due || f.overruns(j)):
		c.Outcome = contracts.Cancelled
	case f.books && finish < due || planned.OnDemand:
		c.Outcome = contracts.Killed
	case f.books && !done: // killed after its deadline, or ended by it
		f.unsure(metrics.Late, metrics.Killed, metrics.ResponseOD, metrics.ResponseAR)
	}
	if f.books && c.Done == 0 && c.Outcome != contracts.Fulfilled { // it may not have started
		c.Began = math.Inf(1)
		f.unsure(metrics.Wait, metrics.WaitMedian, metrics.WaitP95)
	}
}

// overruns reports whether j may continue after its deadline.
func (f *fit) overruns(j *metrics.Job) bool {
	var asked contracts.Request
	f.by.s.request(j.Job, &asked)
	return f.books || asked.SLA.GoesOn()
}

// or0 returns what p points to, or the zero value.
func or0[T any](p *T) (x T) {
	if p != nil {
		x = *p
	}
	return x
}

// end completes the run after its last row and returns it.
func (f *fit) end() *Run {
	f.skip(len(f.m.arena.plan))
	f.run.Closed = slices.ContainsFunc(f.run.Jobs, func(j metrics.Job) bool {
		return j.Open() || j.Admitted() && j.Contract.Ended == f.by.s.horizon()
	})
	return f.run
}
