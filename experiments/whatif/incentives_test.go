package whatif

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"bourse/experiments"
	"bourse/experiments/papers"
	"bourse/experiments/scenario"
)

// presetOf returns the preset with the overrides in sets.
func presetOf(t *testing.T, preset string, sets ...string) *scenario.Experiment {
	t.Helper()
	e, err := scenario.Parse(preset, papers.Presets()[preset], experiments.Known(), sets...)
	if err != nil {
		t.Fatal(err)
	}
	return &e
}

// TestTruth checks on random scenarios under all policies that the utilities of truthful users
// agree with the metrics. The utilities and the worth of all users must add up to the utilities
// and the worth of all jobs, even if jobs are cancelled, lost or rejected. Every deviation must
// be runnable.
func TestTruth(t *testing.T) {
	t.Parallel()
	seen, scenarios := make(map[string]bool), 0
	for n := uint64(1000); n < 1030; n++ {
		p := random(t, n)
		if p == nil {
			continue
		}
		tr, err := p.Trial(0, 0)
		if err != nil {
			t.Fatalf("scenario %d: %v", n, err)
		}
		run, err := tr.Run(t.Context(), 0, tr.Plan)
		if err != nil {
			t.Fatalf("scenario %d: %v", n, err)
		}
		alpha := float64(n%3) / 2
		study := Deviations{Alpha: alpha, Users: 1, Deviations: UsualDeviations()}
		trials, err := study.offer(t.Context(), p, 0, 0)
		if err != nil {
			t.Fatalf("scenario %d: %v", n, err)
		}
		scenarios++
		name := p.Experiment.Configurations[0].Admission[0].Name
		seen[name] = true
		want, paid, got, bids := 0.0, 0.0, 0.0, 0.0
		for n := range run.Jobs {
			j := &run.Jobs[n]
			want += j.Utility(alpha)
			paid += j.Contract.Paid.Float64() - j.Contract.Penalty.Float64()
			bids += j.Value
		}
		for _, u := range trials[0].Truth.Utility {
			got += u
		}
		margin := 1e-6*float64(len(run.Jobs)) + 1e-9*bids // tolerance, because budgets are whole micro-dollars
		if math.Abs(got-want) > margin || math.Abs(trials[0].Truth.Worth-want-paid) > margin {
			t.Errorf("scenario %d, %s, alpha %v: utility %v of $%v, want %v of $%v", n, name, alpha, got, trials[0].Truth.Worth, want, want+paid)
		}
	}
	t.Logf("%d scenarios", scenarios)
	if len(seen) < 5 || scenarios < 12 {
		t.Errorf("%d scenarios, of policies %v", scenarios, seen)
	}
}

