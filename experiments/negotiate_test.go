package experiments

import (
	"context"
	"strings"
	"testing"

	"bourse/contracts"
	"bourse/experiments/scenario"
)

// TestNegotiate checks each accepted offer: without it, the request would have been rejected;
// it changes one term; the request is then accepted; and the user can pay. Offers must not
// extend deadlines.
func TestNegotiate(t *testing.T) {
	t.Parallel()
	const seed = 3
	ctx := context.Background()
	taken := make(map[string]int)
	for _, policy := range []string{"sac", "cac", "libra", "be", "fcfs"} {
		for _, user := range []string{scenario.Never, scenario.Rational, scenario.Impatient} {
			c := scenario.Default()
			model, choice, funds := scenario.Named("paper"), scenario.Named(policy), 100.0
			choice.Negotiate = user
			c.Workload.Model, c.Workload.Funds, c.Admission = &model, &funds, []scenario.Choice{choice}
			all, err := settings(&scenario.Experiment{Configurations: []scenario.Configuration{c}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			s := all[0]
			a := newWorkspace()
			a.plan = crowd(40, 9)
			for i := range a.plan {
				a.plan[i].Deadline *= 1.5
			}
			plan := a.plan
			run, err := a.run(ctx, s, &s.offers[0], seed, 0, nil, hooksOf(&s.offers[0])...)
			if err != nil {
				t.Fatal(err)
			}
			for n := range run.Jobs {
				j := &run.Jobs[n]
				if !j.Bargained {
					continue
				}
				taken[policy+" "+user]++
				r := &j.Contract
				b := newWorkspace()
				b.plan = plan
				m := &Snapshot{job: plan[n].ID}
				if _, err := b.run(ctx, s, &s.offers[0], seed, 0, nil, append([]hook{taker{m}}, hooksOf(&s.offers[0])...)...); err != nil {
					t.Fatal(err)
				}
				asked := m.Terms()
				got, err := m.Branch().Decide(ctx, &asked)
				if err != nil || got.Verdict != contracts.Reject {
					t.Errorf("%s, %s: job %d has taken an offer; as it asked it is %v, %v", policy, user, j.ID, got, err)
				}
				changed := 0
				for _, is := range []bool{r.Budget != asked.Budget, r.Deadline != asked.Deadline, j.Nodes != asked.Nodes} {
					if is {
						changed++
					}
				}
				if changed != 1 || r.Deadline > asked.Deadline || !j.Admitted() || r.Budget.Float64() > funds {
					t.Errorf("%s, %s: job %d asked for %+v and has %+v, %v", policy, user, j.ID, asked, r, j.Contract.Outcome)
				}
			}
		}
	}
	if taken["sac rational"] < 3 || taken["cac rational"] < 3 || taken["sac never"]+taken["cac never"]+taken["be rational"] > 0 {
		t.Errorf("offers taken: %v", taken)
	}
}

// TestNegotiateNamed checks that a scenario is refused if it names an unknown kind of users, or
// users of a plug-in that is not an admission policy.
func TestNegotiateNamed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"admission: [{name: sac, negotiate: greedy}]":                              `negotiate: found "greedy", want one of never, rational, impatient`,
		"admission: [sac], market: {forecaster: {name: normal, negotiate: never}}": "want this field only with an admission policy",
		"admission: [{name: sac, negotiate: rational, guarantee: 0.5}]":            "",
	} {
		_, err := scenario.Parse("a.yaml", []byte("name: a\nconfigurations:\n  - {name: b, workload: {model: paper}, "+text+"}\n"), scenario.Known{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
