package experiments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"bourse/bank"
	"bourse/contracts/admission"
	"bourse/contracts/broker"
	"bourse/experiments/metrics"
	"bourse/experiments/scenario"
)

// Options say how to run an experiment; none changes what comes out of it.
type Options struct {
	Workers  int // replications at once; 0 is one
	Progress func(done, total int)

	// Journal returns the journal of one run and what to do when it is over,
	// or nil to keep none. It is called from several goroutines.
	Journal func(configuration, admission string, rep int) (j bank.Journal, done func(error) error, err error)

	// observe, unless nil, is shown the parts of the broker of each run, which it may
	// wrap. It is called from several goroutines.
	observe func(configuration, admission string, rep int, parts *broker.Config)
}

// A Replication is one configuration on one workload, under each of its policies
// in the order of the scenario.
type Replication struct {
	Configuration int
	Rep           int
	Runs          []*Run
	Optimum       Optimum
}

// A Run is one configuration under one policy in one replication.
type Run struct {
	Jobs    []metrics.Job // in order of arrival
	Prices  []float64     // mean host price over each 5 minutes, $/s
	End     float64       // instant of the last end, 0 if nothing was admitted
	Closed  bool          // the horizon came before all was done
	Outcome metrics.Outcome
}

// An Optimum is U* of a workload, or a bound on it.
type Optimum struct {
	Value  float64
	Bound  float64 // no plan is worth more
	Proven bool    // Value is Bound, or there is none

	// Deadlines leave room: Bound is over all schedules that respect arrivals and deadlines,
	// on one host that does as much as the fleet.
	Room bool

	// Parts is Bound where users are elastic (alpha 0): more than Bound where jobs may be
	// divided, which only matters if deadlines leave room or some users got more than Bound.
	Parts float64
}

// inOrder has n pieces of work done by so many workers, each of which begin makes ready,
// and gives what they return to take, in order. It stops at the first error.
func inOrder[T any](ctx context.Context, n, workers int, begin func(context.Context) func(int) (T, error), take func(T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers = min(max(workers, 1), n)
	type finished struct {
		i     int
		found T
		err   error
	}
	todo, done := make(chan int), make(chan finished)
	// A piece is begun only when few wait to be taken.
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

// each runs replication r under one policy after another, and gives each run to take as
// soon as all is known that it is measured by. A run is good until the next replication,
// unless [arena.leave] comes first.
func (a *arena) each(ctx context.Context, e *scenario.Experiment, all []*setting, r *Replication, opts Options, take func(policy int, run *Run) error) (err error) {
	s, rep := all[r.Configuration], r.Rep
	at := place(e, r.Configuration, rep)
	defer at.recovered(&err)
	fail := func(err error) error {
		if errors.As(err, new(*Panic)) { // it says where by itself
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
	m := a.measuring(e, s, rep, a.yardstick(s, s.conf.Workload.Warmup))
	for k := range s.offers {
		o := &s.offers[k]
		at.Policy = o.Label
		run, err := a.journaled(ctx, s, o, e.Seed, rep, opts, at)
		if err != nil {
			return fail(fmt.Errorf("admission %s: %w", o.Label, err))
		}
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

// A measuring tells the runs of a replication, one under each policy in turn, what they are
// measured by.
type measuring struct {
	arena *arena // with the jobs and hosts of the replication
	e     *scenario.Experiment
	s     *setting
	rep   int

	best     yardstick
	demand   []float64 // prices of the first run on the spot market
	promises []metrics.Promise
	knows    int // after that run all is known that others are measured by
	waiting  []*Run
	runs     int
}

func (a *arena) measuring(e *scenario.Experiment, s *setting, rep int, best yardstick) *measuring {
	m := &measuring{arena: a, e: e, s: s, rep: rep, best: best}
	// What the first to run on the spot market pays is the demand that others are held
	// against; predictors are asked for promises after all runs.
	m.knows = slices.IndexFunc(s.offers, func(o offer) bool { return admission.Spot(o.Name) })
	// All runs of a replication have one U*, which what users had in any of them may raise.
	if wantsPromises(e) || best.Bound > 0 && !best.Room && len(a.plan) <= manyJobs {
		m.knows = len(s.offers) - 1
	}
	return m
}

// next enters the run under the next policy. It returns those of which all is known now, and
// the number of the first.
func (m *measuring) next(run *Run) (first int, done []*Run, err error) {
	for i := range min(len(m.best.chosen), len(run.Jobs)) {
		run.Jobs[i].Chosen = m.best.chosen[i]
	}
	if m.demand == nil && admission.Spot(m.s.offers[m.runs].Name) {
		m.demand = slices.Clone(run.Prices) // the run may be gone when others are measured
	}
	m.waiting = append(m.waiting, run)
	if m.runs++; m.runs <= m.knows {
		return 0, nil, nil
	}
	if wantsPromises(m.e) {
		m.promises = m.arena.promises(m.s, m.e.Seed, m.rep)
	}
	done, m.waiting = m.waiting, m.waiting[len(m.waiting):]
	first = m.runs - len(done)
	f := &m.s.conf.Fleet
	for _, run := range done {
		warm := int(m.s.conf.Workload.Warmup * float64(len(run.Jobs)))
		o := &run.Outcome
		o.Capacity, o.Hosts, o.Processors = f.Capacity(), f.Hosts, f.CPUs
		o.Jobs, o.Earlier, o.Prices, o.Promises = run.Jobs[warm:], run.Jobs[:warm], run.Prices, m.promises
		m.arena.stop(m.s, run)
		m.arena.cover(m.s, &m.best, metrics.Utilities(o, 0)[0])
	}
	for i, run := range done {
		o, by := &run.Outcome, &m.s.offers[first+i]
		o.Optimum, o.OptimumOfParts = m.best.Bound, m.best.Parts
		o.AdmitsAll = admitsAll(m.s.conf, &by.Choice)
		if err := metrics.Check(o); err != nil {
			return 0, nil, err
		}
		if !admission.Spot(by.Name) {
			o.Demand = m.demand
		}
	}
	return first, done, nil
}

// journaled is run with the journal that opts want for it, which is told of a panic
// as of any error.
func (a *arena) journaled(ctx context.Context, s *setting, o *offer, seed uint64, rep int, opts Options, at Panic) (*Run, error) {
	if opts.Journal != nil {
		j, done, err := opts.Journal(s.conf.Name, o.Label, rep)
		if err != nil {
			return nil, err
		}
		if j != nil {
			run, err := func() (run *Run, err error) {
				defer at.recovered(&err)
				return a.run(ctx, s, o, seed, rep, j)
			}()
			return run, done(err)
		}
	}
	return a.run(ctx, s, o, seed, rep, nil)
}
