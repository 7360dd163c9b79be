package admission

import (
	"cmp"
	"math"
	"math/rand/v2"
	"testing"

	"bourse/contracts"
	"bourse/contracts/admission/policytest"
	"bourse/hosts"
	"bourse/market"
)

type (
	stand = policytest.Stand
	stall = policytest.Stall
)

// put stores c as contract i and starts it on host 0 with a bid.
func put(s *stand, c contracts.Contract, bid, rate float64) {
	b := must(market.Dollars(bid))
	i := int32(len(s.Contracts))
	c.Placements = []contracts.Placement{{Host: 0, Bid: b}}
	c.Rate = rate
	s.Contracts = append(s.Contracts, c)
	s.Hosts[0].Price += bid
	s.Hosts[0].Allocations = append(s.Hosts[0].Allocations, contracts.Allocation{
		Contract: i, Bid: b, Rate: rate, Share: hosts.Share{Weight: float64(b)},
	})
}

func close(got, want float64) bool { return math.Abs(got-want) <= 1e-9*max(1, math.Abs(want)) }

// TestBestEffort checks when a bid meets the minimum requirement at the spot price (spec §3).
// The request gets b/(b+c) of the processors of a host, at most its cap.
func TestBestEffort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name             string
		cpus, limit      float64
		speed, bid, cost float64
		least            float64
		want             contracts.Reason
	}{
		{"none stated", 2, 1, 1, 0.001, 1, 0, contracts.None},
		{"half of two", 2, 0, 1, 0.01, 0.01, 1, contracts.None},
		{"a little more", 2, 0, 1, 0.01, 0.01, 1.001, priceTooHigh},
		{"processors, not work", 2, 0, 3, 0.01, 0.01, 1.001, priceTooHigh},
		{"slow processors", 2, 0, 0.1, 0.01, 0.01, 1, contracts.None},
		{"above the cap", 4, 1, 1, 0.01, 0, 1.5, priceTooHigh},
		{"at the cap", 4, 1, 1, 0.01, 0, 1, contracts.None},
	} {
		s := &stand{Hosts: []stall{{Spec: hosts.Spec{CPUs: c.cpus, Cap: c.limit, Speed: c.speed}, Price: c.cost}}}
		r := policytest.Wish(100, 1, c.bid)
		r.Needs.Min.CPU = c.least
		d := newDecider(t, "be", nil).Decide(0, &r, s)
		if d.Reason != c.want || (d.Verdict == contracts.Accept) != (c.want == contracts.None) {
			t.Errorf("%s: %v, %v, want %v", c.name, d.Verdict, d.Reason, c.want)
		}
		n := numbers(d)
		if want := c.bid / (c.bid + c.cost); !close(n["spot_share"], want) || !close(n["price"], c.cost) {
			t.Errorf("%s: share %v of a host at %v, want %v at %v", c.name, n["spot_share"], n["price"], want, c.cost)
		}
	}
}

// TestStatistical checks SAC's two tests, sum b/(b+F) and sum b/(b+c) against
// sum 1/(1+C), or against the share that the work needs (spec §3, eq. 5).
func TestStatistical(t *testing.T) {
	t.Parallel()
	// Percentiles are proportional to g: see [stand.Percentile].
	for _, c := range []struct {
		name                       string
		options                    options
		bid, price, percentile     float64
		want                       contracts.Reason
		spotShare, share, required float64
	}{
		{"both", nil, 0.02, 0.04, 0.04, contracts.None, 2. / 3, 2. / 3, 2. / 3},
		{"today's price", nil, 0.02, 0.041, 0.02, belowSpot, 0.04 / 0.061, 1, 2. / 3},
		{"the percentile", nil, 0.02, 0.02, 0.041, belowForecast, 1, 0.04 / 0.061, 2. / 3},
		{"a price below 0", nil, 0.02, 0.02, -0.03, contracts.None, 1, 2, 2. / 3}, // A Normal forecast can be negative if g < 1/2, but a share stays in [0,1].
		{"work needs less", options{"threshold": "share"}, 0.02, 0.06, 0.06, contracts.None, 0.5, 0.5, 0.5},
		{"work needs more", options{"threshold": "share"}, 0.02, 0.061, 0.06, belowSpot, 0.04 / 0.081, 0.5, 0.5},
	} {
		o := options{"guarantee": 0.5}
		for k, v := range c.options {
			o[k] = v
		}
		host := stall{Spec: hosts.Spec{CPUs: 2, Cap: 1, Speed: 1}, Price: c.price, Percentile: 2 * c.percentile}
		s := &stand{Hosts: []stall{host, host}}
		r := policytest.Wish(50, 2, c.bid) // 50 units of work in 100 s need a quarter of 2 CPUs on each node
		d := newDecider(t, "sac", o).Decide(0, &r, s)
		if d.Reason != c.want {
			t.Errorf("%s: %v, want %v", c.name, d.Reason, c.want)
		}
		n := numbers(d)
		if !close(n["spot_share"], c.spotShare) || !close(n["share"], c.share) || !close(n["threshold"], c.required) || !close(n["percentile"], max(0, c.percentile)) {
			t.Errorf("%s: %v, want shares %v and %v of %v", c.name, n, c.spotShare, c.share, c.required)
		}
	}
}

