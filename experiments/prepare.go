package experiments

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"bourse/bank/whole"
	"bourse/experiments/metrics"
	"bourse/experiments/scenario"
)

// A Prepared is an experiment that is ready to run. Every field has been checked, every
// plug-in has been created with its options, and every log, plan and trace has been read
// once. Running the experiment does not change it.
type Prepared struct {
	Experiment *scenario.Experiment // expanded
	Inputs     map[string]string    // SHA-256 hash of each input file, keyed by path
	settings   []*setting
	jobs       []int    // number of jobs in the first replication, by configuration
	alike      []string // configurations whose replications all have the same jobs and hosts
	UnitRows   int      // approximate number of rows of the jobs table per unit
}

// Prepare makes e ready to run. The error describes the first problem: an option that a
// plug-in rejects, a missing or invalid file, or jobs without budgets.
func Prepare(e *scenario.Experiment) (p *Prepared, err error) {
	defer (&Panic{Scenario: e.Name, Replication: -1, Seed: e.Seed}).Recovered(&err)
	x := e.Expanded()
	p = &Prepared{Experiment: &x, Inputs: make(map[string]string), UnitRows: rowsPerUnit}
	if p.settings, err = settings(&x, p.Inputs); err != nil {
		return nil, err
	}
	p.measures(Named(&x)...)
	a := newWorkspace()
	for _, s := range p.settings {
		if err := a.draw(s, x.Seed, 0); err != nil {
			return nil, fmt.Errorf("configuration %s: %w", s.conf.Name, err)
		}
		p.jobs = append(p.jobs, len(a.plan))
		s.jobs, s.sized = len(a.plan), a.sized
		s.wide = make(map[int]int)
		for i := range s.offers {
			if widest := s.widest(&s.offers[i]); s.wide[widest] == 0 {
				for j := range a.plan {
					if a.plan[j].Nodes > widest {
						s.wide[widest]++
					}
				}
			}
		}
		for i := range a.plan {
			if a.plan[i].After != 0 {
				s.follow++
			}
			if sla := &s.conf.SLA; sla.Deadline != "none" && sla.Slack*deadline(sla.Of, &a.plan[i]) < a.plan[i].Runtime {
				s.short++
			}
		}
		if x.Replications == 1 {
			continue
		}
		alike, err := a.alike(s, x.Seed)
		if err != nil {
			return nil, fmt.Errorf("configuration %s: %w", s.conf.Name, err)
		}
		if alike {
			p.alike = append(p.alike, s.conf.Name)
		}
	}
	return p, nil
}

// measures makes runs record the additional data that the named metrics need.
func (p *Prepared) measures(names ...string) {
	for _, s := range p.settings {
		s.hostPrices = slices.Contains(names, metrics.HostDemandCorrelation.Name)
	}
}

// Warnings describes properties of the experiment's jobs that are valid but probably
// unintended. The function Idle of package catalog describes such settings.
func (p *Prepared) Warnings() []string {
	var all []string
	for _, s := range p.settings {
		for _, w := range s.warnings() {
			if !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	return all
}

// Notes states which parts of the input files were omitted, and other facts about these files
// that readers should know.
func (p *Prepared) Notes() []string { return notes(p.settings) }

// Unchanged returns an error if a file that p read differs from the given hashes, which
// were stored with the results. If hashes is nil, Unchanged returns nil.
func (p *Prepared) Unchanged(hashes map[string]string) error { return files(p.Inputs).same(hashes) }

// Each runs every replication on any number of workers. It passes the replications to take in
// the order of configurations and replications. It stops at the first error. It rejects
// experiments with a stopping rule, because only package publication supports these rules.
func (p *Prepared) Each(ctx context.Context, opts Options, take func(*Replication) error) (err error) {
	e := p.Experiment
	if e.Until != nil {
		return fmt.Errorf("%s: until: found %s, want a fixed number of replications, because this command makes single runs", e.Name, e.Until.Metric)
	}
	at := Panic{Scenario: e.Name, Replication: -1, Seed: e.Seed}
	defer at.Recovered(&err)
	done, total := 0, len(p.settings)*e.Replications
	begin := func(ctx context.Context) func(int) (*Replication, error) {
		a := newWorkspace()
		a.observe = opts.Observe
		return func(i int) (*Replication, error) {
			r := &Replication{Configuration: i / e.Replications, Rep: i % e.Replications}
			a.leave()
			return r, a.each(ctx, e, p.settings, r, opts, func(_ int, run *Run) error {
				r.Runs = append(r.Runs, run)
				return nil
			})
		}
	}
	return InOrder(ctx, total, opts.Workers, begin, func(r *Replication) error {
		at = place(e, r.Configuration, r.Rep)
		if err := take(r); err != nil {
			return err
		}
		if done++; opts.Progress != nil {
			opts.Progress(done, total)
		}
		return nil
	})
}

// files maps the path of each input file to the file's hash. It is nil if the hashes are
// not needed.
type files map[string]string

// same returns an error if a file has changed since the results were computed. The error
// contains the path and both hashes. The parameter of contains the hashes stored with the
// results, or is nil if there are no results.
func (in files) same(of map[string]string) error {
	for _, path := range slices.Sorted(maps.Keys(in)) {
		if want := cmp.Or(of[path], "no such file"); of != nil && in[path] != want {
			return fmt.Errorf("%s: found sha256 %s, want %s as in the results' manifest; a run with this file would differ", path, in[path], want)
		}
	}
	return nil
}

// readAs reads the file at path with parse and stores the file's hash in in. If in is not
// nil, the file must be a regular file.
func readAs[T any](in files, path string, parse func(io.Reader) (T, error)) (got T, err error) {
	open := os.Open
	if in != nil {
		open = whole.Open
	}
	f, err := open(path)
	if err != nil {
		return got, err
	}
	defer f.Close()
	if in == nil {
		return parse(f)
	}
	sum := sha256.New()
	all := io.TeeReader(f, sum)
	if got, err = parse(all); err != nil {
		return got, err
	}
	if _, err = io.Copy(io.Discard, all); err == nil { // required for the hash, because parse may stop before the end of the file
		in[path] = hex.EncodeToString(sum.Sum(nil))
	}
	return got, err
}

// notes returns the distinct notes on how the settings selected and annotated jobs.
func notes(all []*setting) []string {
	var said []string
	for _, s := range all {
		for _, n := range append(slices.Clip(s.work.notes), s.derived()...) {
			if !slices.Contains(said, n) {
				said = append(said, n)
			}
		}
	}
	return said
}
