package experiments

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"bourse/experiments/results"
)

// A Unit is the range of replications From to To−1 of one configuration, under each of its
// policies. A unit is run as a whole and stored in one file. Its contents depend only on the
// scenario and the seed.
type Unit struct{ Configuration, From, To int }

// rowsPerUnit is the approximate number of job rows per unit. It is part of the storage
// format, because each unit is a row group in Parquet.
const rowsPerUnit = 1 << 14

// Name returns the name of u. The name is unique within a run.
func (u Unit) Name() string { return fmt.Sprintf("%d-%d-%d", u.Configuration, u.From, u.To) }

// ParseUnit returns the unit with the given name.
func ParseUnit(name string) (u Unit, err error) {
	if _, err = fmt.Sscanf(name, "%d-%d-%d", &u.Configuration, &u.From, &u.To); err != nil || u.Name() != name || u.Configuration < 0 || u.From < 0 || u.To <= u.From {
		return u, fmt.Errorf("unit %q: want CONFIGURATION-FROM-TO", name)
	}
	return u, nil
}

// Units returns the units of p, in order. All units of a configuration have the same number of
// replications, except the last unit and the units that end where a stopping rule is checked.
func (p *Prepared) Units() []Unit {
	var all []Unit
	n := p.Experiment.Replications
	for i, jobs := range p.jobs {
		size := max(1, p.UnitRows/max(1, jobs*len(p.settings[i].offers)))
		for from, looks := 0, p.Looks(); from < n; {
			if from == looks[0] {
				looks = looks[1:]
			}
			to := min(from+size, looks[0])
			all = append(all, Unit{i, from, to})
			from = to
		}
	}
	return all
}

// Looks returns the numbers of replications after which p checks its stopping rule, in
// increasing order. The last number is the maximum number of replications. The number of
// checks does not affect validity, because the rule uses a confidence sequence. Each check
// comes after 10 % more replications. A run therefore computes at most about 10 % more than
// necessary.
func (p *Prepared) Looks() (all []int) {
	e := p.Experiment
	if u := e.Until; u != nil {
		for n := u.Min; n < e.Replications; n += max(1, n/10) {
			all = append(all, n)
		}
	}
	return append(all, e.Replications)
}

// A UnitValues is the JSON form of a unit.
type UnitValues struct {
	Unit          string   `json:"unit"`
	Configuration string   `json:"configuration"`
	From          int      `json:"from" doc:"number of the first replication of the unit"`
	To            int      `json:"to" doc:"number of the replication after the last one of the unit"`
	Admission     []string `json:"admission"`
}

// UnitValues returns the units of p in JSON form.
func (p *Prepared) UnitValues() []UnitValues {
	all := []UnitValues{}
	for _, u := range p.Units() {
		conf := &p.Experiment.Configurations[u.Configuration]
		one := UnitValues{Unit: u.Name(), Configuration: conf.Name, From: u.From, To: u.To}
		for _, a := range conf.Admission {
			one.Admission = append(one.Admission, a.Label)
		}
		all = append(all, one)
	}
	return all
}

// JobRows returns the approximate number of job rows of p.
func (p *Prepared) JobRows() (rows int) {
	for i, jobs := range p.jobs {
		rows += jobs * len(p.settings[i].offers) * p.Experiment.Replications
	}
	return rows
}

// Check returns an error if found does not have as many values as a measurement of u.
func (s *Study) Check(u Unit, found []float64) error {
	if u.Configuration >= len(s.Cells) || u.To > s.Experiment.Replications {
		return fmt.Errorf("the experiment has %d configurations with %d replications each", len(s.Cells), s.Experiment.Replications)
	}
	if want := s.Wants(u); len(found) != want {
		return fmt.Errorf("found %d values, want %d", len(found), want)
	}
	return nil
}

// Wants returns the number of measured values of u.
func (s *Study) Wants(u Unit) int {
	return (u.To - u.From) * (1 + len(s.Cells[u.Configuration])*s.Width())
}

// A Worker runs units one after another and reuses its memory.
type Worker struct {
	p         *Prepared
	opts      Options
	tables    results.Tables
	workspace *workspace
	out       *tabulator
	study     *Study
}

// Worker returns a worker that writes the rows of its units to the given tables.
func (p *Prepared) Worker(tables results.Tables, opts Options) *Worker {
	w := &Worker{p: p, opts: opts, tables: tables, workspace: newWorkspace(), study: NewStudy(p.Experiment)}
	w.workspace.observe = opts.Observe
	w.out = w.anew()
	return w
}

func (w *Worker) anew() *tabulator {
	return newTabulator(results.NewEncoder(w.tables, Axes(w.p.Experiment)))
}

// Run runs the replications of u. It writes the journals returned by journal, and calls
// progress after each replication. It passes full row groups to the function away. The rows of
// the returned unit are valid until the next call.
func (w *Worker) Run(ctx context.Context, u Unit, away func(results.Block) error, journal Journal, progress func()) (unit *results.Unit, err error) {
	defer func() {
		if err != nil {
			w.out = w.anew() // discard the rows of the failed unit
		}
	}()
	p, s, opts := w.p, w.study, w.opts
	opts.Journal, w.out.away, w.workspace.heard = journal, away, [sha256.Size]byte{}
	unit = &results.Unit{Values: make([]float64, 0, s.Wants(u))}
	at := place(p.Experiment, u.Configuration, u.From)
	defer at.Recovered(&err)
	for rep := u.From; rep < u.To; rep++ {
		at.Replication = rep
		r := &Replication{Configuration: u.Configuration, Rep: rep}
		first := len(unit.Values)
		unit.Values = append(unit.Values, 0)
		err := w.workspace.each(ctx, p.Experiment, p.settings, r, opts, func(policy int, run *Run) error {
			before := len(unit.Values)
			unit.Values = s.Measure(run, unit.Values)
			if err := w.out.run(s, r, policy, run, unit.Values[before:]); err != nil {
				return err
			}
			w.workspace.spare.give(run)
			return nil
		})
		if err != nil {
			return nil, err
		}
		unit.Values[first] = float64(r.Optimum.kind())
		progress()
	}
	if of := w.workspace.heard; of != [sha256.Size]byte{} {
		unit.Heard = hex.EncodeToString(of[:])
	}
	unit.Block, err = w.out.block()
	return unit, err
}
