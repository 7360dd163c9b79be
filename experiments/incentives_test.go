package experiments

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"bourse/experiments/incentives"
	"bourse/experiments/papers"
	"bourse/experiments/scenario"
)

// of returns the preset with sets.
func presetOf(t *testing.T, preset string, sets ...string) *scenario.Experiment {
	t.Helper()
	e, err := scenario.Parse(preset, papers.Presets()[preset], Known(), sets...)
	if err != nil {
		t.Fatal(err)
	}
	return &e
}

// TestTruth checks on random scenarios, of every policy, that who says the truth has what the
// metrics say: the utilities of all users come to those of all jobs, whatever is paid, taken
// back, lost or refused, and so does what their work is worth; and that every lie can be told.
func TestTruth(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seen, scenarios := make(map[string]bool), 0
	for n := *matrixSeed; n < *matrixSeed+60; n++ {
		g := draw(n)
		if err := g.write(dir); err != nil {
			t.Fatal(err)
		}
		e, err := parse(dir)
		if err != nil {
			continue
		}
		p, err := Prepare(e)
		if err != nil {
			continue
		}
		one := new(Replication)
		if err := newArena().each(t.Context(), p.Experiment, p.settings, one, Options{}, func(_ int, run *Run) error {
			one.Runs = append(one.Runs, run)
			return nil
		}); err != nil {
			continue // the matrix test says why
		}
		alpha := float64(n%3) / 2
		trials, err := newArena().tempt(t.Context(), p, 0, 0, &Temptations{Alpha: alpha, Users: 1, Deviations: incentives.Usual()})
		if err != nil {
			t.Fatalf("draw %d: %v", n, err)
		}
		scenarios++
		for k, run := range one.Runs {
			o := &p.settings[0].offers[k]
			seen[o.Name] = true
			want, paid, got, bids := 0.0, 0.0, 0.0, 0.0
			for n := range run.Jobs {
				j := &run.Jobs[n]
				want += j.Utility(alpha)
				paid += j.Contract.Paid.Float64() - j.Contract.Penalty.Float64()
				bids += j.Value
			}
			for _, u := range trials[k].Truth.Utility {
				got += u
			}
			margin := 1e-6*float64(len(run.Jobs)) + 1e-9*bids // budgets are whole micro-dollars
			if math.Abs(got-want) > margin || math.Abs(trials[k].Truth.Worth-want-paid) > margin {
				t.Errorf("draw %d, %s, alpha %v: utility %v of $%v, want %v of $%v", n, o.Label, alpha, got, trials[k].Truth.Worth, want, want+paid)
			}
		}
	}
	t.Logf("%d scenarios", scenarios)
	if len(seen) < 8 || scenarios < 20 {
		t.Errorf("%d scenarios, of policies %v", scenarios, seen)
	}
}

