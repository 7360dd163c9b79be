package experiments

import (
	"fmt"
	"os"

	"bourse/experiments/scenario"
	"bourse/workloadgen"
	"bourse/workloadgen/models"
)

// A workload makes the plan of each replication: a function of the stream
// "workload" and nothing else, so that every policy is given the same jobs.
type workload struct {
	model workloadgen.Model
	fixed workloadgen.Plan // without a model: the plan of every replication
}

func newWorkload(w *scenario.Workload) (workload, error) {
	if w.Model != nil {
		m, err := models.New(w.Model.Name, w.Model.Decode, nil)
		return workload{model: m}, err
	}
	p, err := readPlan(w.Plan)
	return workload{fixed: p}, err
}

func readPlan(path string) (workloadgen.Plan, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := workloadgen.ReadCSV(f, path)
	if err == nil && len(p) == 0 {
		err = fmt.Errorf("%s: no jobs", path)
	}
	return p, err
}

// draw makes the plan of replication rep the arena's.
func (a *arena) draw(s *setting, seed uint64, rep int) (err error) {
	if s.work.model == nil {
		a.plan = s.work.fixed
		return nil
	}
	a.drawn, err = s.work.model.Plan(Stream(seed, rep, "workload"), 0, a.drawn)
	a.plan = a.drawn
	return err
}
