package experiments

import (
	"context"
	"strings"
	"testing"

	"bourse/contracts"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// TestNegotiate checks that who takes an offer would have been refused, has changed one of
// its terms, is accepted, and can pay; and that nobody extends a deadline.
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
			a := newArena()
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
				b := newArena()
				b.plan = plan
				m := &Snapshot{Position: n}
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

// TestNegotiateNamed checks that users of another kind, and those of what is no admission
// policy, are refused.
func TestNegotiateNamed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"admission: [{name: sac, negotiate: greedy}]":                              `negotiate: found "greedy", want one of never, rational, impatient`,
		"admission: [sac], market: {forecaster: {name: normal, negotiate: never}}": "want it with an admission policy only",
		"admission: [{name: sac, negotiate: rational, guarantee: 0.5}]":            "",
	} {
		_, err := scenario.Parse("a.yaml", []byte("name: a\nconfigurations:\n  - {name: b, workload: {model: paper}, "+text+"}\n"), scenario.Known{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestNegotiated checks that results tell what negotiation is worth where the same policy was
// run with it and without, that means of the differences are those of the metrics, and that
// nothing is told where it was not.
func TestNegotiated(t *testing.T) {
	t.Parallel()
	study := func(admission string) *Study {
		e, err := scenario.Parse("a.yaml", []byte("name: a\nreplications: 3\nbase: {workload: {model: {name: paper, jobs: 20}}}\nconfigurations:\n  - {name: b, admission: ["+admission+"]}\n"), Known())
		if err != nil {
			t.Fatal(err)
		}
		s := newStudy(&e)
		err = Each(t.Context(), &e, Options{}, func(r *Replication) error {
			found := []float64{float64(r.Optimum.kind())}
			for _, run := range r.Runs {
				found = s.measure(run, found)
			}
			s.add(0, found)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := study("{name: sac, guarantee: 0.5}, {name: sac, label: bargain, guarantee: 0.5, negotiate: rational}")
	d := s.Document("")
	said := d.Notes[len(d.Notes)-1]
	for _, want := range append([]string{"by 3 replications in pairs", "for all 3 comparisons at once (Bonferroni): under SAC, efficiency_1 "}, worthOf...) {
		if !strings.Contains(said, want) {
			t.Errorf("%q does not say %q", said, want)
		}
	}
	taken := map[string]int{}
	c := s.Experiment.Configurations[0]
	err := Each(t.Context(), s.Experiment, Options{}, func(r *Replication) error {
		for i, run := range r.Runs {
			for _, row := range jobRows(&c, c.Admission[i].Label, r.Rep, run.Jobs, false) {
				if row.Reason == results.OfferTaken {
					taken[row.Admission]++
				}
				if (row.Decision == "accept") != (row.Reason == "" || row.Reason == results.OfferTaken) {
					t.Errorf("job %s under %s: %s, for %q", row.Job, row.Admission, row.Decision, row.Reason)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	total := map[string]float64{}
	for _, row := range s.metricRows("offers", "offers_taken") {
		total[row.Admission+" "+row.Metric] += *row.Value
	}
	if total["sac offers"] != 0 || total["bargain offers"] == 0 || total["bargain offers_taken"] > total["bargain offers"] {
		t.Errorf("offers: %v", total)
	}
	if taken["sac"] > 0 || taken["bargain"] == 0 || float64(taken["bargain"]) != total["bargain offers_taken"] {
		t.Errorf("rows of offers taken: %v, want as many as the metric counts: %v", taken, total)
	}
	s = study("{name: sac, guarantee: 0.5}, {name: sac, label: bargain, guarantee: 0.6, negotiate: rational}")
	if pairs := negotiated(s.Experiment); pairs != nil {
		t.Errorf("policies that are not alike are compared: %q", pairs)
	}
	s = study("sac, cac")
	if rows := s.metricRows("offers"); len(rows) > 0 {
		t.Errorf("nobody negotiates, and offers are counted: %v", rows)
	}
}