// TestIncentives checks that what is found depends on the seed alone, that a user's lie is of
// itself alone, and that who settles gains nothing by another lie.
func TestIncentives(t *testing.T) {
	t.Parallel()
	e := presetOf(t, "paper", "replications=3", "base.workload.model.jobs=20", "base.workload.model.users=4")
	ask := Temptations{Configurations: []string{"pareto-high"}, Deviations: incentives.Usual(), Alpha: 1, Epsilon: 1, Users: 3, Answers: 2, Rounds: 20}
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
	p, err := Prepare(e)
	if err != nil {
		t.Fatal(err)
	}
	a := newArena()
	s := p.settings[1]
	if err := a.draw(s, p.Experiment.Seed, 0); err != nil {
		t.Fatal(err)
	}
	s, truth := s.told(a.plan)
	for k := range s.offers {
		m := &incentives.Market{Truth: truth, Alpha: 1, Run: func(said incentives.Said) ([]incentives.Fate, error) {
			return a.hear(t.Context(), s, &s.offers[k], p.Experiment.Seed, 0, truth, said)
		}}
		truly, err := m.Outcome(func(int64) incentives.Deviation { return incentives.Deviation{} })
		if err != nil {
			t.Fatal(err)
		}
		lies := []incentives.Deviation{{Kind: "value", By: 0.5}, {Kind: "value", By: 2}, {Kind: "split", By: 2}}
		answer, err := m.Answer(truly, lies, 1, 20)
		if err != nil {
			t.Fatal(err)
		}
		users := incentives.Users(truth)
		plays := make(map[int64]incentives.Deviation)
		for i, u := range users {
			if plays[u] = answer.Plays[i]; plays[u].Kind == "split" {
				t.Errorf("%s: user %d splits its jobs, for which U* is no bound", s.offers[k].Label, u)
			}
		}
		here, err := m.Outcome(func(user int64) incentives.Deviation { return plays[user] })
		if err != nil {
			t.Fatal(err)
		}
		if here.Worth != answer.Outcome.Worth {
			t.Errorf("%s: users come to $%v, found again $%v", s.offers[k].Label, answer.Outcome.Worth, here.Worth)
		}
		if !answer.Settled {
			continue
		}
		for _, u := range users {
			for _, d := range append(lies[:2:2], incentives.Deviation{}) {
				other, err := m.Outcome(func(user int64) incentives.Deviation {
					if user == u {
						return d
					}
					return plays[user]
				})
				if err != nil {
					t.Fatal(err)
				}
				if gain := other.Utility[u] - here.Utility[u]; gain > 1 {
					t.Errorf("%s: user %d, who says %s, gains %v by %s", s.offers[k].Label, u, plays[u], gain, d)
				}
			}
		}
	}
}

// TestDeadlineLies checks that work done after the true deadline is worth nothing, whatever
// deadline was said: with twice the time no job of the truth is worth more than with the time
// that it has, where nobody else is.
func TestDeadlineLies(t *testing.T) {
	t.Parallel()
	p, err := Prepare(presetOf(t, "paper", "replications=1", "base.workload.model.jobs=3", "base.workload.model.users=3"))
	if err != nil {
		t.Fatal(err)
	}
	a := newArena()
	s := p.settings[0]
	if err := a.draw(s, p.Experiment.Seed, 0); err != nil {
		t.Fatal(err)
	}
	s, truth := s.told(a.plan)
	m := &incentives.Market{Truth: truth, Alpha: 0, Run: func(said incentives.Said) ([]incentives.Fate, error) {
		return a.hear(t.Context(), s, &s.offers[0], p.Experiment.Seed, 0, truth, said)
	}}
	for i := range truth {
		truth[i].Arrival += 1e5 * float64(i) // each alone
		truth[i].Deadline /= 2               // half of the work can be done
	}
	for _, by := range []float64{1, 2, 4} {
		o, err := m.Outcome(func(int64) incentives.Deviation {
			if by == 1 {
				return incentives.Deviation{}
			}
			return incentives.Deviation{Kind: "deadline", By: by}
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

// TestTemptations checks what is refused.
func TestTemptations(t *testing.T) {
	t.Parallel()
	e := presetOf(t, "paper")
	good := Temptations{Deviations: incentives.Usual(), Users: 1}
	for want, spoil := range map[string]func(*Temptations){
		"deviations":    func(t *Temptations) { t.Deviations = nil },
		"alpha":         func(t *Temptations) { t.Alpha = 1.5 },
		"epsilon":       func(t *Temptations) { t.Epsilon = -1 },
		"users":         func(t *Temptations) { t.Users = 0 },
		"answers":       func(t *Temptations) { t.Answers = -1 },
		"rounds":        func(t *Temptations) { t.Answers = 1 },
		"configuration": func(t *Temptations) { t.Configurations = []string{"low"} },
	} {
		bad := good
		spoil(&bad)
		if _, err := Incentives(t.Context(), e, bad); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
