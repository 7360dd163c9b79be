package broker

import (
	"math"
	"testing"

	"bourse/contracts"
	"bourse/contracts/floor"
	"bourse/hosts"
	"bourse/market"
)

// TestScarceChargesCutHosts checks that scarce charges the reserve until tasks can use more
// processors than their host has, and the spot price from then on. Tasks that bid nothing do
// not count.
func TestScarceChargesCutHosts(t *testing.T) {
	t.Parallel()
	const bid = market.Rate(1e9) // $1/s
	for _, c := range []struct {
		name    string
		cpus    float64
		claims  []float64
		idle    int // number of tasks that bid nothing
		reserve float64
		want    []float64 // charge of each task, dollars per second
	}{
		{"one task", 2, []float64{1}, 0, 0, []float64{0}},
		{"as many as processors", 2, []float64{1, 1}, 0, 0, []float64{0, 0}},
		{"a third task", 2, []float64{1, 1, 1}, 0, 0, []float64{2. / 3, 2. / 3, 2. / 3}},
		{"a third that bids nothing", 2, []float64{1, 1}, 1, 0, []float64{0, 0}},
		{"unequal claims that fit", 2, []float64{0.5, 1.5}, 0, 0, []float64{0, 0}},
		{"unequal claims that do not", 2, []float64{0.5, 2}, 0, 0, []float64{0.25, 0.75}},
		{"tenths that add up", 1, []float64{0.1, 0.2, 0.7}, 0, 0, []float64{0, 0, 0}},
		{"the reserve", 2, []float64{0.5, 1}, 0, 0.1, []float64{0.05, 0.1}},
		{"the reserve, at most the bid", 2, []float64{0.5, 1}, 0, 1.5, []float64{0.75, 1}},
		{"no reserve once cut", 2, []float64{1, 1, 1}, 0, 0.1, []float64{2. / 3, 2. / 3, 2. / 3}},
	} {
		const speed = 3
		var on []contracts.Allocation
		sum := 0.0
		for _, claim := range c.claims {
			sum += claim
		}
		for _, claim := range c.claims { // each task gets its claim, or its part if the claims do not fit
			get := claim * min(1, c.cpus/sum)
			on = append(on, contracts.Allocation{Bid: bid, Claim: claim, Rate: get * speed})
		}
		for range c.idle {
			on = append(on, contracts.Allocation{Claim: 1})
		}
		if len(c.claims) == 2 && sum > c.cpus {
			on[0].Rate, on[1].Rate = 0.5*speed, 1.5*speed
		}
		p := must(Payments().New("scarce", nil))
		p.tariff(nil, c.reserve)(on, floor.Prices{hosts.CPU: bid * market.Rate(len(c.claims))}, c.cpus*speed, speed)
		for i, want := range c.want {
			if got := on[i].Paying; math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: task %d pays %v, want %v", c.name, i, got, want)
			}
		}
	}
}

// TestPercentileCharges checks that a task pays at least the promised price for its share, more
// if the other bids set a higher price, and at most its bid.
func TestPercentileCharges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		others, promised market.Rate
		want             float64
	}{{2e9, 0, 0.5}, {2e9, 1e9, 0.5}, {2e9, 3e9, 0.75}, {2e9, 6e9, 1}, {6e9, 3e9, 1}} {
		on := []contracts.Allocation{{Bid: 1e9, Rate: 0.25, Met: c.promised}}
		p := must(Payments().New("percentile", nil))
		if p.tariff(nil, 0)(on, floor.Prices{hosts.CPU: 1e9 + c.others}, 1, 1); on[0].Paying != c.want {
			t.Errorf("others bid %v, promised %v: a task pays %v, want %v", c.others, c.promised, on[0].Paying, c.want)
		}
	}
}

// TestResourceChargesTheMean checks that the nodes of a contract together pay the mean of what
// usage charges on their hosts.
func TestResourceChargesTheMean(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]float64{"usage": 0.9, "resource": 0.3} {
		on := []contracts.Allocation{{Bid: 1e9, Rate: 0.45, Of: 3}}
		p := must(Payments().New(name, nil))
		if p.tariff(nil, 0)(on, floor.Prices{hosts.CPU: 2e9}, 1, 1); math.Abs(on[0].Paying-want) > 1e-12 {
			t.Errorf("%s: a task pays %v, want %v", name, on[0].Paying, want)
		}
	}
}
