package experiments

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"bourse/bank"
	"bourse/contracts/broker"
	"bourse/contracts/policies"
	"bourse/experiments/metrics"
	"bourse/experiments/scenario"
)

// Options control how an experiment runs. No option changes the results.
type Options struct {
	Workers  int // parallel replications; 0 means one
	Progress func(done, total int)

	Journal Journal // called from several goroutines

	// Observe, if not nil, receives the broker components of each run and may wrap them. It is
	// called from several goroutines.
	Observe func(configuration, admission string, rep int, parts *broker.Config)
}

// A Journal returns the journal for one run, and a function that must be called when the run
// is over. It returns a nil journal if the run needs no journal.
type Journal func(configuration, admission string, rep int) (j bank.Journal, done func(error) error, err error)

// A Replication is one workload in one configuration. It runs under each policy of the
// configuration, in the order of the scenario.
type Replication struct {
	Configuration int
	Rep           int
	Runs          []*Run
	Optimum       Optimum
}

// A Run is one replication of a configuration under one policy.
type Run struct {
	Jobs    []metrics.Job // in order of arrival
	Prices  []float64     // mean host price in each five-minute bin, in $/s
	End     float64       // time at which the last job ended, or 0 if no job was admitted
	Closed  bool          // whether jobs were open at the end, either because the horizon came before all work was done or because some waiting jobs can never start
	Outcome metrics.Outcome
}

// An Optimum is U* of a workload, or a bound on it.
type Optimum struct {
	Value  float64
	Bound  float64 // upper bound on the value of any plan
	Proven bool    // whether Value equals Bound, or neither of them exists

	// Room reports whether deadlines leave slack. Bound then covers all schedules that
	// respect arrivals and deadlines, on a single host with the capacity of the fleet.
	Room bool

	// Parts is the bound for elastic users (alpha 0). It exceeds Bound if dividing jobs can
	// increase the value. This matters only if deadlines leave slack or if some users obtained
	// more than Bound.
	Parts float64
}

