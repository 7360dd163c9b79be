package policies

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/admission/policytest"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// twins combines librasla with a literal implementation that computes both plans of every host.
type twins struct {
	t     tb
	short contracts.Decider
	long  *plainSLA

	asked, accepted int // numbers of requests
}

// Decide calls both implementations and checks that their decisions are equal.
func (p *twins) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	want := p.long.Decide(now, r, v)
	got := p.short.Decide(now, r, v)
	p.asked++
	if got.Verdict == contracts.Accept {
		p.accepted++
	}
	if !reflect.DeepEqual(got, want) {
		p.t.Errorf("request %d at %v: %+v, want %+v", r.ID, now, got, want)
	}
	return want
}

// beside creates a world whose policy is compared with its literal implementation.
func beside(t tb, specs []hosts.Spec, o options) (*world, *twins) {
	pair := &twins{t: t, short: decider(newPolicy(t, "librasla", o)).Interface().(contracts.Decider), long: newPlainSLA(o)}
	w := newWorld(t, specs, "librasla", o)
	c := w.broker.Config
	c.Policy = admission.Immediate(pair)
	if o["sharing"] == "deadline" {
		c.Sharing = must(sharing.Table().New("deadline", o.Decode))
	}
	w.broker.Reset(c)
	return w, pair
}

// TestReturnsAsPlanned checks that LibraSLA decides as if it computed both plans of every host,
// whatever its options, the hosts, the estimates and the sharing rule.
func TestReturnsAsPlanned(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		specs := drawSpecs(t)
		w, _ := beside(t, specs, options{
			"late":    rapid.SampledFrom([]string{"shift", "pressure"}).Draw(t, "late"),
			"protect": rapid.SampledFrom([]string{"strict", "printed"}).Draw(t, "protect"),
			"sharing": rapid.SampledFrom([]string{"librasla", "deadline"}).Draw(t, "sharing"),
		})
		w.run(t, drawJobs(t, len(specs), rapid.Bool().Draw(t, "accurate")))
	})
}

// TestReturnsInWindows performs the same check on fleets under heavy overload, on which most
// hosts would have a lower return with another task.
func TestReturnsInWindows(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		rule := []string{"librasla", "deadline"}[seed%2]
		w, pair := beside(t, policytest.Uniform(24), options{"sharing": rule})
		w.run(t, pressed(seed, 400, 24))
		if pair.accepted < 40 || pair.accepted > pair.asked-40 {
			t.Errorf("window %d: %d of %d accepted: want some of each", seed, pair.accepted, pair.asked)
		}
	}
}

// pressed draws jobs that arrive much faster than a fleet can run them, soft and hard, with
// budgets and penalties as in the SLA paper.
func pressed(seed uint64, n, fleet int) []job {
	jobs := narrow(seed, n, fleet)
	rng := rand.New(rand.NewPCG(seed, 2))
	for i := range jobs {
		j := &jobs[i]
		hard := rng.Float64() < 0.2
		j.Runtime = math.Exp(math.Round(math.Log(j.Runtime))) // Rounding makes some ranks equal.
		j.Hard, j.Submit, j.Estimate = &hard, j.Submit/20, j.Runtime
		j.Deadline, j.Budget, j.Penalty = j.Runtime*28, j.Runtime, 0.1
		if hard {
			j.Deadline, j.Budget, j.Penalty = j.Runtime*4, 7*j.Runtime, 0.4
		}
	}
	return jobs
}

// TestLateRequestsAreSeen checks that a policy does not miss a change before a request that it
// rejects without examining hosts. It must use the change to decide the next request.
func TestLateRequestsAreSeen(t *testing.T) {
	t.Parallel()
	w, _ := beside(t, policytest.Uniform(1), nil)
	submit := func(id int64, at, work, deadline float64) {
		j := job{ID: id, Submit: at, Estimate: work, Deadline: deadline, Procs: 1, Budget: 10}
		r := j.Request()
		r.Owner = w.user
		check(t, w.broker.Advance(at))
		must(w.broker.Submit(at, &r, hosts.Task{Work: work}))
	}
	submit(1, 0, 50, 100)
	submit(2, 1, 60, 60) // never in time
	submit(3, 2, 40, 100)
	submit(4, 3, 40, 50)
}
