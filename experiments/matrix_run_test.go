package experiments

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"bourse/bank"
	"bourse/bank/store"
	"bourse/contracts/bidding"
	"bourse/contracts/broker"
	"bourse/contracts/policies"
	"bourse/contracts/sharing"
	"bourse/experiments/metrics"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	availability "bourse/hosts/availability/models"
	"bourse/hosts/availability/predictors"
	"bourse/market/forecast"
	"bourse/workloadgen/models"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// matrixKnown contains the names that `bourse run` knows.
func matrixKnown() scenario.Known {
	k := scenario.Known{
		Admission: policies.WithOutside(nil, nil).Names(), Sharing: sharing.Table().Names(), Bidding: bidding.Table(nil).Names(),
		Forecasters: forecast.Table().Names(), Models: models.Table().Names(), Payments: broker.Payments().Names(),
		Availability: availability.Table().Names(), Predictors: predictors.Table().Names(),
	}
	for _, m := range metrics.All() {
		k.Metrics = append(k.Metrics, m.Name)
	}
	return k
}

// write writes the files of g to dir.
func (g *drawing) write(dir string) error {
	for name, text := range g.files(dir) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// A refused is a drawing that the check of `bourse run` rejects.
type refused struct{ error }

// A crash is a panic.
type crash struct {
	what  any
	stack []byte
}

func (c *crash) Error() string { return fmt.Sprintf("panic: %v\n%s", c.what, c.stack) }

// catch converts a panic to an error.
func catch(err *error) {
	if p := recover(); p != nil {
		*err = &crash{p, debug.Stack()}
	}
}

// parse reads and checks the scenario in dir, like `bourse run` and `bourse scenario
// check`.
func parse(dir string) (e *scenario.Experiment, err error) {
	defer catch(&err)
	name := filepath.Join(dir, "scenario.yaml")
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	x, err := scenario.Parse(name, data, matrixKnown())
	if err == nil {
		err = Check(&x)
	}
	if err != nil {
		return nil, refused{errors.New(strings.ReplaceAll(err.Error(), dir+"/", ""))}
	}
	return NewStudy(&x).Experiment, nil
}

// A told is the result of running a scenario.
type told struct {
	experiment *scenario.Experiment
	study      *Study
	sets       []*setting
	all        []*Replication
	runs       []*toldRun
	hash       string // hash of all rows and ledgers
}

// A toldRun is the run of one policy in one replication.
type toldRun struct {
	*Run
	tape    *tape
	set     *setting
	offer   *offer
	rep     int
	journal *recorder
}

// A recorder stores the entries of a ledger and passes them on to a store.
type recorder struct {
	hash    hash.Hash
	to      bank.Journal
	close   func() error
	fs      vfs.FS
	head    string
	entries []keptEntry
}

// Append implements [bank.Journal].
func (r *recorder) Append(e *bank.Entry) error {
	r.entries = append(r.entries, keptEntry{e.Time, e.Kind, e.Contract, slices.Clone(e.Moves), string(e.Note)})
	fmt.Fprintf(r.hash, "%d %v %s %v %d %q\n", e.Seq, e.Time, e.Kind, e.Moves, e.Contract, e.Note)
	if r.to != nil {
		return r.to.Append(e)
	}
	return nil
}

// newRecorder returns a recorder that, if requested, also stores its entries in memory.
func newRecorder(stored bool) (*recorder, error) {
	r := &recorder{hash: sha256.New()}
	if !stored {
		return r, nil
	}
	r.fs = vfs.NewMem()
	j, err := store.Create("ledger", store.Options{FS: r.fs, Reproducible: true})
	if err != nil {
		return nil, err
	}
	r.to = j
	r.close = func() error {
		err := j.Close()
		r.head = j.Head().String()
		return err
	}
	return r, nil
}

// watch returns the options of a run whose decisions are recorded. The ledgers of the first
// replication are stored.
func (r *told) watch(stored bool) (opts Options, at map[string]*toldRun) {
	at = make(map[string]*toldRun)
	var mu sync.Mutex
	get := func(label string, rep int) *toldRun {
		mu.Lock()
		defer mu.Unlock()
		key := fmt.Sprintf("%s/%d", label, rep)
		if at[key] == nil {
			at[key] = &toldRun{rep: rep}
		}
		return at[key]
	}
	opts.Journal = func(_, label string, rep int) (bank.Journal, func(error) error, error) {
		run := get(label, rep)
		var err error
		if run.journal, err = newRecorder(stored && rep == 0); err != nil {
			return nil, nil, err
		}
		return run.journal, func(err error) error {
			if run.journal.close != nil {
				err = errors.Join(err, run.journal.close())
			}
			return err
		}, nil
	}
	opts.Observe = func(_, label string, rep int, parts *broker.Config) {
		run := get(label, rep)
		run.tape = newTape(parts)
	}
	return opts, at
}

// alone runs e in the calling goroutine, so that a panic can be caught, and stores its
// results.
func alone(e *scenario.Experiment) (r *told, err error) {
	defer catch(&err)
	r = &told{experiment: e, study: NewStudy(e)}
	if r.sets, err = settings(e, nil); err != nil {
		return nil, err
	}
	opts, at := r.watch(true)
	a := newWorkspace()
	a.observe = opts.Observe
	ctx := context.Background()
	for i := range len(r.sets) * e.Replications {
		rep := &Replication{Configuration: i / e.Replications, Rep: i % e.Replications}
		a.leave()
		err := a.each(ctx, e, r.sets, rep, opts, func(_ int, run *Run) error {
			rep.Runs = append(rep.Runs, run)
			return nil
		})
		if err != nil {
			return nil, err
		}
		r.take(rep)
		for k, run := range rep.Runs {
			c := &e.Configurations[rep.Configuration]
			t := at[fmt.Sprintf("%s/%d", c.Admission[k].Label, rep.Rep)]
			t.Run, t.set, t.offer = run, r.sets[rep.Configuration], &r.sets[rep.Configuration].offers[k]
			r.runs = append(r.runs, t)
		}
	}
	r.hash, err = r.sum(at)
	return r, err
}

// take adds a replication.
func (r *told) take(rep *Replication) {
	r.study.take(rep)
	r.all = append(r.all, rep)
}

// together runs e with three workers and returns the hash of its results. It records no
// decisions; the recording must not change results.
func together(e *scenario.Experiment) (sum string, err error) {
	r := &told{experiment: e, study: NewStudy(e)}
	opts, at := r.watch(false)
	opts.Workers, opts.Observe = 3, nil
	if err := Each(context.Background(), e, opts, func(rep *Replication) error { r.take(rep); return nil }); err != nil {
		return "", err
	}
	return r.sum(at)
}

// sum returns the hash of all published results: the rows of every table and the entries of
// every ledger.
func (r *told) sum(at map[string]*toldRun) (string, error) {
	h := sha256.New()
	out := json.NewEncoder(h) // returns an error for NaN and infinities
	for _, rep := range r.all {
		c := &r.experiment.Configurations[rep.Configuration]
		for k, run := range rep.Runs {
			label := c.Admission[k].Label
			var metrics []results.Metric
			for m, values := range r.study.Cells[rep.Configuration][k].Values {
				metrics = append(metrics, r.study.metricRow(rep.Configuration, k, rep.Rep, m, &values[rep.Rep], r.study.Cells[rep.Configuration][k].trial(m, rep.Rep)))
			}
			if err := errors.Join(
				out.Encode(jobRows(c, label, rep.Rep, run.Jobs, run.Outcome.Volatile)),
				out.Encode(priceRows(c.Name, label, rep.Rep, run)),
				out.Encode(metrics),
			); err != nil {
				return "", fmt.Errorf("rows of %s, replication %d: %w", label, rep.Rep, err)
			}
			h.Write(at[fmt.Sprintf("%s/%d", label, rep.Rep)].journal.hash.Sum(nil))
		}
	}
	if err := errors.Join(out.Encode(r.study.SummaryRows()), out.Encode(r.study.CurveRows())); err != nil {
		return "", fmt.Errorf("summary: %w", err)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// jobRows returns the rows of the jobs table.
func jobRows(at *scenario.Configuration, admission string, rep int, jobs []metrics.Job, volatile bool) []results.Job {
	rows, endings, known := make([]results.Job, len(jobs)), make([]ending, len(jobs)), knowRuntimes(jobs)
	for i := range rows {
		jobRow(&rows[i], &endings[i], at, admission, rep, &jobs[i], known, volatile)
	}
	return rows
}

// priceRows returns the rows of run's prices.
func priceRows(configuration, admission string, rep int, run *Run) []results.Price {
	rows := make([]results.Price, len(run.Prices))
	for i, p := range run.Prices {
		rows[i] = PriceRow(configuration, admission, rep, i, p)
	}
	return rows
}