// TestLevel checks the percentile that SAC uses: the percentile of its guarantee or, if it
// promises fulfilment, of its level. Outcomes change the level, and decisions state it.
func TestLevel(t *testing.T) {
	t.Parallel()
	for _, promise := range []string{"price", "fulfilment"} {
		p := newDecider(t, "sac", options{"guarantee": 0.6, "promise": promise}).(*Statistical)
		for range 3 {
			p.Judged(nil, contracts.Late)
		}
		percentile, level := 0.6, 0.0
		if promise == "fulfilment" {
			if level = p.kept.level(); level <= 0.6 {
				t.Fatalf("level %v after three contracts that were late", level)
			}
			percentile = level
		}
		s := &stand{Hosts: []stall{{Spec: hosts.Spec{CPUs: 2, Cap: 1, Speed: 1}, Price: 0.01, Percentile: 0.01}}}
		r := policytest.Wish(50, 1, 0.02)
		if n := numbers(p.Decide(0, &r, s)); !close(n["percentile"], 0.01*percentile) || !close(n["level"], level) {
			t.Errorf("%s: percentile %v, level %v, want %v, %v", promise, n["percentile"], n["level"], 0.01*percentile, level)
		}
	}
}

// TestCapacity checks CAC's test for violations, projected and as printed (spec §3, eq. 6), on
// a host of 2 CPUs on which one contract bids 0.02. The result must not depend on the time, nor
// on the speed of the host if the work is scaled with it.
func TestCapacity(t *testing.T) {
	t.Parallel()
	promise := func(work, done, due float64, perHost bool) contracts.Contract {
		return contracts.Contract{
			Request: contracts.Request{ID: 7, Work: work, Nodes: 1, PerHost: perHost, SLA: contracts.SLA{Deadline: due}},
			Done:    done,
		}
	}
	for _, c := range []struct {
		name       string
		test       string
		limit      float64 // maximum number of processors of a task
		running    contracts.Contract
		work, bid  float64
		violates   contracts.ID // contract that would be violated; 0 if there is none
		gets, want float64
	}{
		// 20:20 of 2 CPUs is 1 each.
		{"as much as it needs", "projected", 1, promise(100, 0, 100, false), 100, 0.02, 0, 0, 0},
		// 20:25 of 2 CPUs: the new contract is limited to 1, and the other contract keeps 1.
		{"capped", "projected", 1, promise(100, 0, 100, false), 100, 0.025, 0, 0, 0},
		// Without a limit, the contract gets 2*20/45.
		{"not capped", "projected", 0, promise(100, 0, 100, false), 100, 0.025, 7, 40. / 45, 1},
		// Work of 10 is already done, and 90 remain until 100 s.
		{"work done", "projected", 0, promise(100, 12, 100, false), 100, 0.025, 0, 0, 0},
		{"work done is not enough", "projected", 0, promise(100, 11, 100, false), 100, 0.025, 7, 40. / 45, 0.89},
		{"per host", "projected", 0, promise(100, 0, 100, true), 100, 0.025, 7, 40. / 45, 1},
		// 15:20 of 2 CPUs is 6/7.
		{"itself", "projected", 0, promise(50, 0, 100, false), 90, 0.015, 99, 6. / 7, 0.9},
		{"a late one is past harming", "projected", 0, promise(100, 0, -1, false), 100, 0.025, 0, 0, 0},
		{"and one whose time is up", "projected", 0, promise(100, 0, 0, false), 100, 0.025, 0, 0, 0},
		{"and so per host", "projected", 0, promise(100, 0, 0, true), 100, 0.025, 0, 0, 0},
		{"printed", "static", 1, promise(100, 0, 100, false), 100, 0.02, 0, 0, 0},
		{"printed, other", "static", 1, promise(100, 0, 100, false), 100, 0.021, 7, 0.02 / 0.041, 0.5},
		{"printed, itself", "static", 1, promise(50, 0, 100, false), 100, 0.019, 99, 0.019 / 0.039, 0.5},
		// Work of 50 in 100 s needs a quarter of 2 CPUs, and 20 of 20+60 is exactly a quarter.
		{"printed, slack", "static", 1, promise(50, 0, 100, false), 50, 0.06, 0, 0, 0},
		{"printed, slack, other", "static", 1, promise(50, 0, 100, false), 50, 0.061, 7, 0.02 / 0.081, 0.25},
		{"printed, what is done counts nothing", "static", 1, promise(50, 49, 100, false), 50, 0.061, 7, 0.02 / 0.081, 0.25},
		{"printed, slack, itself", "static", 1, promise(50, 0, 100, false), 90, 0.015, 99, 3. / 7, 0.45},
	} {
		for _, at := range []struct{ now, speed float64 }{{0, 1}, {40, 2}} {
			s := &stand{Hosts: []stall{{Spec: hosts.Spec{CPUs: 2, Cap: c.limit, Speed: at.speed}}}}
			k, alone := c.running, at.speed*min(2, cmp.Or(c.limit, 2))
			k.Submit, k.At, k.Work, k.Done = at.now, at.now, k.Work*at.speed, k.Done*at.speed
			put(s, k, 0.02, alone)
			s.Hosts[0].Allocations[0].At, s.Hosts[0].Allocations[0].Done = k.At, k.Done
			r := policytest.Wish(c.work*at.speed, 1, c.bid)
			r.Submit = at.now
			d := newDecider(t, "cac", options{"capacity": c.test}).Decide(at.now, &r, s)
			n, gets, want := numbers(d), c.gets, c.want
			if c.test == "projected" { // the projected test compares work, not shares
				gets, want = gets*at.speed, want*at.speed
			}
			if id, _ := d.Numbers.Contract(); id != c.violates || (d.Verdict == contracts.Accept) != (c.violates == 0) || !close(n["gets"], gets) || !close(n["want"], want) {
				t.Errorf("%s, at %v: %v, violates %d, %v of %v; want %d, %v of %v", c.name, at, d.Verdict, id, n["gets"], n["want"], c.violates, gets, want)
			}
		}
	}
}

