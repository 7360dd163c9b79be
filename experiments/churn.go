package experiments

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"bourse/contracts/floor"
	"bourse/experiments/metrics"
	"bourse/experiments/scenario"
	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/hosts/availability/models"
	"bourse/hosts/availability/predictors"
	"bourse/hosts/availability/traces"
)

// A churn determines when the hosts of a setting are present in each replication. It depends
// only on the stream "availability", so every policy runs on the same hosts.
type churn struct {
	rules     floor.Availability // all fields except the histories
	predictor predictors.Predictor
	model     models.Model
	fixed     *availability.Trace // trace used in every replication, if there is no model
	end       float64             // time at which the traces end
}

// A recorded is an availability trace with a description of how the lines of its file were
// interpreted.
type recorded struct {
	trace *availability.Trace
	lines *traces.Accounting
}

// churn returns the churn of a setting, or nil if hosts never leave.
func (read *recordings) churn(f *scenario.Fleet, work *workload) (*churn, error) {
	a := f.Availability
	if a == nil {
		return nil, nil
	}
	p := new(churn)
	var err error
	if p.rules.Leaving, err = floor.Leavings().New(a.Leaving, nil); err != nil {
		return nil, fmt.Errorf("fleet.availability.leaving: %w", err)
	}
	p.rules.Charged = a.LostWork == "charged"
	if p.predictor, err = predictors.Table().New(a.Predictor.Name, a.Predictor.Decode); err != nil {
		return nil, a.Predictor.Blame(err)
	}
	p.rules.Predictor = predictors.Completing{Predictor: p.predictor}
	if a.Model != nil {
		p.end = a.Span
		if p.model, err = models.Table().New(a.Model.Name, a.Model.Decode); err != nil {
			return nil, a.Model.Blame(err)
		}
		return p, nil
	}
	key := *a
	key.Leaving, key.LostWork, key.Predictor = "", "", scenario.Choice{}
	r, ok := read.traces[key]
	if !ok {
		trace, acc, err := readTrace(read.files, a)
		if err != nil {
			return nil, fmt.Errorf("fleet.availability.file: %w", err)
		}
		r = recorded{trace, acc}
		read.traces[key] = r
	}
	work.note("%s: %s", a.File, strings.TrimSpace(r.lines.String()))
	p.fixed = r.trace
	_, p.end = p.fixed.Span()
	if n := len(p.fixed.Hosts); n < f.Hosts {
		return nil, fmt.Errorf("fleet.availability.file: %s has %d hosts, want as many as fleet.hosts, %d; base.fleet.hosts=%d uses all of them", a.File, n, f.Hosts, n)
	}
	return p, nil
}

// horizon returns the time at which a run ends, or +Inf if the run ends when all work is
// done.
func (s *setting) horizon() float64 {
	switch h := s.conf.Horizon; {
	case h != nil:
		return *h
	case s.churn != nil:
		return s.churn.end
	}
	return math.Inf(1)
}

// come sets the availability histories of the fleet for replication rep.
func (a *workspace) come(s *setting, seed uint64, rep int) error {
	a.churn = nil
	p := s.churn
	if p == nil {
		return nil
	}
	a.present = p.rules
	a.present.Histories = a.histories[:0]
	trace := p.fixed
	if trace == nil {
		var err error
		if trace, err = p.model.Trace(rand.New(scenario.Stream(seed, rep, "availability")), s.conf.Fleet.Hosts, p.end); err != nil {
			return err
		}
		for h := range trace.Hosts {
			trace.Hosts[h].MIPS = s.conf.Fleet.SpeedOf(h)
		}
	}
	a.histories = append(a.histories[:0], trace.Hosts[:s.conf.Fleet.Hosts]...)
	a.present.Histories, a.churn = a.histories, &a.present
	return nil
}

// available returns the work that the hosts could have done between two times.
func (a *workspace) available(f *scenario.Fleet, from, to float64) float64 {
	sum := 0.0
	for h, past := range a.histories {
		sum += past.Available(from, to) * f.CPUsOf(h) * f.SpeedOf(h)
	}
	return sum
}

// held returns the utilization of each resource of the hosts from the first arrival to the
// given time.
func (a *workspace) held(s *setting, jobs []metrics.Job, until float64) (all []metrics.Held) {
	if len(jobs) == 0 {
		return nil
	}
	from := jobs[0].Arrival
	for _, k := range s.offered() {
		one := metrics.Held{Name: k.Name(s.counts)}
		for h := range a.machines {
			m, there := &a.machines[h], until-from
			if a.churn != nil {
				there = a.histories[h].Available(from, until)
			}
			one.Used += m.Used(until, k)
			one.Could += m.Spec().Room.Of(k) * there
		}
		all = append(all, one)
	}
	return all
}

// offered returns the kinds of resources that hosts offer for tasks to hold.
func (s *setting) offered() (all []hosts.Kind) {
	f := &s.conf.Fleet
	for h := range max(1, len(f.Held)) {
		like := spec(f, h, s.counts)
		for k := hosts.Memory; k < hosts.Kinds; k++ {
			if like.Room.Of(k) > 0 && !slices.Contains(all, k) {
				all = append(all, k)
			}
		}
	}
	return all
}

// stop excludes jobs that were open at the horizon from the jobs that count. It also measures
// how long hosts were present. Jobs of the warm-up that are still open are excluded entirely.
func (a *workspace) stop(s *setting, run *Run) {
	o, warm := &run.Outcome, len(run.Outcome.Earlier)
	o.Volatile, o.Horizon = a.churn != nil, s.horizon()
	until := run.End
	if run.Closed {
		until = s.horizon()
	}
	o.Held = a.held(s, run.Jobs, until)
	if o.Volatile && len(o.Jobs) > 0 {
		o.Available = a.available(&s.conf.Fleet, o.Jobs[0].Arrival, until)
	}
	open := func(j metrics.Job) bool { return j.Open() }
	if !run.Closed || !slices.ContainsFunc(run.Jobs, open) {
		return
	}
	o.Jobs, o.Earlier = slices.DeleteFunc(slices.Clone(o.Jobs), open), slices.DeleteFunc(slices.Clone(o.Earlier), open)
	for _, j := range run.Jobs[warm:] {
		if j.Open() {
			o.Open = append(o.Open, j)
		}
	}
}
