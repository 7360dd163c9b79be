package policies

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/admission/policytest"
	"bourse/contracts/bidding"
	"bourse/contracts/broker"
	"bourse/contracts/floor"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/sim"
	"bourse/market/forecast"
)

type (
	tb      = policytest.TB
	options = policytest.Options
	job     = policytest.Job
)

// A fate is the outcome of a job.
type fate struct {
	contracts.Settled
	on    []int // hosts, in order
	ended bool
}

// A world runs jobs through a broker, simulated machines and a ledger.
type world struct {
	broker           *broker.Broker
	ledger           *bank.Ledger
	user, provider   bank.Account
	on               map[contracts.ID][]int
	misplaced        int           // number of tasks started on absent hosts
	deciding         time.Duration // time spent in the policy
	submissionsFirst bool          // at the same time, submissions come before completions
}

// newWorld creates a world of hosts with the given policy and its sharing rule.
func newWorld(t tb, specs []hosts.Spec, policy string, o options) *world {
	t.Helper()
	return newWorldOf(t, specs, policy, o, nil)
}

// newWorldOf is like newWorld, but with hosts that come and go.
func newWorldOf(t tb, specs []hosts.Spec, policy string, o options, churn *floor.Availability) *world {
	t.Helper()
	w := &world{ledger: bank.New(nil), on: map[contracts.ID][]int{}}
	fleet, owners := make([]hosts.Machine, len(specs)), make([]bank.Account, len(specs))
	for h := range specs {
		fleet[h] = sim.New(specs[h])
		owners[h] = must(w.ledger.Account(fmt.Sprintf("host:%d", h)))
	}
	w.user, w.provider = must(w.ledger.Account("user")), must(w.ledger.Account("provider"))
	for _, a := range []bank.Account{w.user, w.provider} {
		if err := w.ledger.Mint(0, a, must(bank.Dollars(1e9))); err != nil {
			t.Fatal(err)
		}
	}
	nothing := func(any) error { return nil }
	rng := rand.New(rand.NewPCG(0, 0))
	w.broker = broker.New(broker.Config{
		Fleet: fleet, Owners: owners, Provider: w.provider, Teller: w.ledger, Ties: rng, Availability: churn,
		Policy:  w.watch(newPolicy(t, policy, o)),
		Sharing: must(sharing.Table().New(Of(policy).Sharing, o.Decode)), Payment: must(broker.Payments().New("budget", nil)),
		Window: 300, Forecast: must(forecast.Table().New("chebyshev", nothing)),
	})
	return w
}

func newPolicy(t tb, name string, o options) contracts.Policy {
	t.Helper()
	rng := rand.New(rand.NewPCG(0, 0))
	strategy := "cheapest"
	if b, ok := o["bidding"].(string); ok {
		strategy = b
	}
	bid := must(bidding.Table(rng).New(strategy, func(any) error { return nil }))
	return must(Table(bid, rng).New(name, o.Decode))
}

// decider returns the decider that p asks, to read or replace it, or an invalid value if p
// decides by itself.
func decider(p contracts.Policy) reflect.Value {
	return reflect.ValueOf(p).Elem().FieldByName("Decider")
}

// run submits jobs, which are in order of submission, and runs them to their ends.
func (w *world) run(t tb, jobs []job) map[int64]fate {
	t.Helper()
	for i := range jobs {
		j := &jobs[i]
		for w.submissionsFirst && w.broker.Next() < j.Submit {
			check(t, w.broker.Advance(w.broker.Next()))
		}
		if !w.submissionsFirst {
			check(t, w.broker.Advance(j.Submit))
		}
		r := j.Request()
		r.Owner = w.user
		must(w.broker.Submit(j.Submit, &r, hosts.Task{Work: j.Runtime}))
	}
	for !math.IsInf(w.broker.Next(), 1) {
		check(t, w.broker.Advance(w.broker.Next()))
	}
	fates := map[int64]fate{}
	for _, c := range w.broker.Ended() {
		fates[int64(c.ID)] = fate{c, w.on[c.ID], true}
	}
	if w.broker.Active() > 0 {
		t.Errorf("%d contracts never ended", w.broker.Active())
	}
	return fates
}

// watch makes p record its placements.
func (w *world) watch(p contracts.Policy) contracts.Policy {
	if d := decider(p); d.IsValid() {
		d.Set(reflect.ValueOf(watcher{d.Interface().(contracts.Decider), w}))
	}
	return p
}

type watcher struct {
	policy contracts.Decider
	w      *world
}

func (p watcher) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	start := time.Now()
	d := p.policy.Decide(now, r, v)
	p.w.deciding += time.Since(start)
	if d.Verdict == contracts.Accept {
		var on []int
		for _, pl := range d.Placements {
			if v.Unavailable(pl.Host) {
				p.w.misplaced++
			}
			on = append(on, int(pl.Host))
		}
		slices.Sort(on)
		p.w.on[r.ID] = on
	}
	return d
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func check(t tb, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
