package booked

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/admission/policytest"
	"bourse/hosts"
)

// TestEndsEarly checks that a booking ends as soon as its work is done and then pays in full,
// that a booking whose work is not done by its end stops and pays nothing, and that the unused
// rest is on sale again.
func TestEndsEarly(t *testing.T) {
	t.Parallel()
	p, err := newWindows(policytest.Options{"width": 100, "low": 0.001}.Decode, nil, nil)
	check(t, err)
	m := policytest.Deal(t, 1, 2, p, "planned", "budget", []policytest.Trade{
		{ID: 1, Nodes: 2, Estimate: 80, Runtime: 30, Deadline: 500, Budget: 1e6},
		{ID: 2, Submit: 1, Nodes: 2, Estimate: 10, Deadline: 500, Budget: 1e6}, // the price is that after the booking of job 1
		{ID: 3, Submit: 40, Nodes: 2, Estimate: 20, Runtime: 25, Deadline: 500, Budget: 1e6},
	})
	for id, want := range map[int64]string{1: "0 30 160000 fulfilled", 2: "80 90 20000 fulfilled", 3: "40 60 0 killed"} {
		d := m.Traded[id]
		if d.Settled == nil {
			t.Errorf("job %d is refused: %s", id, d.Refused)
			continue
		}
		if got := fmt.Sprintf("%.0f %.0f %d %s", d.Settled.Began, d.Settled.Ended, d.Settled.Paid.Micros(), d.State()); got != want {
			t.Errorf("job %d: %s, want %s", id, got, want)
		}
	}
}

// TestFallback checks that a clearing with more bids than the option exact states that greedy
// has replaced VCG, and that other clearings do not state this.
func TestFallback(t *testing.T) {
	t.Parallel()
	for exact, want := range []float64{1, 1, 0} {
		p, err := newBundle(policytest.Options{"exact": exact, "every": 10}.Decode, nil, nil)
		check(t, err)
		m := policytest.Deal(t, 1, 2, p, "planned", "budget", []policytest.Trade{
			{ID: 1, Submit: 1, Nodes: 2, Estimate: 10, Deadline: 500, Budget: 1000},
			{ID: 2, Submit: 2, Nodes: 2, Estimate: 10, Deadline: 18, Budget: 2000},
		})
		if len(m.Cleared) == 0 || m.Cleared[0]["approximate"] != want {
			t.Errorf("exact %d: clearings %v, want the first approximate: %v", exact, m.Cleared, want)
		}
		if m.Traded[2].Settled == nil || m.Traded[2].Settled.Paid.Micros() != 1000 {
			t.Errorf("exact %d: job 2 is %s, want it to pay 1000 micro-dollars", exact, m.Traded[2].State())
		}
	}
}

// A board is a market of one host for a benchmark, which decides one request at a time.
type board struct {
	policytest.Still
	request contracts.Request
}

func (b *board) Hosts() contracts.View            { return b }
func (b *board) Waiting() []int32                 { return nil }
func (b *board) Request(int32) *contracts.Request { return &b.request }

