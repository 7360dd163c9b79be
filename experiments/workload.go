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

// A workload creates the plan of jobs for each replication. It depends only on the streams
// "workload", "estimate" and "annotate", so every policy receives the same jobs.
type workload struct {
	model    workloadgen.Model
	estimate dist.Distribution // ratio of estimate to runtime; nil means that the model determines the estimate
	fixed    workloadgen.Plan  // plan used in every replication; nil unless the workload comes from a plan file
	log      swf.Jobs          // source of the plan; nil unless the workload comes from a log
	annotate *annotate.Options // nil means that jobs are not changed
	notes    []string          // description of how the jobs were selected
	machine  int64             // number of processors of the log's machine, or 0 if unknown
}

type logKey struct{ path, filter, memory string }

func (read *recordings) workload(w *scenario.Workload, f *scenario.Fleet) (work *workload, err error) {
	work = new(workload)
	if work.annotate, err = annotations(w.Annotate, f); err != nil {
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
		key := logKey{w.SWF, w.Filter, w.Memory}
		log, ok := read.logs[key]
		if !ok {
			log, err = read.log(w)
			read.logs[key] = log
		}
		work.log, work.notes, work.machine = log.log, log.notes, log.machine
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

// log reads the recorded job log and applies the filter. It records how each line was
// interpreted.
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
	jobs, acc := t.Jobs(swf.Memory(w.Memory))
	work.log = jobs
	work.machine, _ = t.Header.Processors()
	work.note("as a plan: %s", acc.String())
	return work, nil
}

func (work *workload) note(format string, args ...any) {
	work.notes = append(work.notes, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// annotations decodes the settings that annotate jobs. It returns nil if there are no such
// settings. If the annotation of the load does not specify a number of processors, the load
// refers to the processors of the fleet.
func annotations(said scenario.Options, f *scenario.Fleet) (*annotate.Options, error) {
	if !said.Given() {
		return nil, nil
	}
	o := new(annotate.Options)
	if err := said.Decode(o); err != nil {
		return nil, err
	}
	if o.Load != nil && o.Load.Processors == 0 {
		o.Load.Processors = int(max(1, f.Processors()))
	}
	return o, said.Blame(o.Validate())
}

// errNoBudget means that no job has a budget.
var errNoBudget = errors.New("no job has a budget; set price or budget in workload.annotate, or urgency together with sla")

// alike reports whether the second replication has the same jobs and hosts as the first. The
// plan of the first replication must be in the workspace. If it has, replications differ only
// in ties and in the random decisions of policies.
func (a *workspace) alike(s *setting, seed uint64) (bool, error) {
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

// leave transfers the memory of the current plan to the runs of that plan. The next plan uses
// new memory.
func (a *workspace) leave() { a.drawn = nil }

// draw sets the workspace's plan to the plan of replication rep. The first replication must
// have at least one job with a budget. Later replications may have none by chance.
func (a *workspace) draw(s *setting, seed uint64, rep int) (err error) {
	w := s.work
	a.seed, a.rep = seed, rep
	a.sized = annotate.SizeNote{}
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
		first := 0.0 // annotations shift the first arrival to time 0; for a model, the shift is reversed below
		if w.model != nil && len(a.plan) > 0 {
			first = a.plan[0].Arrival
		}
		if a.plan, a.sized, err = w.annotate.Apply(a.plan, scenario.Stream(seed, rep, "annotate")); err != nil {
			return err
		}
		for i := range a.plan {
			a.plan[i].Arrival += first
		}
	}
	if s.conf.SLA.Deadline == "none" {
		a.own(w.fixed)
		for i := range a.plan {
			a.plan[i].OnDemand = true
		}
	}
	a.recorded(&s.conf.Workload, w.fixed)
	if rep == 0 && !slices.ContainsFunc(a.plan, func(j workloadgen.Job) bool { return j.Value > 0 }) {
		return errNoBudget
	}
	return nil
}
