package judge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/store"
	"bourse/contracts"
	"bourse/contracts/admission/outside"
	"bourse/contracts/broker"
	"bourse/experiments"
	"bourse/experiments/metrics"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/stats"
	"bourse/experiments/verify"
)

// A tally contains the values of one configuration, by replication. NaN means undefined.
type tally struct {
	metric, violations [2][]float64 // values of the champion and of the candidate
}

// differences returns the candidate's value minus the champion's in the replications in which both are defined.
func differences(of [2][]float64) (all []float64) {
	for i := range of[0] {
		if d := of[1][i] - of[0][i]; !math.IsNaN(d) {
			all = append(all, d)
		}
	}
	return all
}

// watch makes the policies in runs count their steps. It calls took with each decision of a
// candidate that is a script or a program. The calls of took do not overlap.
func (j *Judging) watch(opts experiments.Options, took func(configuration string, rep int, q *outside.Question, d *contracts.Decision)) experiments.Options {
	var mu sync.Mutex
	opts.Observe = func(configuration, label string, rep int, parts *broker.Config) {
		o, ok := parts.Policy.(*outside.Policy)
		if !ok || label != candidate {
			return
		}
		o.Observe(func(q *outside.Question, d *contracts.Decision) {
			mu.Lock()
			defer mu.Unlock()
			j.steps = max(j.steps, q.Steps)
			took(configuration, rep, q, d)
		})
	}
	return opts
}

// failed returns the candidate's failure in err, or nil if err contains none.
func failed(err error) *experiments.OutsideError {
	var of *experiments.OutsideError
	if errors.As(err, &of) && of.Policy == candidate {
		return of
	}
	return nil
}

// A Feedback is the result of screening a candidate on public seeds.
type Feedback struct {
	Score          float64           `json:"combined_score" doc:"mean difference of the metric, candidate minus champion; -1 if the candidate fails a gate"`
	Gate           string            `json:"gate" doc:"gate that the candidate fails; empty if it fails none"`
	Error          string            `json:"error" doc:"description of the candidate's failure, if it failed"`
	Metric         string            `json:"metric"`
	Steps          uint64            `json:"steps" doc:"largest number of computation steps in a decision; 0 if steps are not counted"`
	Configurations []ByConfiguration `json:"configurations"`
	Hashes
}

// Beyond returns the feedback on a candidate that used too much memory or time.
func (j *Judging) Beyond(gate string, err error) Feedback {
	return Feedback{Score: -1, Gate: gate, Error: err.Error(), Metric: j.metric.Name, Hashes: j.Hashes, Configurations: []ByConfiguration{}}
}

// A ByConfiguration is the result in one configuration.
type ByConfiguration struct {
	Name       string         `json:"name"`
	N          int            `json:"n" doc:"number of replications in which the metric is defined under both policies"`
	Difference float64        `json:"difference" doc:"mean difference of the metric, candidate minus champion"`
	Lo         report.Maybe   `json:"lo" doc:"95 % interval of the difference, for these replications only; null if there is no interval"`
	Hi         report.Maybe   `json:"hi"`
	Violations report.Maybe   `json:"violations" doc:"mean fraction of violated contracts under the candidate; null if the candidate admitted no contract"`
	Instead    report.Maybe   `json:"champion_violations"`
	Rejections map[string]int `json:"rejections" doc:"number of rejected requests for each reason"`
	Lost       []Lost         `json:"lost" doc:"at most five jobs: those that lose the most value compared with the champion"`
}

// A Lost is a job whose owner gained less than under the champion.
type Lost struct {
	Replication int     `json:"replication"`
	Job         int64   `json:"job"`
	Lost        float64 `json:"lost" doc:"value lost, $"`
	Champion    string  `json:"champion" doc:"outcome of the job under the champion"`
	Candidate   string  `json:"candidate" doc:"outcome of the job under the candidate"`
	Reason      string  `json:"reason" doc:"reason why the candidate rejected the job"`

	Decision json.RawMessage `json:"decision" doc:"decision of the candidate with its numbers, as the ledger records it; null for a built-in policy"`
}

