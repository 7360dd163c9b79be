package experiments

import (
	"context"
	"testing"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/broker"
)

// A clerk is a policy that accepts every request for which it finds hosts, except late
// ones. It records the verdicts that it receives.
type clerk struct {
	hosts  []contracts.Placement
	judged map[contracts.ID][]contracts.Outcome
}

func (c *clerk) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	if r.Repeat && r.Due()-now < r.SLA.Deadline/2 {
		return contracts.Decision{Reason: contracts.TooLate}
	}
	c.hosts = c.hosts[:0]
	for _, h := range v.Cheapest(r, nil) {
		c.hosts = append(c.hosts, contracts.Placement{Host: h, Bid: r.NodeRate()})
	}
	if len(c.hosts) < r.Nodes {
		return contracts.Decision{Reason: contracts.TooFewHosts}
	}
	return contracts.Decision{Verdict: contracts.Accept, Placements: c.hosts}
}

func (c *clerk) Judged(r *contracts.Request, o contracts.Outcome) {
	if o == contracts.Fulfilled || o.Violated() {
		c.judged[r.ID] = append(c.judged[r.ID], o)
	}
}

// TestJudgedOnce checks that a decider receives the correct verdict, fulfilled or violated,
// exactly once for each contract. This includes contracts whose hosts leave and lose the work,
// whether the work is then repeated, abandoned or too late.
func TestJudgedOnce(t *testing.T) {
	t.Parallel()
	for _, leaving := range []string{"resubmit", "lost", "suspend"} {
		e := parsed(t, `
name: judged
replications: 1
configurations:
  - name: one
    fleet: {hosts: 6, availability: {model: {name: markov}, span: 50000, leaving: `+leaving+`}}
    workload: {model: {name: paper, jobs: 200}}
    sla: {enforcement: per-host, slack: 3}
    admission: [be]
`)
		ready, err := Prepare(e)
		if err != nil {
			t.Fatal(err)
		}
		c := &clerk{judged: map[contracts.ID][]contracts.Outcome{}}
		ended := map[contracts.Outcome]int{}
		err = ready.Each(context.Background(), Options{Observe: func(_, _ string, _ int, parts *broker.Config) {
			parts.Policy = admission.Immediate(c)
		}}, func(r *Replication) error {
			for i := range r.Runs[0].Jobs {
				j := &r.Runs[0].Jobs[i]
				o, told := j.Contract.Outcome, c.judged[contracts.ID(j.ID)]
				want := 0
				if o == contracts.Fulfilled || o.Violated() {
					want = 1
				}
				if ended[o]++; len(told) != want || want == 1 && told[0].Violated() != o.Violated() {
					t.Errorf("%s: job %d is %v, told %v", leaving, j.ID, o, told)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %v", leaving, ended)
		if ended[contracts.Fulfilled] == 0 || ended[contracts.Late]+ended[contracts.Broken] == 0 {
			t.Errorf("%s: %v: too few to tell", leaving, ended)
		}
	}
}
