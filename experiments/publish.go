package experiments

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"bourse/bank"
	"bourse/bank/store"
	"bourse/experiments/report"
	"bourse/experiments/results"
)

// A Publication says where results go, and what is said about how they were made.
type Publication struct {
	Dir      string
	Ledgers  bool // keep the ledger of every replication, not of the first only
	Paper    Paper
	Scenario string         // the file as run
	Command  []string       // how to run it again
	Source   File           // that the scenario came from, if it came from one
	Notes    []string       // what a reader must know beside
	Elapsed  func() float64 // seconds that it has taken

	// Fatal is told of a ledger that could not be written, once what was written is
	// removed, and does not return; nil means what the store does.
	Fatal func(error)
}

// A File is one that was read.
type File struct{ Path, SHA256 string }

// Publish runs the experiment and writes a results directory. What it writes depends on
// the experiment alone, but for the manifest's wall time and versions. If it fails,
// nothing is left where the directory would be.
func (p *Prepared) Publish(ctx context.Context, opts Options, to Publication) (s *Study, err error) {
	e := p.Experiment
	w, err := results.Create(to.Dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			w.Abort()
		}
	}()
	defer (&Panic{Scenario: e.Name, Replication: -1, Seed: e.Seed}).recovered(&err)
	ledgers := &ledgers{w: w, all: to.Ledgers, heads: make(map[string]string)}
	if to.Fatal != nil {
		var once sync.Once // the first to fail ends the program
		ledgers.fatal = func(err error) {
			once.Do(func() {
				w.Abort()
				to.Fatal(err)
			})
		}
	}
	opts.Journal = ledgers.open
	s = NewStudy(e)
	spare := new(spare)
	err = p.each(ctx, opts, spare, func(r *Replication) error {
		s.Add(r)
		if err := write(w, e, s, r); err != nil {
			return err
		}
		for _, run := range r.Runs {
			spare.give(run)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	to.Notes = append(to.Notes, notes(p.settings)...)
	if err := s.tables(w, to.Paper); err != nil {
		return nil, err
	}
	if err := s.pictures(w, to, ledgers.list()); err != nil {
		return nil, err
	}
	inputs := maps.Clone(p.Inputs)
	if to.Source.Path != "" {
		inputs[to.Source.Path] = to.Source.SHA256
	}
	return s, w.Close(results.Manifest{
		Command: to.Command, Scenario: to.Scenario, Seed: e.Seed, Replications: e.Replications,
		WallSeconds: to.Elapsed(), Inputs: inputs, Ledgers: ledgers.heads,
	})
}

func (s *Study) tables(w *results.Writer, paper Paper) error {
	return errors.Join(w.Summary(s.SummaryRows(paper)), w.Curve(s.CurveRows()))
}

// pictures writes the figures, and the page that shows everything.
func (s *Study) pictures(w *results.Writer, p Publication, kept []report.Ledger) error {
	page := s.Document(p.Paper, p.Dir, append(s.notes(), p.Notes...))
	page.Command, page.Scenario, page.Ledgers = p.Command, p.Scenario, kept
	page.Figures = append(Figures(s.Experiment, s.SummaryRows(p.Paper), s.CurveRows()), Differences(s.Experiment, s.MetricRows())...)
	files, err := page.Files("")
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := w.File("figures/"+file.Name, file.Data); err != nil {
			return err
		}
	}
	html, err := page.HTML()
	if err != nil {
		return err
	}
	return errors.Join(w.File("report.html", html), w.File("scenario.yaml", []byte(p.Scenario)))
}

// notes says what a reader of the numbers must know.
func (s *Study) notes() []string {
	if len(s.Experiment.Sweep) > 0 {
		return nil // efficiency is not shown
	}
	notes := []string{"Efficiency is the sum of utilities over U*, the best total value that a planner who knows all jobs could fulfil."}
	for i, c := range s.Experiment.Configurations {
		if n := s.Unproven(i); n > 0 {
			notes = append(notes, fmt.Sprintf("%s: in %d of %d replications U* is an upper bound that no plan was proven to reach, so efficiency there is a lower bound.",
				c.Name, n, s.Experiment.Replications))
		}
	}
	return notes
}

// ledgers opens the journals that a results directory keeps.
type ledgers struct {
	w   *results.Writer
	all bool

	fatal func(error) // of the store

	mu    sync.Mutex
	heads map[string]string // by the directory's key
}

func (l *ledgers) open(configuration, admission string, rep int) (bank.Journal, func(error) error, error) {
	if rep > 0 && !l.all {
		return nil, nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	dir, key, err := l.w.LedgerDir(configuration, admission, rep)
	if err != nil {
		return nil, nil, err
	}
	j, err := store.Create(dir, store.Options{Reproducible: true, Fatal: l.fatal})
	if err != nil {
		return nil, nil, err
	}
	return j, func(err error) error {
		if err := errors.Join(err, j.Close()); err != nil {
			return err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.heads[key] = j.Head().String()
		return nil
	}, nil
}

// list returns what was kept, in order of path.
func (l *ledgers) list() []report.Ledger {
	var kept []report.Ledger
	for _, path := range slices.Sorted(maps.Keys(l.heads)) {
		kept = append(kept, report.Ledger{Path: path, Head: l.heads[path]})
	}
	return kept
}
