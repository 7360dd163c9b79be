package queue

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/broker"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/sim"
	"bourse/market/forecast"
)

// A sifting wraps easy. A sifting calls Decide even for requests that Defers would defer, and
// checks that Decide defers them.
type sifting struct {
	*easy
	t        rapid.TB
	defers   bool // whether Defers of easy would defer the next request
	deferred int
}

// Defers returns false and records whether the tested policy would have deferred the request.
func (p *sifting) Defers(now float64, r *contracts.Request, fleet int) bool {
	if p.defers = p.easy.Defers(now, r, fleet); p.defers {
		p.deferred++
	}
	return false
}

// Decide implements [contracts.Decider].
func (p *sifting) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	d := p.easy.Decide(now, r, v)
	if p.defers && d.Verdict != contracts.Defer {
		p.t.Errorf("request %d at %v: %v, want it deferred", r.ID, now, d.Verdict)
	}
	p.defers = false
	return d
}

// TestDefers checks that Decide defers every request that Defers defers, on hosts of any speed.
func TestDefers(t *testing.T) {
	t.Parallel()
	deferred := 0
	rapid.Check(t, func(t *rapid.T) {
		p := &sifting{easy: new(easy), t: t}
		l := bank.New(nil)
		user := must(l.Account("user"))
		check(t, l.Mint(0, user, must(bank.Dollars(1e6))))
		c := broker.Config{
			Provider: must(l.Account("provider")), Teller: l, Window: 300,
			Policy:  admission.Queued(p, admission.Order{Scan: p}),
			Sharing: must(sharing.Table().New("exclusive", nil)), Payment: must(broker.Payments().New("budget", nil)),
			Forecast: must(forecast.Table().New("chebyshev", nil)), Ties: rand.New(rand.NewPCG(0, 0)),
		}
		for range rapid.IntRange(1, 8).Draw(t, "processors") {
			c.Fleet = append(c.Fleet, sim.New(hosts.Spec{CPUs: 1, Speed: rapid.SampledFrom([]float64{0.5, 1, 2}).Draw(t, "speed")}))
			c.Owners = append(c.Owners, c.Provider)
		}
		b := broker.New(c)
		now := 0.0
		for i := range rapid.IntRange(1, 40).Draw(t, "jobs") {
			now += rapid.Float64Range(0, 200).Draw(t, "gap")
			check(t, b.Advance(now))
			work := rapid.Float64Range(1, 500).Draw(t, "runtime")
			must(b.Submit(now, &contracts.Request{
				ID: contracts.ID(i), Submit: now, Owner: user, Work: work * math.Exp(rapid.Float64Range(-1.6, 1.6).Draw(t, "error")),
				Nodes: rapid.IntRange(1, len(c.Fleet)).Draw(t, "nodes"), PerHost: true,
				SLA: contracts.SLA{Budget: bank.Micros(1e6), Deadline: work * 10, RunsOn: true, Soft: true},
			}, hosts.Task{Work: work}))
		}
		for !math.IsInf(b.Next(), 1) {
			check(t, b.Advance(b.Next()))
		}
		deferred += p.deferred
	})
	if deferred < 20 {
		t.Errorf("%d requests are deferred at once: too few to tell", deferred)
	}
}
