// Package author helps authors of external policies. It writes a first policy, checks a policy
// in random markets, and has a policy answer a saved question again.
package author

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"bourse/contracts"
	"bourse/contracts/admission/outside"
	"bourse/contracts/admission/script"
	"bourse/contracts/bidding"
	"bourse/contracts/broker"
	"bourse/experiments"
	examples "bourse/experiments/examples/policies"
	"bourse/experiments/misuse"
	"bourse/experiments/program"
	"bourse/experiments/recovered"
	"bourse/experiments/report"
	"bourse/experiments/scenario"
	"bourse/hosts"
	"bourse/workloadgen/plugin"
)

// A Source is the script or program that contains a policy.
type Source struct {
	File    string
	Command []string
}

// Choice returns the policy as one line of a scenario. The line is JSON, which is also
// valid YAML. A confined program can read only the files named in its command.
func (s Source) Choice(confined bool) string {
	c := map[string]any{"name": "script", "label": "mine", "file": s.File}
	if s.File == "" {
		c = map[string]any{"name": "program", "label": "mine", "command": s.Command, "files": s.Files(), "confined": confined}
	}
	text, _ := json.Marshal(c) // text can be encoded
	return string(text)
}

// Files returns the files named in the command of s.
func (s Source) Files() []string {
	files := []string{}
	for _, name := range s.Command {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			files = append(files, name)
		}
	}
	return files
}

// New writes a policy called name, which is a copy of the example from. It also writes a
// scenario that compares the new policy with the example. The language is starlark, python
// or perl. New returns the names of the files.
func New(name, from, in string) ([]string, error) {
	languages := map[string]string{"starlark": ".star", "python": ".py", "perl": ".pl"}
	ext, ok := languages[in]
	if !ok {
		return nil, misuse.Errorf("in: found %q, %s", in, plugin.OneOf(in, []string{"starlark", "python", "perl"}))
	}
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return nil, misuse.Errorf("NAME: found %q, want letters a-z, digits and hyphens", name)
	}
	example := from
	if in != "starlark" {
		example = "policy"
	}
	text, err := examples.Files.ReadFile(example + ext)
	if err != nil {
		return nil, misuse.Errorf("from: found %q, %s", from, plugin.OneOf(from, []string{"be", "cac", "fcfs", "rac", "sac"}))
	}
	choice := fmt.Sprintf("{name: script, label: %s, file: %s}", name, name+ext)
	if in != "starlark" {
		choice = fmt.Sprintf("{name: program, label: %s, command: [%s, %s], files: [%s]}", name, map[string]string{".py": "python3", ".pl": "perl"}[ext], name+ext, name+ext)
	}
	if from == "fcfs" && in == "starlark" {
		choice = strings.TrimSuffix(choice, "}") + ", sharing: exclusive}"
	}
	scenario := "# Compares " + name + " with built-in policies: bourse run " + name + ".yaml\npreset: paper\nname: " + name +
		"\nreplications: 20\nbase:\n  admission: [be, " + choice + ", cac]\nconfigurations: [{name: high}]\n"
	files := []string{name + ext, name + ".yaml"}
	for _, file := range files {
		if _, err := os.Lstat(file); err == nil {
			return nil, misuse.Errorf("%s exists; use another NAME", file)
		}
	}
	return files, errors.Join(os.WriteFile(files[0], text, 0o666), os.WriteFile(files[1], []byte(scenario), 0o666))
}

// A Check is the result of [Checked].
type Check struct {
	Seed     uint64    `json:"seed" doc:"seed of the random markets; the same seed generates the same markets"`
	Markets  int       `json:"markets"`
	Verdicts []Verdict `json:"verdicts" doc:"outcomes of requests under the policy, the most frequent first"`
	Costs    []Cost    `json:"costs" doc:"cost of a decision under the policy and under built-in policies"`
}

// A Verdict is a kind of decision and its frequency.
type Verdict struct {
	Verdict string `json:"verdict" doc:"accept, or the reason for a rejection"`
	N       int    `json:"n"`
}

// A Cost is the cost of one decision.
type Cost struct {
	Policy    string  `json:"policy"`
	Decisions int     `json:"decisions"`
	Median    float64 `json:"median_us" doc:"median time, microseconds"`
	Most      float64 `json:"p99_us" doc:"99 % quantile of the time of a decision, in microseconds"`
	Steps     uint64  `json:"steps" doc:"largest number of computation steps in a decision; 0 if steps are not counted"`
}

// A meter measures the decisions of a policy.
type meter struct {
	contracts.Policy
	times []float64 // times of decisions on submissions, in µs
	steps uint64    // maximum number of steps
	timed bool
}

