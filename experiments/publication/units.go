package publication

import (
	"context"
	"sync"

	"bourse/experiments"
	"bourse/experiments/results"
)

// places maps each unit to the source that contains it.
type places map[string]results.Source

// whole returns a [*HolesError] if some units in plan have no source.
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

// where returns a map from each unit to the source in from that contains it.
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

// find runs the units in todo that none of the sources in from contains. It stores the new
// units in units.
func find(ctx context.Context, p *experiments.Prepared, opts experiments.Options, to *Target, units *results.Units, todo []experiments.Unit, from ...results.Source) error {
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
	every := to.Ledgers || !large(p.Experiment) // whether to store ledgers of every configuration
	begin := func(ctx context.Context) func(int) (experiments.Unit, error) {
		worker := p.Worker(to.Tables, opts)
		return func(i int) (experiments.Unit, error) {
			u := missing[i]
			draft, err := units.Draft(u.Name())
			if err != nil {
				return u, err
			}
			defer draft.Drop()
			kept := &ledgers{draft: draft, all: to.Ledgers, fatal: fatal, heads: make(map[string]string)}
			journal := opts.Journal
			if !to.Bare && (u.Configuration == 0 || every) {
				journal = kept.open
			}
			unit, err := worker.Run(ctx, u, draft.Append, journal, progress)
			if err != nil {
				return u, err
			}
			unit.Ledgers = kept.heads
			return u, draft.Write(unit)
		}
	}
	return experiments.InOrder(ctx, len(missing), opts.Workers, begin, func(experiments.Unit) error { return nil })
}