// BenchmarkWindows decides 10,000 requests for intervals within 1,000 windows.
func BenchmarkWindows(b *testing.B) {
	for b.Loop() {
		p, err := newWindows(policytest.Options{"width": 100, "shape": "power", "low": 0.001, "high": 0.01}.Decode, nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		m := &board{Still: policytest.Still{Specs: []hosts.Spec{{CPUs: 100, Speed: 1}}}}
		rng := rand.New(rand.NewPCG(1, 1))
		booked := 0
		for i := range int32(10_000) {
			m.request = contracts.Request{
				ID: contracts.ID(i), Work: 10 + 300*rng.Float64(), Nodes: 1 + rng.IntN(8), Lead: 90_000 * rng.Float64(),
				SLA: contracts.SLA{Budget: bank.Micros(1e9)},
			}
			m.request.SLA.Deadline = m.request.Lead + (100_000-m.request.Lead)*(0.5+0.5*rng.Float64())
			for _, a := range p.Handle(0, contracts.Event{Kind: contracts.Submitted, Contract: i}, m) {
				if a.Verb == contracts.Book {
					booked++
				}
			}
			p.Handle(0, contracts.Event{Kind: contracts.Continue}, m)
		}
		b.ReportMetric(float64(booked), "booked")
	}
}

// TestWorthNothing checks that bids of $0 that no other bid outbids are refused at their first
// clearing, whether or not they have a deadline, so that a run ends.
func TestWorthNothing(t *testing.T) {
	t.Parallel()
	for _, deadline := range []float64{500, math.Inf(1)} {
		p, err := newBundle(policytest.Options{"every": 10}.Decode, nil, nil)
		check(t, err)
		m := policytest.Deal(t, 1, 2, p, "planned", "budget", []policytest.Trade{
			{ID: 1, Submit: 1, Nodes: 1, Estimate: 10, Runtime: 10, Deadline: deadline},
			{ID: 2, Submit: 25, Nodes: 2, Estimate: 10, Runtime: 10, Deadline: deadline},
		})
		for id := int64(1); id <= 2; id++ {
			if d := m.Traded[id]; d.Refused != contracts.BelowReserve {
				t.Errorf("deadline %v: job %d is %s, refused for %q, want %q", deadline, id, d.State(), d.Refused, contracts.BelowReserve)
			}
		}
		if len(m.Cleared) != 2 {
			t.Errorf("deadline %v: %d clearings, want 2", deadline, len(m.Cleared))
		}
	}
}

// TestOutbid checks the reasons of jobs that can no longer end by their deadline. At the clearing at
// 10 s, job 2 loses to job 1 and job 3 is too late; at 20 s, job 2 is too late because it was outbid.
func TestOutbid(t *testing.T) {
	t.Parallel()
	p, err := newBundle(policytest.Options{"every": 10}.Decode, nil, nil)
	check(t, err)
	m := policytest.Deal(t, 1, 1, p, "planned", "budget", []policytest.Trade{
		{ID: 1, Submit: 1, Nodes: 1, Estimate: 30, Deadline: 50, Budget: 200},
		{ID: 2, Submit: 1, Nodes: 1, Estimate: 30, Deadline: 45, Budget: 100},
		{ID: 3, Submit: 1, Nodes: 1, Estimate: 30, Deadline: 35, Budget: 300},
	})
	for id, want := range map[int64]contracts.Reason{1: contracts.None, 2: contracts.Outbid, 3: contracts.TooLate} {
		if got := m.Traded[id].Refused; got != want {
			t.Errorf("job %d: refused for %q, want %q", id, got, want)
		}
	}
}

// TestSize checks that the size of a bundle, and therefore the payments of other bids, do not
// depend on the time of the clearing: at 4.9 s, the end of a job of 60 s minus its start is
// above 60 in float64.
func TestSize(t *testing.T) {
	t.Parallel()
	p, err := newBundle(policytest.Options{"every": 0.7, "rule": "greedy", "losers": "leave"}.Decode, nil, nil)
	check(t, err)
	m := policytest.Deal(t, 1, 1, p, "planned", "budget", []policytest.Trade{
		{ID: 1, Submit: 4.5, Nodes: 1, Estimate: 60, Deadline: 500, Budget: 200},
		{ID: 2, Submit: 4.5, Nodes: 1, Estimate: 30, Deadline: 500, Budget: 90},
	})
	const want = 127 // the integer part of 90 x sqrt(60/30)
	if d := m.Traded[1]; d.Settled == nil || d.Settled.Paid.Micros() != want {
		t.Errorf("job 1 is %s, want fulfilled, and %d micro-dollars paid", d.State(), want)
	}
}

// TestOneClearingPerTime checks that a job that arrives at the time of a clearing, but after
// the clearing, waits for the next clearing. Such a job follows a job that ends at that time.
func TestOneClearingPerTime(t *testing.T) {
	t.Parallel()
	p, err := newBundle(policytest.Options{"every": 10.0}.Decode, nil, nil)
	check(t, err)
	m := &board{Still: policytest.Still{Specs: []hosts.Spec{{CPUs: 2, Speed: 1}}}}
	next := func(now float64, kind contracts.EventKind, i int32) float64 {
		m.request = contracts.Request{ID: contracts.ID(i), Submit: now, Work: 5, Nodes: 2, SLA: contracts.SLA{Budget: bank.Micros(1000), Deadline: 500}}
		p.Handle(now, contracts.Event{Kind: kind, Contract: i}, m)
		at, _ := p.Next()
		return at
	}
	if at := next(10, contracts.Submitted, 0); at != 10 {
		t.Fatalf("the first clearing is at %v s, want 10, because the job arrives before it", at)
	}
	next(10, contracts.Tick, 0)
	if at := next(10, contracts.Submitted, 1); at != 20 {
		t.Errorf("the second clearing is at %v s, want 20", at)
	}
}