// Handle implements [contracts.Policy].
func (m *meter) Handle(now float64, e contracts.Event, of contracts.Market) []contracts.Action {
	start := time.Now()
	actions := m.Policy.Handle(now, e, of)
	if e.Kind == contracts.Submitted && m.timed {
		m.times = append(m.times, float64(time.Since(start).Nanoseconds())/1000)
	}
	return actions
}

// Err returns the error that stopped the policy, if any.
func (m *meter) Err() error {
	if f, ok := m.Policy.(interface{ Err() error }); ok {
		return f.Err()
	}
	return nil
}

// Checked runs a policy in random markets. To compare the cost, it also runs the built-in
// policies in the same markets. Each answer must be valid. If the same question is asked twice,
// both answers must be the same. A run that continues from a copy of the market must have the
// same outcomes.
func Checked(ctx context.Context, s Source, seed uint64, markets int) (*Check, error) {
	r := &Check{Seed: seed, Markets: markets}
	verdicts := make(map[string]int)
	meters := map[string]*meter{}
	twice := false // if set, this market asks each question twice; if not, it measures the time of answers
	names := []string{"mine", "be", "sac"}
	for _, name := range names {
		meters[name] = new(meter)
	}
	observe := func(_, label string, _ int, parts *broker.Config) {
		m := meters[label]
		m.Policy = parts.Policy
		m.timed = !twice
		if o, ok := parts.Policy.(*outside.Policy); ok && twice {
			o.AskTwice()
			o.Observe(func(q *outside.Question, _ *contracts.Decision) { m.steps = max(m.steps, q.Steps) })
		}
		parts.Policy = m
	}
	for n := range uint64(markets) {
		twice = n%2 == 0
		text := market(rand.New(rand.NewPCG(seed, n)), n, s.Choice(false))
		e, err := scenario.Parse("", []byte(text), experiments.Known())
		if err != nil {
			return nil, err
		}
		p, err := experiments.Prepare(&e)
		if err != nil {
			return nil, err
		}
		err = p.Each(ctx, experiments.Options{Observe: observe}, func(rep *experiments.Replication) error {
			for _, j := range rep.Runs[0].Jobs {
				if j.Admitted() {
					verdicts["accept"]++
				} else {
					verdicts["reject: "+string(j.Reason)]++
				}
			}
			if n%10 == 0 {
				return again(ctx, p, rep.Runs[0])
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("market %d of seed %d: %w", n, seed, err)
		}
	}
	for v, n := range verdicts {
		r.Verdicts = append(r.Verdicts, Verdict{v, n})
	}
	slices.SortFunc(r.Verdicts, func(a, b Verdict) int { return 2*(b.N-a.N) + strings.Compare(a.Verdict, b.Verdict) })
	for _, name := range names {
		m := meters[name]
		slices.Sort(m.times)
		n := len(m.times)
		if n == 0 {
			continue
		}
		r.Costs = append(r.Costs, Cost{name, n, m.times[n/2], m.times[n*99/100], m.steps})
	}
	return r, nil
}

// again copies the market at a job in the middle of a run, and continues the run from the
// copy. It checks that the outcomes are the same as in the run.
func again(ctx context.Context, p *experiments.Prepared, run *experiments.Run) error {
	t, err := p.Trial(0, 0)
	if err != nil {
		return err
	}
	f, _, err := t.Before(ctx, 0, t.Plan, experiments.At{Position: len(t.Plan) / 2})
	if err != nil || f == nil {
		return err
	}
	terms := f.Terms()
	jobs, err := f.Branch().Finish(ctx, &terms)
	if err != nil {
		return err
	}
	for i := range jobs {
		if was := &run.Jobs[i]; jobs[i].Contract.Outcome != was.Contract.Outcome || jobs[i].Contract.Paid != was.Contract.Paid {
			return fmt.Errorf("job %d ended differently in a copy of the market: found outcome %v, want %v", was.ID, jobs[i].Contract.Outcome, was.Contract.Outcome)
		}
	}
	return nil
}

// market returns a random market in which a policy runs next to be and sac.
func market(rng *rand.Rand, n uint64, choice string) string {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	churn := ""
	if rng.IntN(5) == 0 {
		churn = ", availability: {model: {name: markov}}"
	}
	return fmt.Sprintf(`name: check
seed: %d
replications: 1
base:
  fleet: {hosts: %d, cpus: %s, cap: %s, speeds: %s, memory: 8e9%s}
  workload: {model: {name: paper, jobs: %d, users: 3}, annotate: {load: {target: %s}}}
  market: {bidding: %s, payment: %s, window: %s}
  sla: {deadline: %s, enforcement: %s, slack: %s}
  needs: {min: {cpu: %s, memory: %s}}
  admission: [%s, be, sac]
configurations: [{name: one}]
`, n, 1+rng.IntN(12), pick("1", "2", "4", "1.5"), pick("0", "1"), pick("[]", "[1, 2, 0.5]"), churn, 5+rng.IntN(30),
		pick("0.3", "1", "3"), pick("cheapest", "best-response", "emptiest", "random"), pick("spot", "bid", "usage"), pick("300", "3000"),
		pick("plan", "hard", "soft"), pick("total", "per-host"), pick("1", "3"), pick("0", "0", "0.5"), pick("0", "1e9"), choice)
}

// Document returns the result as a document.
func (r *Check) Document() report.Document {
	verdicts := report.Table{Title: fmt.Sprintf("Requests in %d markets drawn with seed %d", r.Markets, r.Seed), Header: []string{"Verdict", "Requests"}, Left: 1}
	for _, v := range r.Verdicts {
		verdicts.Rows = append(verdicts.Rows, report.Cells(v.Verdict, v.N))
	}
	costs := report.Table{Title: "Cost of a decision", Header: []string{"Policy", "Decisions", "Median (µs)", "99 % (µs)", "Most steps"}, Left: 1}
	for _, c := range r.Costs {
		costs.Rows = append(costs.Rows, report.Cells(c.Policy, c.Decisions, fmt.Sprintf("%.1f", c.Median), fmt.Sprintf("%.1f", c.Most), int(c.Steps)))
	}
	return report.Document{
		Tables: []report.Table{verdicts, costs}, Values: func([]string) any { return *r },
		Notes: []string{"Each answer was valid, and was the same if the question was repeated or asked in a copy of the market."},
	}
}

// An Answered is the answer to a saved question.
type Answered struct {
	Verdict  string          `json:"verdict" doc:"accept, reject or defer"`
	Decision json.RawMessage `json:"decision" doc:"decision as the ledger would record it"`
	On       []outside.Bid   `json:"on" doc:"hosts and bids, if the request was accepted"`
	State    json.RawMessage `json:"state,omitempty" doc:"state of the policy after the answer"`
}

// Ask lets the policy answer the saved question in text. The function print receives the
// output of a script's print statements.
func Ask(ctx context.Context, s Source, text []byte, print func(string)) (*Answered, error) {
	guard := recovered.Guard(ctx)
	rng := rand.New(rand.NewPCG(0, 0))
	bid, err := bidding.Table(rng).New("cheapest", nil)
	if err != nil {
		return nil, err
	}
	q, line, err := outside.Read(text, bid, guard)
	if err != nil {
		return nil, err
	}
	m, first, err := s.mind(line, print, guard)
	if err != nil {
		return nil, err
	}
	if q.State == nil {
		q.State = first
	}
	if q.Outcome != "" {
		state, err := m.Ended(q)
		return &Answered{"", nil, nil, state}, err
	}
	a, err := m.Decide(q)
	if err != nil {
		return nil, err
	}
	d, err := q.Check(&a)
	if err != nil {
		return nil, err
	}
	return &Answered{d.Verdict.String(), d.AppendJSON(nil), outside.Bids(d.Placements), a.State}, nil
}

// mind returns the decision function of s for the question in line, and the initial state of
// the function.
func (s Source) mind(line *outside.Line, print func(string), guard outside.Guard) (m outside.Mind, first []byte, err error) {
	if s.File != "" {
		text, err := os.ReadFile(s.File)
		if err != nil {
			return nil, nil, err
		}
		compiled, err := script.Compile(s.File, text, line.Options, guard)
		if err != nil {
			return nil, nil, err
		}
		compiled.Print = print
		return compiled, compiled.Terms.Start, nil
	}
	o := &outside.Program{Command: s.Command, Options: line.Options, Timeout: 10}
	var fleet []hosts.Spec
	for _, h := range line.Hosts {
		fleet = append(fleet, hosts.Spec{Name: h.Name, CPUs: h.CPUs, Speed: h.Speed, Cap: h.Cap})
	}
	_, err = program.Connect(o, fleet, os.ReadFile)
	return o.Mind, o.Terms.Start, err
}

// Tests runs the tests of a script, which are its functions whose names begin with test_.
func Tests(ctx context.Context, file string, print func(string)) ([]script.Result, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return script.Test(file, text, print, recovered.Guard(ctx))
}
