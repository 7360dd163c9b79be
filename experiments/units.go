package experiments

import (
	"context"
	"fmt"
	"sync"

	"bourse/experiments/results"
)

// A Unit is the replications From to To−1 of one configuration, under each of its policies. A
// unit is run as a whole and stored as one file. Its contents depend only on scenario and
// seed.
type Unit struct{ Configuration, From, To int }

// rowsPerUnit is the approximate number of job rows in a unit. It is part of the format: each
// unit is a row group in Parquet.
const rowsPerUnit = 1 << 14

// Name returns the name of u, which is unique within a run.
func (u Unit) Name() string { return fmt.Sprintf("%d-%d-%d", u.Configuration, u.From, u.To) }

// parseUnit returns the unit with the given name.
func parseUnit(name string) (u Unit, err error) {
	if _, err = fmt.Sscanf(name, "%d-%d-%d", &u.Configuration, &u.From, &u.To); err != nil || u.Name() != name || u.Configuration < 0 || u.From < 0 || u.To <= u.From {
		return u, fmt.Errorf("unit %q: want CONFIGURATION-FROM-TO", name)
	}
	return u, nil
}

// Units returns the units of p in order. Units of a configuration have the same number of
// replications, except for the last one and those that end at a look of a stopping rule.
func (p *Prepared) Units() []Unit {
	var all []Unit
	n := p.Experiment.Replications
	for i, jobs := range p.jobs {
		size := max(1, p.rows/max(1, jobs*len(p.settings[i].offers)))
		for from, looks := 0, p.looks(); from < n; {
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

// UnitValues is the JSON form of a unit.
type UnitValues struct {
	Unit          string   `json:"unit"`
	Configuration string   `json:"configuration"`
	From          int      `json:"from" doc:"its first replication"`
	To            int      `json:"to" doc:"the replication after its last"`
	Admission     []string `json:"admission"`
}

// UnitValues returns the JSON forms of the units of p.
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

// check returns an error unless found has the size of a measurement of u.
func (s *Study) check(u Unit, found []float64) error {
	if u.Configuration >= len(s.cells) || u.To > s.Experiment.Replications {
		return fmt.Errorf("the experiment has %d configurations of %d replications", len(s.cells), s.Experiment.Replications)
	}
	if want := s.wants(u); len(found) != want {
		return fmt.Errorf("found %d values, want %d", len(found), want)
	}
	return nil
}

// wants returns the number of measured values of u.
func (s *Study) wants(u Unit) int {
	return (u.To - u.From) * (1 + len(s.cells[u.Configuration])*s.width())
}

// places maps each unit to the source that has it.
type places map[string]results.Source

// find returns the source of a unit, or nil if there is none.
func (p places) find(unit string) (results.Source, error) { return p[unit], nil }

// whole returns a [*HolesError] if some units of plan have no source.
func (p places) whole(plan *results.Plan) error {
	holes := &HolesError{Of: len(plan.Units)}
	for _, name := range plan.Units {
		if p[name] == nil {
			holes.Missing = append(holes.Missing, name)
		}
	}
	if len(holes.Missing) > 0 {
		return holes
	}
	return nil
}

// where returns the source of each unit in from.
func where(from []results.Source) (places, error) {
	at := make(places)
	for _, source := range from {
		names, err := source.Names()
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			at[name] = source
		}
	}
	return at, nil
}

// find runs the units of todo that no source in from has, and stores them in units.
func (p *Prepared) find(ctx context.Context, opts Options, to *Publication, units *results.Units, todo []Unit, from ...results.Source) error {
	there, err := where(from)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	done, total := 0, 0
	missing := todo[:0:0]
	for _, u := range todo {
		if total += u.To - u.From; there[u.Name()] != nil {
			done += u.To - u.From
		} else {
			missing = append(missing, u)
		}
	}
	if to.Found != nil && done > 0 {
		to.Found(done, total)
	}
	progress := func() {
		mu.Lock()
		defer mu.Unlock()
		if done++; opts.Progress != nil {
			opts.Progress(done, total)
		}
	}
	fatal := to.Fatal
	if fatal != nil {
		var once sync.Once // only the first failure ends the program
		fatal = func(err error) { once.Do(func() { to.Fatal(err) }) }
	}
	s := newStudy(p.Experiment)
	begin := func(ctx context.Context) func(int) (Unit, error) {
		a := newArena()
		a.observe = opts.Observe
		anew := func() *tabulator { return newTabulator(results.NewEncoder(to.Tables, axes(p.Experiment))) }
		out := anew()
		return func(i int) (Unit, error) {
			u := missing[i]
			draft, err := units.Draft(u.Name())
			if err != nil {
				return u, err
			}
			defer draft.Drop()
			kept := &ledgers{draft: draft, all: to.Ledgers, fatal: fatal, heads: make(map[string]string)}
			opts := opts
			if !to.Bare {
				opts.Journal = kept.open
			}
			out.away = draft.Append
			unit, err := p.unit(ctx, a, out, s, u, opts, progress)
			if err != nil {
				out = anew() // drop the rows of the failed unit
				return u, err
			}
			unit.Ledgers = kept.heads
			return u, draft.Write(unit)
		}
	}
	return InOrder(ctx, len(missing), opts.Workers, begin, func(u Unit) error {
		if to.came != nil {
			to.came(u.Name())
		}
		return nil
	})
}

// unit runs the replications of u.
func (p *Prepared) unit(ctx context.Context, a *arena, out *tabulator, s *Study, u Unit, opts Options, progress func()) (unit *results.Unit, err error) {
	unit = &results.Unit{Values: make([]float64, 0, s.wants(u))}
	at := place(p.Experiment, u.Configuration, u.From)
	defer at.recovered(&err)
	for rep := u.From; rep < u.To; rep++ {
		at.Replication = rep
		r := &Replication{Configuration: u.Configuration, Rep: rep}
		first := len(unit.Values)
		unit.Values = append(unit.Values, 0)
		err := a.each(ctx, p.Experiment, p.settings, r, opts, func(policy int, run *Run) error {
			before := len(unit.Values)
			unit.Values = s.measure(run, unit.Values)
			if err := out.run(s, r, policy, run, unit.Values[before:]); err != nil {
				return err
			}
			a.spare.give(run)
			return nil
		})
		if err != nil {
			return nil, err
		}
		unit.Values[first] = float64(r.Optimum.kind())
		progress()
	}
	unit.Block, err = out.block()
	return unit, err
}