// TestIncentives checks that the results depend only on the seed, that a user's misreport
// affects only that user's reports, and that users in a settled state gain nothing by
// another misreport.
func TestIncentives(t *testing.T) {
	t.Parallel()
	e := presetOf(t, "paper", "replications=3", "base.workload.model.jobs=20", "base.workload.model.users=4")
	ask := Deviations{Configurations: []string{"pareto-high"}, Deviations: UsualDeviations(), Alpha: 1, Epsilon: 1, Users: 3, Answers: 2, Rounds: 20}
	var first []byte
	for _, workers := range []int{1, 3} {
		ask.Workers = workers
		r, err := Incentives(t.Context(), e, ask)
		if err != nil {
			t.Fatal(err)
		}
		found, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = found
		}
		if !bytes.Equal(found, first) {
			t.Errorf("%d workers find something else:\n%s\n%s", workers, found, first)
		}
		if len(r.Gains) != 4*len(ask.Deviations) || len(r.Best) != 4 || len(r.Answers) != 4 {
			t.Errorf("%d rows, %d best and %d answers", len(r.Gains), len(r.Best), len(r.Answers))
		}
		for _, g := range r.Gains {
			if g.N != 3 || g.Users != 9 {
				t.Errorf("%s: %d users of %d replications", g.Deviation, g.Users, g.N)
			}
		}
	}
	p, err := experiments.Prepare(e)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := p.Trial(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	tr.PlannedDeadlines()
	truth := tr.Plan
	for k, policy := range p.Experiment.Configurations[1].Admission {
		m := &game{Truth: truth, Alpha: 1, Run: func(r reported) ([]reportedOutcome, error) { return outcomes(t.Context(), tr, k, r) }}
		truly, err := m.payoff(func(int64) Deviation { return Deviation{} })
		if err != nil {
			t.Fatal(err)
		}
		lies := []Deviation{{Kind: "value", By: 0.5}, {Kind: "value", By: 2}, {Kind: "split", By: 2}}
		answer, err := m.respond(truly, lies, 1, 20)
		if err != nil {
			t.Fatal(err)
		}
		users := usersOf(truth)
		plays := make(map[int64]Deviation)
		for i, u := range users {
			if plays[u] = answer.Plays[i]; plays[u].Kind == "split" {
				t.Errorf("%s: user %d splits its jobs, for which U* is no bound", policy.Label, u)
			}
		}
		here, err := m.payoff(func(user int64) Deviation { return plays[user] })
		if err != nil {
			t.Fatal(err)
		}
		if here.Worth != answer.Outcome.Worth {
			t.Errorf("%s: users come to $%v, found again $%v", policy.Label, answer.Outcome.Worth, here.Worth)
		}
		if !answer.Settled {
			continue
		}
		for _, u := range users {
			for _, d := range append(lies[:2:2], Deviation{}) {
				other, err := m.payoff(func(user int64) Deviation {
					if user == u {
						return d
					}
					return plays[user]
				})
				if err != nil {
					t.Fatal(err)
				}
				if gain := other.Utility[u] - here.Utility[u]; gain > 1 {
					t.Errorf("%s: user %d, who says %s, gains %v by %s", policy.Label, u, plays[u], gain, d)
				}
			}
		}
	}
}

// TestDeadlineLies checks that work done after the true deadline has no value, whatever
// deadline was reported. If only one job runs at a time, reporting twice the time until the
// deadline must not increase the value of any job.
func TestDeadlineLies(t *testing.T) {
	t.Parallel()
	p, err := experiments.Prepare(presetOf(t, "paper", "replications=1", "base.workload.model.jobs=3", "base.workload.model.users=3"))
	if err != nil {
		t.Fatal(err)
	}
	tr, err := p.Trial(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	tr.PlannedDeadlines()
	truth := tr.Plan
	m := &game{Truth: truth, Alpha: 0, Run: func(r reported) ([]reportedOutcome, error) { return outcomes(t.Context(), tr, 0, r) }}
	for i := range truth {
		truth[i].Arrival += 1e5 * float64(i) // only one job at a time
		truth[i].Deadline /= 2               // only half of the work can be done by the deadline
	}
	for _, by := range []float64{1, 2, 4} {
		o, err := m.payoff(func(int64) Deviation {
			if by == 1 {
				return Deviation{}
			}
			return Deviation{Kind: "deadline", By: by}
		})
		if err != nil {
			t.Fatal(err)
		}
		value := 0.0
		for i := range truth {
			value += truth[i].Value
		}
		if !(math.Abs(o.Worth-value/2) <= 1e-6) {
			t.Errorf("%v times the deadline: half of the work is worth $%v, want %v", by, o.Worth, value/2)
		}
	}
}

// TestDeviations checks the rejected deviations.
func TestDeviations(t *testing.T) {
	t.Parallel()
	e := presetOf(t, "paper")
	good := Deviations{Deviations: UsualDeviations(), Users: 1}
	for want, spoil := range map[string]func(*Deviations){
		"deviations":    func(t *Deviations) { t.Deviations = nil },
		"alpha":         func(t *Deviations) { t.Alpha = 1.5 },
		"epsilon":       func(t *Deviations) { t.Epsilon = -1 },
		"users":         func(t *Deviations) { t.Users = 0 },
		"answers":       func(t *Deviations) { t.Answers = -1 },
		"rounds":        func(t *Deviations) { t.Answers = 1 },
		"configuration": func(t *Deviations) { t.Configurations = []string{"low"} },
	} {
		bad := good
		spoil(&bad)
		if _, err := Incentives(t.Context(), e, bad); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