// TestCapacityPerHost checks that if each node's work is promised separately (spec §1), a
// request is rejected if one host gives it too little, even if another host gives it more than
// necessary.
func TestCapacityPerHost(t *testing.T) {
	t.Parallel()
	for _, perHost := range []bool{false, true} {
		s := &stand{Hosts: []stall{{Spec: hosts.Spec{CPUs: 2, Speed: 1}}, {Spec: hosts.Spec{CPUs: 2, Speed: 1}}}}
		put(s, contracts.Contract{Request: contracts.Request{ID: 7, OnDemand: true}}, 0.025, 2)
		r := policytest.Wish(90, 2, 0.015) // the job gets 2 × 15/40 of one host and the whole other host
		r.PerHost = perHost
		d := newDecider(t, "cac", options{"threshold": "share"}).Decide(0, &r, s)
		n := numbers(d)
		if id, _ := d.Numbers.Contract(); perHost && (id != 99 || !close(n["gets"], 0.75) || !close(n["want"], 0.9)) || !perHost && d.Verdict != contracts.Accept {
			t.Errorf("per host %v: %v, violates %d, %v of %v", perHost, d.Verdict, id, n["gets"], n["want"])
		}
	}
}

// TestLasts checks that a rate suffices if it completes the work by the deadline within half
// the tolerance of judging, and within the precision of float64 times.
func TestLasts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rate, now, due, left, whole float64
		want                        bool
	}{
		{1, 0, 100, 100, 100, true},
		{1, 0, 100, 100 + 0.4e-7, 100, true}, // 1e-9 of 100 is 1e-7
		{1, 0, 100, 100 + 0.6e-7, 100, false},
		{1, 0, 100, 101, 100, false},
		{2, 50, 100, 100, 100, true},
		{2, 51, 100, 100, 100, false},
		{1, 0, 1, 1 + contracts.Moment(1), 0, true},
		{1, 1e9, 1e9 + 1, 1 + 0.9*contracts.Moment(1e9), 1e-9, true},
		{1, 1e9, 1e9 + 1, 1 + 1.1*contracts.Moment(1e9), 1e-9, false},
		{0, 0, math.Inf(1), 100, 100, true}, // an on-demand contract
	} {
		if got := lasts(c.rate, c.now, c.due, c.left, c.whole); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestPromised checks the pace at which a contract on two nodes completes in time: the promised
// work and time or, after it was placed again, the remaining work and time.
func TestPromised(t *testing.T) {
	t.Parallel()
	c := contracts.Contract{Request: contracts.Request{Submit: 10, Work: 100, Nodes: 2, SLA: contracts.SLA{Deadline: 50}}, Done: 80, At: 20}
	if got := promised(20, &c); got != 2 {
		t.Errorf("%v a second, want 2", got)
	}
	c.Repeat = true
	if got := promised(20, &c); got != 1.5 {
		t.Errorf("again %v a second, want 1.5", got)
	}
}

// TestStaticNeeds checks that q_s of eq. 6 is the share of the host that the work of s needs:
// with slack 2, half of a processor, or a quarter of a processor that is twice as fast. A
// contract that was placed again needs its remaining work in the remaining time. A contract on
// demand has no promise.
func TestStaticNeeds(t *testing.T) {
	t.Parallel()
	again := contracts.Request{Repeat: true}
	for _, c := range []struct {
		speed, slack float64
		request      contracts.Request
		done         float64
		bid          float64
		violates     contracts.ID
		want         float64
	}{
		{speed: 1, slack: 1, bid: 0.021, violates: 7, want: 1. / 2},
		{speed: 1, slack: 2, bid: 0.061, violates: 7, want: 1. / 4},
		{speed: 2, slack: 1, bid: 0.061, violates: 7, want: 1. / 4},
		{speed: 2, slack: 2, bid: 0.139},
		{speed: 2, slack: 2, bid: 0.141, violates: 7, want: 1. / 8},
		{speed: 2, slack: 2, request: again, done: 50, bid: 0.299},
		{speed: 2, slack: 2, request: again, done: 50, bid: 0.301, violates: 7, want: 1. / 16},
		{speed: 2, slack: 2, request: contracts.Request{OnDemand: true}, bid: 10},
	} {
		s := &stand{Hosts: []stall{{Spec: hosts.Spec{CPUs: 2, Speed: c.speed}}}}
		running := contracts.Contract{Request: c.request, Done: c.done}
		running.ID, running.Work, running.Nodes, running.SLA.Deadline = 7, 100, 1, 100*c.slack
		put(s, running, 0.02, 0)
		r := policytest.Wish(1, 1, c.bid)
		d := newDecider(t, "cac", options{"capacity": "static"}).Decide(0, &r, s)
		n := numbers(d)
		if id, _ := d.Numbers.Contract(); id != c.violates || !close(n["want"], c.want) {
			t.Errorf("speed %v, slack %v: violates %d, which wants %v, want %d and %v", c.speed, c.slack, id, n["want"], c.violates, c.want)
		}
	}
}

// TestRandom checks that RAC rejects a fixed fraction of any requests: 0.37 of 100,000, within
// three standard deviations, which is 0.0046.
func TestRandom(t *testing.T) {
	t.Parallel()
	bid := newDecider(t, "be", nil).(*BestEffort).bid
	p := must(newRandom(options{"reject": 0.37}.Decode, bid, rand.New(rand.NewPCG(1, 1)))).(contracts.Decider)
	s := &stand{Hosts: []stall{{Spec: hosts.Spec{CPUs: 2, Speed: 1}}}}
	rejected := 0
	r := policytest.Wish(1, 1, 0.01)
	for range 100_000 {
		switch d := p.Decide(0, &r, s); {
		case d.Reason == byLot:
			rejected++
		case d.Verdict != contracts.Accept:
			t.Fatalf("rejected: %v", d.Reason)
		}
	}
	if got := float64(rejected) / 100_000; math.Abs(got-0.37) > 0.0046 {
		t.Errorf("rejected %v, want 0.37", got)
	}
}

// constant is a random source that always returns the same number.
type constant uint64

func (c constant) Uint64() uint64 { return uint64(c) }

// TestRandomNever checks that no request is rejected at random if the probability is 0, even if
// the smallest number is drawn, and that every request is rejected if it is 1.
func TestRandomNever(t *testing.T) {
	t.Parallel()
	bid := newDecider(t, "be", nil).(*BestEffort).bid
	for reject, want := range map[float64]contracts.Reason{0: contracts.None, 1: byLot} {
		p := must(newRandom(options{"reject": reject}.Decode, bid, rand.New(constant(0)))).(contracts.Decider)
		r := policytest.Wish(1, 1, 0.01)
		if d := p.Decide(0, &r, &stand{Hosts: []stall{{Spec: hosts.Spec{CPUs: 2, Speed: 1}}}}); d.Reason != want {
			t.Errorf("probability %v: %v, want %v", reject, d.Reason, want)
		}
	}
}
