package experiments

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"bourse/experiments/scenario"
	"bourse/workloadgen"
	"bourse/workloadgen/annotate"
	"bourse/workloadgen/dist"
	"bourse/workloadgen/models"
	"bourse/workloadgen/swf"
)

// A workload makes the plan of each replication: a function of the streams
// "workload", "estimate" and "annotate" and of nothing else, so that every policy is given
// the same jobs.
type workload struct {
	model    workloadgen.Model
	estimate dist.Distribution // of estimate over runtime; nil: as the model says
	fixed    workloadgen.Plan  // of a plan file: the plan of every replication
	log      swf.Jobs          // of a log: what that is made of
	annotate *annotate.Options // nil: the jobs stay as they are
	notes    []string          // how the jobs were chosen
}

type logKey struct{ path, filter string }

func (read *recordings) workload(w *scenario.Workload) (work *workload, err error) {
	work = new(workload)
	if work.annotate, err = annotations(w.Annotate); err != nil {
		return nil, err
	}
	switch {
	case w.Model != nil:
		if work.model, err = models.Table().New(w.Model.Name, w.Model.Decode); err != nil {
			return nil, w.Model.Blame(err)
		}
		if w.Estimate != nil {
			work.estimate, err = dist.Table().New(w.Estimate.Name, w.Estimate.Decode)
			err = w.Estimate.Blame(err)
		}
	case w.Plan != "":
		work.fixed, err = readAs(read.files, w.Plan, func(in io.Reader) (workloadgen.Plan, error) { return workloadgen.ReadCSV(in, w.Plan) })
	default:
		key := logKey{w.SWF, w.Filter}
		log, ok := read.logs[key]
		if !ok {
			log, err = read.log(w)
			read.logs[key] = log
		}
		work.log, work.notes = log.log, log.notes
	}
	if w.Model != nil {
		return work, err
	}
	if err == nil && len(work.fixed)+len(work.log) == 0 {
		err = fmt.Errorf("%s%s: no jobs", w.Plan, w.SWF)
	}
	if err != nil {
		field := "plan"
		if w.Plan == "" {
			field = "swf"
		}
		err = fmt.Errorf("workload.%s: %w", field, err)
	}
	return work, err
}

// log takes the jobs that the filter lets pass from a recorded log, and
// notes what became of every record.
func (read *recordings) log(w *scenario.Workload) (work workload, err error) {
	filters, err := swf.ParseFilters(w.Filter)
	if err != nil {
		return work, err
	}
	t := read.whole[w.SWF]
	if t == nil {
		t, err = readAs(read.files, w.SWF, func(in io.Reader) (*swf.Trace, error) {
			t, err := swf.Read(in)
			if err == nil {
				err = t.Check()
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", w.SWF, err)
			}
			return t, err
		})
		if err != nil {
			return work, err
		}
		read.whole[w.SWF] = t
	}
	work.note("%s: %s", w.SWF, t.Accounting.String())
	t, steps, err := t.Apply(filters...)
	if err != nil {
		return work, fmt.Errorf("%s: %w", w.SWF, err)
	}
	for _, s := range steps {
		work.note("%s", s)
	}
	for _, wrong := range t.Header.Problems() {
		work.note("header: %s", wrong)
	}
	jobs, acc := t.Jobs()
	work.log = jobs
	work.note("as a plan: %s", acc.String())
	for _, unused := range t.Unused() {
		work.note("as a plan: %s", unused)
	}
	return work, nil
}

func (work *workload) note(format string, args ...any) {
	work.notes = append(work.notes, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// annotations decodes what is to be done to the jobs.
func annotations(said scenario.Options) (*annotate.Options, error) {
	if !said.Given() {
		return nil, nil
	}
	o := new(annotate.Options)
	if err := said.Decode(o); err != nil {
		return nil, err
	}
	return o, said.Blame(o.Validate())
}

// errNoBudget reports jobs that nobody pays for.
var errNoBudget = errors.New("no job has a budget: want one from workload.annotate: price, budget, or urgency with sla")

// alike reports whether the second replication has the same jobs as the first, which were
// drawn, on the same hosts: then nothing but ties and what policies draw is left to chance.
func (a *arena) alike(s *setting, seed uint64) (bool, error) {
	if f := s.conf.Fleet.Availability; s.work.model != nil || f != nil && f.Model != nil {
		return false, nil
	}
	if s.work.annotate == nil {
		return true, nil
	}
	first := slices.Clone(a.plan)
	err := a.draw(s, seed, 1)
	return err == nil && slices.Equal(first, a.plan), err
}

// leave leaves the plan at hand to the runs of it, whose jobs are there: the next will have
// memory of its own.
func (a *arena) leave() { a.drawn = nil }

// draw makes the plan of replication rep the arena's. If the first has jobs with
// budgets, one that by chance has none is run as it is.
func (a *arena) draw(s *setting, seed uint64, rep int) (err error) {
	w := s.work
	switch {
	case w.model != nil:
		if a.drawn, err = w.model.Plan(scenario.Stream(seed, rep, "workload"), 0, a.drawn); err != nil {
			return err
		}
		a.plan = a.drawn
	case w.log != nil:
		a.drawn = w.log.Plan(a.drawn)
		a.plan = a.drawn
	case w.annotate != nil:
		a.drawn = append(a.drawn[:0], w.fixed...)
		a.plan = a.drawn
	default:
		a.plan = w.fixed
	}
	if w.estimate != nil {
		src := scenario.Stream(seed, rep, "estimate")
		for i := range a.plan {
			a.plan[i].Estimate = a.plan[i].Runtime * max(1, dist.Rand(w.estimate, src))
		}
	}
	if w.annotate != nil {
		first := 0.0 // of a log annotations make the first arrival 0, of a model it stays
		if w.model != nil && len(a.plan) > 0 {
			first = a.plan[0].Arrival
		}
		if a.plan, _, err = w.annotate.Apply(a.plan, scenario.Stream(seed, rep, "annotate")); err != nil {
			return err
		}
		for i := range a.plan {
			a.plan[i].Arrival += first
		}
	}
	if s.conf.SLA.Deadline == "none" {
		if len(a.plan) > 0 && len(w.fixed) > 0 && &a.plan[0] == &w.fixed[0] { // which others run as it is
			a.drawn = append(a.drawn[:0], w.fixed...)
			a.plan = a.drawn
		}
		for i := range a.plan {
			a.plan[i].OnDemand = true
		}
	}
	if rep == 0 && !slices.ContainsFunc(a.plan, func(j workloadgen.Job) bool { return j.Value > 0 }) {
		return errNoBudget
	}
	return nil
}