// InOrder runs n tasks in parallel on the given number of workers. Each worker calls begin
// once to obtain the function that runs a task. InOrder passes the results to take in order
// and stops at the first error.
func InOrder[T any](ctx context.Context, n, workers int, begin func(context.Context) func(int) (T, error), take func(T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers = min(max(workers, 1), n)
	type finished struct {
		i     int
		found T
		err   error
	}
	todo, done := make(chan int), make(chan finished)
	// Limit the number of finished results that wait for take.
	room := make(chan struct{}, 4*max(workers, 1))

	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			do := begin(ctx)
			for i := range todo {
				found, err := do(i)
				select {
				case done <- finished{i, found, err}:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	wg.Go(func() {
		defer close(todo)
		for i := range n {
			select {
			case room <- struct{}{}:
			case <-ctx.Done():
				return
			}
			select {
			case todo <- i:
			case <-ctx.Done():
				return
			}
		}
	})
	err := func() error {
		waiting := make(map[int]T)
		for next := 0; next < n; {
			select {
			case f := <-done:
				if f.err != nil {
					return f.err
				}
				waiting[f.i] = f.found
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			for found, ok := waiting[next]; ok; found, ok = waiting[next] {
				if err := take(found); err != nil {
					return err
				}
				delete(waiting, next)
				next++
				<-room
			}
		}
		return nil
	}()
	cancel(err)
	wg.Wait()
	return err
}

// each runs replication r under each of its policies, in order. It passes a run to take as
// soon as all data for the metrics of the run are known. A run is valid until the next
// replication, unless [workspace.leave] is called before that.
func (a *workspace) each(ctx context.Context, e *scenario.Experiment, all []*setting, r *Replication, opts Options, take func(policy int, run *Run) error) (err error) {
	s, rep := all[r.Configuration], r.Rep
	at := place(e, r.Configuration, rep)
	defer at.Recovered(&err)
	fail := func(err error) error {
		if located(err) {
			return err
		}
		return fmt.Errorf("configuration %s, replication %d: %w", s.conf.Name, rep, err)
	}
	if err := a.draw(s, e.Seed, rep); err != nil {
		return fail(err)
	}
	if err := a.come(s, e.Seed, rep); err != nil {
		return fail(err)
	}
	plan := a.plan
	m := a.measuring(e, s, rep, a.yardstick(s, s.conf.Workload.Warmup))
	for k := range s.offers {
		o := &s.offers[k]
		at.Policy = o.Label
		run, err := a.journaled(ctx, s, o, e.Seed, rep, opts, at)
		if err != nil {
			if !located(err) {
				err = fmt.Errorf("admission %s: %w", o.Label, err)
			}
			return fail(err)
		}
		a.plan = plan // if jobs follow other jobs, each run has its own plan
		at.Policy = ""
		first, done, err := m.next(run)
		if err != nil {
			return fail(err)
		}
		r.Optimum = m.best.Optimum
		for i, run := range done {
			if err := take(first+i, run); err != nil {
				return err
			}
		}
	}
	return nil
}

// A measuring collects the data that the metrics of a replication's runs require. It receives
// one run per policy, in order.
type measuring struct {
	workspace *workspace // jobs and hosts of the replication
	e         *scenario.Experiment
	s         *setting
	rep       int

	best     yardstick
	demand   []float64   // prices in the first run on the spot market
	demands  [][]float64 // the same prices by host, if they are recorded
	promises []metrics.Promise
	knows    int // number of the policy after whose run all data for the metrics are known
	waiting  []*Run
	runs     int
}

func (a *workspace) measuring(e *scenario.Experiment, s *setting, rep int, best yardstick) *measuring {
	m := &measuring{workspace: a, e: e, s: s, rep: rep, best: best}
	// The prices of the first run on the spot market are the measure of demand. The other runs
	// are compared with these prices. Predictors are asked for predictions after all runs.
	m.knows = slices.IndexFunc(s.offers, func(o offer) bool { return o.about.Spot })
	// All runs of a replication share one U*. If users in some run obtain more utility than
	// this bound, the bound is raised.
	if wantsPromises(e) || best.Bound > 0 && !best.Room && len(a.plan) <= manyJobs {
		m.knows = len(s.offers) - 1
	}
	return m
}

// next adds the run under the next policy. It returns the runs whose metrics can now be
// computed, and the position of the first of these runs.
func (m *measuring) next(run *Run) (first int, done []*Run, err error) {
	for i := range min(len(m.best.chosen), len(run.Jobs)) {
		run.Jobs[i].Chosen = m.best.chosen[i]
	}
	if m.demand == nil && m.s.offers[m.runs].about.Spot {
		m.demand, m.demands = slices.Clone(run.Prices), run.Outcome.HostPrices // copied, because the memory of the run may be reused before the other runs are measured
	}
	m.waiting = append(m.waiting, run)
	if m.runs++; m.runs <= m.knows {
		return 0, nil, nil
	}
	if wantsPromises(m.e) {
		m.promises = m.workspace.promises(m.s, m.e.Seed, m.rep)
	}
	done, m.waiting = m.waiting, m.waiting[len(m.waiting):]
	first = m.runs - len(done)
	f := &m.s.conf.Fleet
	for _, run := range done {
		warm := int(m.s.conf.Workload.Warmup * float64(len(run.Jobs)))
		o := &run.Outcome
		o.Capacity, o.Hosts, o.Processors = f.Capacity(), f.Hosts, f.CPUs
		o.Jobs, o.Earlier, o.Prices, o.Promises = run.Jobs[warm:], run.Jobs[:warm], run.Prices, m.promises
		m.workspace.stop(m.s, run)
		m.workspace.cover(m.s, &m.best, metrics.Utilities(o, 0)[0])
	}
	for i, run := range done {
		o, by := &run.Outcome, &m.s.offers[first+i]
		o.Optimum, o.OptimumOfParts = m.best.Bound, m.best.Parts
		o.AdmitsAll = admitsAll(m.s.conf, by.about.Spot)
		if err := metrics.Check(o); err != nil {
			return 0, nil, err
		}
		if !by.about.Spot {
			o.Demand, o.HostDemand = m.demand, m.demands
		}
	}
	return first, done, nil
}

// journaled is like run, but it also writes the journal that opts requests. It also passes an
// error or a panic to the function that ends the journal.
func (a *workspace) journaled(ctx context.Context, s *setting, o *offer, seed uint64, rep int, opts Options, at Panic) (*Run, error) {
	if opts.Journal != nil {
		j, done, err := opts.Journal(s.conf.Name, o.Label, rep)
		if err != nil {
			return nil, err
		}
		if j != nil {
			run, err := func() (run *Run, err error) {
				defer at.Recovered(&err)
				return a.run(ctx, s, o, seed, rep, j, hooksOf(o)...)
			}()
			return run, done(err)
		}
	}
	return a.run(ctx, s, o, seed, rep, nil, hooksOf(o)...)
}

// AdmitsAll reports whether policy a admits every request in configuration c that can be
// placed. This is the case if a sells on the spot market, requests state no minimum and hosts
// never leave.
func AdmitsAll(c *scenario.Configuration, a *scenario.Choice) bool {
	return admitsAll(c, policies.Of(a.Name).Spot)
}

// admitsAll does the same for a policy; spot reports whether the policy sells on the spot
// market.
func admitsAll(c *scenario.Configuration, spot bool) bool {
	return spot && c.Needs.Min == (scenario.Bound{}) && c.Fleet.Availability == nil
}
