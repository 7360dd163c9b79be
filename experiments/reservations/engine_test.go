package reservations

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/admission/reserve"
	"bourse/contracts/broker"
	"bourse/contracts/policies"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/matchmaking"
	"bourse/hosts/sim"
	"bourse/hosts/timetable"
	"bourse/market/forecast"
)

// An engine is the market with the policy reserve over the clusters of a replay.
type engine struct {
	broker.Broker
	ledger *bank.Ledger
	user   bank.Account
	notes  []string // notes of the ledger's entries about contracts
}

// Append implements [bank.Journal].
func (e *engine) Append(entry *bank.Entry) error {
	if entry.Contract != bank.NoContract {
		e.notes = append(e.notes, string(entry.Note))
	}
	return nil
}

// newEngine opens a market. Users and the provider have a million dollars each.
func newEngine(tb rapid.TB, clusters []timetable.Config, o reserve.Options, draws []uint64) *engine {
	must := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	var src rand.Source = rand.NewPCG(9, 9)
	if draws != nil {
		src = &recorded{draws: draws}
	}
	policy, err := policies.Table(nil, rand.New(src)).New("reserve", func(v any) error { *v.(*reserve.Options) = o; return nil })
	must(err)
	rule, err := sharing.Table().New("planned", func(any) error { return nil })
	must(err)
	pay, err := broker.Payments().New("budget", nil)
	must(err)
	e := &engine{}
	e.ledger = bank.New(e)
	c := broker.Config{Policy: policy, Sharing: rule, Payment: pay, Window: 300, Teller: e.ledger, Notes: true}
	for i, cl := range clusters {
		speed := 1.0
		if cl.Speed != 0 {
			speed = float64(cl.Speed) / 1000
		}
		name := fmt.Sprintf("h%d", i)
		c.Fleet = append(c.Fleet, sim.New(hosts.Spec{Name: name, CPUs: float64(cl.Nodes), Speed: speed}))
		owner, err := e.ledger.Account("host:" + name)
		must(err)
		c.Owners = append(c.Owners, owner)
	}
	c.Forecast, err = forecast.Table().New("chebyshev", func(any) error { return nil })
	must(err)
	c.Provider, err = e.ledger.Account("provider")
	must(err)
	e.user, err = e.ledger.Account("user:1")
	must(err)
	must(e.ledger.Mint(0, e.user, bank.Micros(1e12)))
	must(e.ledger.Mint(0, c.Provider, bank.Micros(1e12)))
	e.Reset(c)
	return e
}

// request returns j as the user states it, for one dollar and a penalty of one cent per
// second.
func (e *engine) request(j *Job) contracts.Request {
	r := contracts.Request{
		ID: contracts.ID(j.ID), Owner: e.user, Submit: float64(j.Arrival), Work: float64(j.Estimate), Nodes: j.Nodes,
		Lead: float64(j.Earliest - j.Arrival), OnDemand: j.Kind == timetable.OnDemand,
		SLA: contracts.SLA{Budget: bank.Micros(1e6), Deadline: 1e6, Penalty: contracts.Penalty{Rate: 0.01, Max: math.Inf(1)}},
	}
	if !r.OnDemand {
		r.SLA.Deadline = float64(j.Deadline - j.Arrival)
	}
	return r
}

