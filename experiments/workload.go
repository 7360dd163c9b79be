package experiments

import (
	"errors"
	"fmt"
	"os"
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
	fixed    workloadgen.Plan  // without a model: the plan of every replication
	annotate *annotate.Options // nil: the jobs stay as they are
	notes    []string          // how the jobs were chosen
}

// logs are those that have been read: settings of a sweep have theirs in common.
type logs map[logKey]workload

type logKey struct{ path, filter string }

func newWorkload(w *scenario.Workload, read logs) (work *workload, err error) {
	work = new(workload)
	if work.annotate, err = annotations(w.Annotate); err != nil {
		return nil, err
	}
	switch {
	case w.Model != nil:
		if work.model, err = models.New(w.Model.Name, w.Model.Decode, nil); err != nil {
			return nil, w.Model.Blame(err)
		}
		if w.Estimate != nil {
			work.estimate, err = dist.New(w.Estimate.Name, w.Estimate.Decode, nil)
			err = w.Estimate.Blame(err)
		}
	case w.Plan != "":
		work.fixed, err = readPlan(w.Plan)
	default:
		key := logKey{w.SWF, w.Filter}
		log, ok := read[key]
		if !ok {
			err = log.readLog(w)
			read[key] = log
		}
		work.fixed, work.notes = log.fixed, log.notes
	}
	if err == nil && work.model == nil && len(work.fixed) == 0 {
		err = fmt.Errorf("%s%s: no jobs", w.Plan, w.SWF)
	}
	return work, err
}

func readPlan(path string) (workloadgen.Plan, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return workloadgen.ReadCSV(f, path)
}

// readLog takes the jobs that the filter lets pass from a recorded log, and
// notes what became of every record.
func (work *workload) readLog(w *scenario.Workload) error {
	filters, err := swf.ParseFilters(w.Filter)
	if err != nil {
		return err
	}
	t, err := swf.ReadFile(w.SWF)
	if err != nil {
		return err
	}
	work.note("%s: %s", w.SWF, t.Accounting.String())
	t, steps, err := t.Apply(filters...)
	if err != nil {
		return fmt.Errorf("%s: %w", w.SWF, err)
	}
	for _, s := range steps {
		work.note("%s", s)
	}
	plan, acc := t.Plan()
	work.fixed = plan
	work.note("as a plan: %s", acc.String())
	return nil
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

// draw makes the plan of replication rep the arena's. If the first has jobs with
// budgets, one that by chance has none is run as it is.
func (a *arena) draw(s *setting, seed uint64, rep int) (err error) {
	w := s.work
	a.plan = w.fixed
	if w.model != nil {
		if a.drawn, err = w.model.Plan(Stream(seed, rep, "workload"), 0, a.drawn); err != nil {
			return err
		}
		a.plan = a.drawn
	}
	if w.estimate != nil {
		src := Stream(seed, rep, "estimate")
		for i := range a.plan {
			a.plan[i].Estimate = a.plan[i].Runtime * max(1, dist.Rand(w.estimate, src))
		}
	}
	if w.annotate != nil {
		a.noted = append(a.noted[:0], a.plan...)
		first := 0.0 // of a log annotations make the first arrival 0, of a model it stays
		if w.model != nil && len(a.plan) > 0 {
			first = a.plan[0].Arrival
		}
		if a.plan, _, err = w.annotate.Apply(a.noted, Stream(seed, rep, "annotate")); err != nil {
			return err
		}
		for i := range a.plan {
			a.plan[i].Arrival += first
		}
	}
	if rep == 0 && !slices.ContainsFunc(a.plan, func(j workloadgen.Job) bool { return j.Value > 0 }) {
		return errNoBudget
	}
	return nil
}
