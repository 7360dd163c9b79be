package admission

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// twins is librasla beside itself as it is read, with both plans of every host.
type twins struct {
	t     tb
	short *LibraSLA
	long  *plainSLA

	asked, accepted int // requests
}

// Decide asks both and checks that they say the same: which hosts would do, what
// each returns to the last bit, and who is taken.
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
	if !slices.Equal(p.short.found, p.long.found) {
		p.t.Errorf("request %d at %v: would do\n%v, want\n%v", r.ID, now, p.short.found, p.long.found)
	}
	return want
}

// beside makes a world whose policy is checked beside its plain reading.
func beside(t tb, specs []hosts.Spec, o options) (*world, *twins) {
	pair := &twins{t: t, short: newDecider(t, "librasla", o).(*LibraSLA), long: plainly(newDecider(t, "librasla", o)).(*plainSLA)}
	w := newWorld(t, specs, "librasla", o)
	c := w.broker.Config
	c.Policy = Immediate(pair)
	if o["sharing"] == "deadline" {
		c.Sharing = must(sharing.Table().New("deadline", o.decode))
	}
	w.broker.Reset(c)
	return w, pair
}

// TestReturnsAsPlanned checks that LibraSLA decides as by making both plans of
// every host, with the same returns to the last bit, whatever its options, the
// hosts, the estimates, and the rule that divides hosts.
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

// TestReturnsInWindows checks the same on fleets that are asked for far more than
// they have, where most hosts lose by a task.
func TestReturnsInWindows(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		rule := []string{"librasla", "deadline"}[seed%2]
		w, pair := beside(t, uniform(24), options{"sharing": rule})
		w.run(t, pressed(seed, 400, 24))
		if pair.accepted < 40 || pair.accepted > pair.asked-40 {
			t.Errorf("window %d: %d of %d accepted: want some of each", seed, pair.accepted, pair.asked)
		}
	}
}

// pressed draws jobs that come much faster than a fleet can run them, soft and
// hard, with budgets and penalties as in the SLA paper.
func pressed(seed uint64, n, fleet int) []job {
	jobs := narrow(seed, n, fleet)
	rng := rand.New(rand.NewPCG(seed, 2))
	for i := range jobs {
		j := &jobs[i]
		hard := rng.Float64() < 0.2
		j.Runtime = math.Exp(math.Round(math.Log(j.Runtime))) // some are of equal rank
		j.Hard, j.Submit, j.Estimate = &hard, j.Submit/20, j.Runtime
		j.Deadline, j.Budget, j.Penalty = j.Runtime*28, j.Runtime, 0.1
		if hard {
			j.Deadline, j.Budget, j.Penalty = j.Runtime*4, 7*j.Runtime, 0.4
		}
	}
	return jobs
}

// TestLateRequestsAreSeen checks that what changes just before a request that is
// turned away unseen is known to the next.
func TestLateRequestsAreSeen(t *testing.T) {
	t.Parallel()
	w, _ := beside(t, uniform(1), nil)
	submit := func(id int64, at, work, deadline float64) {
		j := job{ID: id, Submit: at, Estimate: work, Deadline: deadline, Procs: 1, Budget: 10}
		r := j.request()
		r.Owner = w.user
		check(t, w.broker.Advance(at))
		must(w.broker.Submit(at, &r, hosts.Task{Work: work}))
	}
	submit(1, 0, 50, 100)
	submit(2, 1, 60, 60) // never in time
	submit(3, 2, 40, 100)
	submit(4, 3, 40, 50)
}

// TestMost checks that hosts rank by what they return, to 40 binary digits.
func TestMost(t *testing.T) {
	t.Parallel()
	unit := math.Ldexp(1, -40) // of 1.5
	for _, c := range []struct{ returns, want float64 }{
		{1.5, 1.5}, {1.5 + 0.4*unit, 1.5}, {1.5 - 0.4*unit, 1.5}, {1.5 + 0.6*unit, 1.5 + unit}, {1.5 - 0.6*unit, 1.5 - unit}, {0, 0}, {-1.5, -1.5},
	} {
		if got := most(c.returns); got != -c.want {
			t.Errorf("%v ranks as %v, want %v", c.returns, -got, c.want)
		}
	}
}

// TestReturnsAsMuch checks that a host is suitable which returns as much with a task as
// without (SLA, Algorithm 1), looked at in either way; and that none is where somebody
// would never end, even if that is so already.
func TestReturnsAsMuch(t *testing.T) {
	t.Parallel()
	soft := false
	for _, current := range []string{"recompute", "stored"} {
		v := &still{specs: uniform(1), on: make([][]contracts.Allocation, 1)}
		v.add(0, goldenTask{Left: 60, Span: 100, Hard: true, Budget: 10})
		j := job{Estimate: 10, Deadline: 100, Procs: 1, Hard: &soft}
		r := j.request()
		r.SLA.Budget = bank.Micros(0)
		d := newDecider(t, "librasla", options{"current": current})
		if got := d.Decide(0, &r, v); got.Verdict != contracts.Accept {
			t.Errorf("%s: it returns nothing: %v", current, got.Reason)
		}
		v.add(0, goldenTask{Left: 40, Span: 100, Budget: 1000})           // on top
		v.add(0, goldenTask{Left: 20, Span: 100, Budget: 10, Penalty: 1}) // nothing is left for it
		d = newDecider(t, "librasla", options{"current": current})
		if got := d.Decide(0, &r, v); got.Verdict != contracts.Reject {
			t.Errorf("%s: somebody never ends: %v", current, got.Verdict)
		}
	}
}

// TestReturnsAgain checks that a contract which is placed again is asked to end by its
// deadline, as what is left of its time has it: 50 s of work by 100, at 40 beside a hard
// task that needs 0.3, is too much, and 40 s are not.
func TestReturnsAgain(t *testing.T) {
	t.Parallel()
	for _, current := range []string{"recompute", "stored"} {
		for work, want := range map[float64]contracts.Verdict{50: contracts.Reject, 40: contracts.Accept} {
			v := &still{specs: uniform(1), on: make([][]contracts.Allocation, 1)}
			v.add(0, goldenTask{Left: 30, Span: 140, Runtime: 30, Deadline: 140, Hard: true, Budget: 10})
			v.on[0][0].Rate = 0.3
			j := job{Estimate: work, Deadline: 100, Procs: 1, Budget: 10}
			r := j.request()
			r.Repeat = true
			d := newDecider(t, "librasla", options{"current": current}).Decide(40, &r, v)
			if d.Verdict != want {
				t.Errorf("%s: %v s: %v, want %v", current, work, d.Verdict, want)
			}
		}
	}
}