// run is like [Run], but uses the market.
func (e *engine) run(tb rapid.TB, jobs []Job) []Outcome {
	outcomes := make([]Outcome, len(jobs))
	byID := make(map[contracts.ID]*Outcome)
	for i, j := range jobs {
		outcomes[i].Job = j
		byID[contracts.ID(j.ID)] = &outcomes[i]
	}
	for _, i := range byArrival(outcomes) {
		o := &outcomes[i]
		now := float64(o.Arrival)
		if err := e.Advance(now); err != nil {
			tb.Fatal(err)
		}
		r := e.request(&o.Job)
		d, err := e.Submit(now, &r, hosts.Task{Work: float64(o.Runtime)})
		if err != nil {
			tb.Fatal(err)
		}
		if d.Verdict == contracts.Reject {
			o.Status, o.Cluster = Rejected, -1
			continue
		}
		n := figures(*d)
		o.Cluster, o.Zeta = int(d.Placements[0].Host), int64(n["impact"])
		o.InitialStart, o.InitialCompletion = int64(n["start"]), int64(n["completion"])
	}
	e.drain(tb)
	for _, c := range e.Ended() {
		o := byID[c.ID]
		o.Status, o.Start, o.End = Done, int64(c.Began), int64(c.Ended)
		switch {
		case c.Outcome == contracts.Killed:
			o.Status = Killed
		case c.Outcome.Violated(), c.Ended > float64(o.Deadline): // the contracts of on-demand jobs do not promise this deadline
			o.Status = Late
		}
		if c.Ended != math.Trunc(c.Ended) || c.Began != math.Trunc(c.Began) || int(c.Host) != o.Cluster {
			tb.Fatalf("job %d from %v to %v on %d", c.ID, c.Began, c.Ended, c.Host)
		}
	}
	return outcomes
}

// drain runs the market until all contracts have ended.
func (e *engine) drain(tb rapid.TB) {
	for !math.IsInf(e.Next(), 1) {
		if err := e.Advance(e.Next()); err != nil {
			tb.Fatal(err)
		}
	}
}

// agree checks that the outcomes of the market equal those of the replay.
func agree(tb rapid.TB, what string, market, replay []Outcome, scope string) {
	tb.Helper()
	for i := range replay {
		got, want := market[i], replay[i]
		if scope == "all" {
			want.Zeta = want.ZetaAll
		}
		want.NodeIDs, want.ZetaAll = nil, 0
		if want.Status == Rejected {
			want = Outcome{Job: want.Job, Status: Rejected, Cluster: -1}
		}
		got.Job, want.Job = Job{}, Job{}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			tb.Fatalf("%s: job %d\nmarket %+v\nreplay %+v", what, replay[i].ID, got, want)
		}
	}
}

// options returns the policy options for a golden case.
func (o goldenOptions) options(algorithm string) reserve.Options {
	r := reserve.Options{
		Match: strings.ToLower(algorithm), ODMap: strings.ToLower(o.ODMap), Admission: o.Admission, Preempt: o.Preempt,
		Overrun: o.Overrun, ExtendPct: o.ExtendPct, ZetaScope: o.ZetaScope, ZetaScale: o.ZetaScale, Util: o.Util,
		ODDeadline: o.ODDeadline, CancelFee: 0.1,
	}
	return r
}

// TestEngine checks that the market with the policy reserve, with its bank and its
// machines, starts, ends and kills the same jobs as the replay at the same places and
// times. It uses random demand under all matchmakers and options.
func TestEngine(t *testing.T) {
	seeds(t, func(t *rapid.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 3))
		o := defaultOptions()
		o.Preempt = rng.IntN(4) == 0
		d := demand{jobs: 40, share: rng.Float64(), laxity: 2 * rng.Float64(), nodes: 6, clusters: 1 + rng.IntN(3), meanGap: 2, inexact: rng.IntN(2) == 0}
		if rng.IntN(2) == 0 {
			d.speeds = []int64{1000, 700, 1300}
		}
		if rng.IntN(2) == 0 {
			d.overrun, o.Overrun = timetable.Kill, "kill"
		}
		if rng.IntN(2) == 0 && !o.Preempt {
			d.admission, o.Admission = timetable.EDFInsert, "edf+insert"
		}
		jobs := d.draw(seed)
		for _, name := range matchmaking.Table(nil).Names() {
			c := d.config(t, name)
			c.Preempt = o.Preempt
			replay, err := Run(c, jobs)
			if err != nil {
				t.Fatal(err)
			}
			e := newEngine(t, c.Clusters, o.options(name), nil)
			agree(t, name, e.run(t, jobs), replay, o.ZetaScope)
			for _, j := range jobs {
				if held, open := e.ledger.Escrow(j.ID); open {
					t.Fatalf("job %d has $%v in escrow", j.ID, held)
				}
			}
		}
	})
}