// lost is the maximum number of lost jobs in the feedback on one configuration.
const lost = 5

// Screen runs the public replications and returns feedback for the author.
func (j *Judging) Screen(ctx context.Context, opts experiments.Options) (*Feedback, error) {
	x := &j.experiment
	if err := j.prepare(x.Seed, j.Settings.Screen); err != nil {
		return nil, err
	}
	f := &Feedback{Metric: j.metric.Name, Hashes: j.Hashes, Configurations: make([]ByConfiguration, len(x.Configurations))}
	type key struct {
		configuration string
		rep           int
		job           int64
	}
	decisions := make(map[key]json.RawMessage)
	opts = j.watch(opts, func(configuration string, rep int, q *outside.Question, d *contracts.Decision) {
		decisions[key{configuration, rep, int64(q.Request.ID)}] = d.AppendJSON(nil)
	})
	for i := range f.Configurations {
		f.Configurations[i] = ByConfiguration{Name: x.Configurations[i].Name, Rejections: map[string]int{}, Lost: []Lost{}}
	}
	err := j.prepared.Each(ctx, opts, func(r *experiments.Replication) error {
		t, c := &j.tally[r.Configuration], &f.Configurations[r.Configuration]
		for i, run := range r.Runs {
			t.add(i, value(&j.metric, run), value(&metrics.Violations, run))
		}
		for i := range r.Runs[1].Jobs {
			was, is := &r.Runs[0].Jobs[i], &r.Runs[1].Jobs[i]
			if !is.Admitted() {
				c.Rejections[string(is.Reason)]++
			}
			if less := was.Utility(1) - is.Utility(1); less > 0 {
				c.Lost = append(c.Lost, Lost{r.Rep, is.ID, less, was.Contract.Outcome.String(), is.Contract.Outcome.String(), string(is.Reason), nil})
			}
		}
		return nil
	})
	if e := failed(err); e != nil {
		f.Configurations = []ByConfiguration{}
		f.Score, f.Gate, f.Error = -1, "error", e.Error()
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	for i := range f.Configurations {
		c, t := &f.Configurations[i], &j.tally[i]
		slices.SortStableFunc(c.Lost, func(a, b Lost) int { return cmp.Compare(b.Lost, a.Lost) })
		c.Lost = c.Lost[:min(lost, len(c.Lost))]
		for k := range c.Lost {
			c.Lost[k].Decision = decisions[key{c.Name, c.Lost[k].Replication, c.Lost[k].Job}]
		}
		d := stats.Summarize(differences(t.metric), stats.Quantity{})
		c.N, c.Difference, c.Lo, c.Hi = d.N, d.Mean, report.Maybe(math.NaN()), report.Maybe(math.NaN())
		if d.HasInterval() {
			c.Lo, c.Hi = report.Maybe(d.Lo95), report.Maybe(d.Hi95)
		}
		c.Instead, c.Violations = mean(t.violations[0]), mean(t.violations[1])
	}
	f.Steps = j.steps
	screened := func(xs []float64, _, _ float64) (lo, hi float64, ok bool) {
		s := stats.Summarize(xs, stats.Quantity{})
		return s.Lo95, s.Hi95, s.HasInterval()
	}
	f.Score, f.Gate = -1, j.gate(screened)
	if diffs, _ := j.joint(); f.Gate == "" && len(diffs) > 0 {
		f.Score = stats.Mean(diffs)
	}
	return f, nil
}

func (t *tally) add(policy int, metric, violations float64) {
	t.metric[policy] = append(t.metric[policy], metric)
	t.violations[policy] = append(t.violations[policy], violations)
}

// value returns a metric of a run, or NaN if it is undefined.
func value(m *metrics.Metric, run *experiments.Run) float64 {
	if x, ok := m.Of(&run.Outcome); ok {
		return x
	}
	return math.NaN()
}

// mean returns the mean of the defined values.
func mean(xs []float64) report.Maybe {
	xs = slices.DeleteFunc(slices.Clone(xs), math.IsNaN)
	if len(xs) == 0 {
		return report.Maybe(math.NaN())
	}
	return report.Maybe(stats.Mean(xs))
}

// batch is the number of replications that a worker runs at once.
const batch = 5

// run runs the replications from, …, to-1 of all configurations. It audits the ledger of each
// run of the candidate and compares it with the table of jobs. It returns the gate that the
// candidate fails, or an empty string if it fails none.
func (j *Judging) run(ctx context.Context, opts experiments.Options, from, to int) (gate string, err error) {
	var units []experiments.Unit
	for c := range j.tally {
		for at := from; at < to; at += batch {
			units = append(units, experiments.Unit{Configuration: c, From: at, To: min(at+batch, to)})
		}
	}
	type done struct {
		unit   experiments.Unit
		values []float64
		found  string // first finding of the audit; empty if there is none
	}
	opts = j.watch(opts, func(string, int, *outside.Question, *contracts.Decision) {})
	begin := func(ctx context.Context) func(int) (done, error) {
		worker := j.prepared.Worker(results.CSV, opts)
		return func(i int) (d done, err error) {
			var kept ledgers
			d.unit = units[i]
			unit, err := worker.Run(ctx, units[i], nil, kept.journal, func() {})
			if err == nil {
				d.values = slices.Clone(unit.Values)
				d.found, err = j.audit(&kept, units[i], unit.Block["jobs.csv"])
			}
			return d, err
		}
	}
	s := experiments.NewStudy(j.prepared.Experiment)
	err = experiments.InOrder(ctx, len(units), opts.Workers, begin, func(d done) error {
		s.Add(d.unit.Configuration, d.values)
		if d.found != "" {
			gate = "audit"
		}
		return nil
	})
	if failed(err) != nil {
		return "error", nil
	}
	for c := range j.tally {
		for p := range 2 {
			metric, violations := s.Values(c, p, j.metric.Name), s.Values(c, p, metrics.Violations.Name)
			for i := range metric {
				j.tally[c].add(p, metric[i], violations[i])
			}
		}
	}
	return gate, err
}

// ledgers contains the ledgers of the candidate's runs in a unit.
type ledgers struct {
	kept  []store.Options
	heads []string
}

// journal implements [experiments.Journal].
func (l *ledgers) journal(_, label string, _ int) (bank.Journal, func(error) error, error) {
	if label != candidate {
		return nil, nil, nil
	}
	kept := store.Options{FS: store.Memory(), Reproducible: true}
	to, err := store.Create("ledger", kept)
	if err != nil {
		return nil, nil, err
	}
	return to, func(err error) error {
		err = errors.Join(err, to.Close())
		l.kept, l.heads = append(l.kept, kept), append(l.heads, to.Head().String())
		return err
	}, nil
}

// audit audits ledgers against the rows of jobs, and returns the first finding.
func (j *Judging) audit(l *ledgers, u experiments.Unit, jobs []byte) (found string, err error) {
	c := &j.prepared.Experiment.Configurations[u.Configuration]
	rows, err := verify.ReadJobs(io.MultiReader(bytes.NewReader(results.JobsHeader()), bytes.NewReader(jobs)), func(string) bool { return true })
	if err != nil {
		return "", err
	}
	for i, kept := range l.kept {
		r, err := audit.Audit("ledger", audit.Options{
			FS: kept.FS, Head: l.heads[i], Whole: true,
			Follow: verify.Follow(&verify.Run{Table: "jobs.csv", Rules: verify.RulesOf(c, &c.Admission[1]), Jobs: rows[fmt.Sprintf("%s/%s/%d", c.Name, candidate, u.From+i)]}),
		})
		if err != nil {
			return "", err
		}
		if !r.Clean() {
			return r.Findings[0].String(), nil
		}
	}
	return "", nil
}
