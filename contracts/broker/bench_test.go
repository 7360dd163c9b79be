package broker

import (
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/hosts"
)

// crowd returns a market with the given number of hosts like the paper's, and n requests with a
// load of 0.8.
func crowd(fleet, n int, policy string) *trial {
	rng := rand.New(rand.NewPCG(1, 1))
	m := &trial{
		hosts: fleet, policy: policy, payment: "spot", window: 300, funds: 1,
		spec: hosts.Spec{CPUs: 2, Speed: 1, Cap: 1},
	}
	now := 0.0
	for i := range n {
		now += rng.ExpFloat64() * 7 * 540 / (2 * float64(fleet)) / 0.8
		r := contracts.Request{ID: contracts.ID(i), Submit: now, Nodes: 4 + rng.IntN(7), Work: 120 + 840*rng.Float64()}
		r.SLA.Deadline, r.SLA.Budget = r.Work, bank.Micros(1e4+rng.Int64N(1e5))
		m.asks = append(m.asks, ask{r, r.Work})
	}
	return m
}

// BenchmarkMarket measures the time of a request from submission to settlement, and the ratio
// of this time if every event meters and allocates every host.
func BenchmarkMarket(b *testing.B) {
	for _, policy := range []string{"be", "sac", "cac"} {
		for _, size := range []struct{ hosts, requests int }{{15, 500}, {128, 1000}, {1000, 1000}} {
			b.Run(fmt.Sprintf("%s/hosts=%d", policy, size.hosts), func(b *testing.B) {
				m := crowd(size.hosts, size.requests, policy)
				spent := func(plain bool) float64 {
					p := m.open(b)
					before := processor()
					m.visit(b, p, func(at float64) {
						if plain {
							p.broker.floor.TouchAll(at)
						}
					})
					return processor() - before
				}
				quick, slow := 0.0, 0.0
				for b.Loop() {
					quick += spent(false)
					slow += spent(true)
				}
				b.ReportMetric(quick/float64(b.N*size.requests)*1e6, "cpu-us/request")
				b.ReportMetric(slow/quick, "x-plain")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// visit runs m in p and calls before immediately before each event.
func (m *trial) visit(t testing.TB, p *played, before func(at float64)) {
	step := func(at float64) {
		before(at)
		if err := p.broker.Advance(at); err != nil {
			t.Fatal(err)
		}
	}
	for i := range m.asks {
		r := m.asks[i].Request
		r.Owner = p.users[i%len(p.users)]
		for p.broker.Next() <= r.Submit {
			step(p.broker.Next())
		}
		step(r.Submit)
		if _, err := p.broker.Submit(r.Submit, &r, hosts.Task{Work: m.asks[i].truth}); err != nil {
			t.Fatal(err)
		}
	}
	for !math.IsInf(p.broker.Next(), 1) {
		step(p.broker.Next())
	}
}

// processor returns the processor time used so far, in seconds.
func processor() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// TestPlainIsTheSame checks that allocating every host at every event, as the benchmark does
// for comparison, gives the same outcomes and charges, within rounding.
func TestPlainIsTheSame(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		m := newTrial(seed, 40)
		quick, plain := m.open(t), m.open(t)
		m.visit(t, quick, func(float64) {})
		m.visit(t, plain, plain.broker.floor.TouchAll)
		for i := range quick.broker.Ended() {
			got, want := &quick.broker.Ended()[i], &plain.broker.Ended()[i]
			if got.ID != want.ID || got.Outcome != want.Outcome || !near(got.Ended, want.Ended, 1e-9*want.Ended) ||
				!near(got.Paid.Float64(), want.Paid.Float64(), 1e-6*float64(want.Nodes)) {
				t.Errorf("%v: contract %d: %v at %v, paid %v; want %d: %v at %v, %v", m, got.ID, got.Outcome, got.Ended, got.Paid, want.ID, want.Outcome, want.Ended, want.Paid)
			}
		}
	}
}
