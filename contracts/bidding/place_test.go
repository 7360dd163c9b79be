package bidding

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse/bank"
	"bourse/contracts"
	"bourse/hosts"
	"bourse/market"
)

// A fleet is a list of hosts in order of price, some of which are absent or full.
type fleet struct {
	contracts.View
	prices []market.Rate
	away   []bool
	room   []float64 // free memory of each host
	tasks  []int     // number of tasks on each host
}

func (v *fleet) On(h hosts.ID) []contracts.Allocation {
	return make([]contracts.Allocation, v.tasks[h])
}

func (v *fleet) Fleet() int                      { return len(v.prices) }
func (v *fleet) Price(h hosts.ID) market.Rate    { return v.prices[h] }
func (v *fleet) Priced() []hosts.Kind            { return nil }
func (v *fleet) Unavailable(h hosts.ID) bool     { return v.away[h] }
func (v *fleet) Spec(hosts.ID) *hosts.Spec       { return &hosts.Spec{CPUs: 1, Speed: 1} }
func (v *fleet) Room(h hosts.ID) hosts.Resources { return hosts.Resources{Memory: v.room[h]} }
func (v *fleet) eligible(r *contracts.Request, h hosts.ID) bool {
	return !v.away[h] && r.Needs.Min.Memory <= v.room[h]
}

func (v *fleet) Cheapest(r *contracts.Request, out []hosts.ID) []hosts.ID {
	for h := range hosts.ID(len(v.prices)) {
		if len(out) < r.Nodes && v.eligible(r, h) {
			out = append(out, h)
		}
	}
	return out
}

func strategy(t interface{ Fatal(...any) }, name string) Strategy {
	s, err := Table(rand.New(rand.NewPCG(1, 2))).New(name, func(any) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// request returns a request that may spend $1 per second on the given number of nodes in total.
func request(nodes int) *contracts.Request {
	return &contracts.Request{Nodes: nodes, SLA: contracts.SLA{Budget: bank.Micros(10e6), Deadline: 10}}
}

// TestPlace checks the hosts and bids of each strategy. cheapest bids b = v/(d n) on each of
// the cheapest hosts. best-response maximizes the utility and bids one nano-dollar on hosts
// without a worthwhile bid: at prices 1 and 4 and X = 1, only the first host is worth a bid.
// Placements are appended to earlier ones, and a failure has a reason.
func TestPlace(t *testing.T) {
	t.Parallel()
	const dollar = 1_000_000_000
	v := &fleet{prices: []market.Rate{dollar, dollar, 4 * dollar, 4 * dollar, 9 * dollar}, away: make([]bool, 5), room: make([]float64, 5)}
	v.away[1] = true
	poor := request(2)
	poor.SLA.Budget, poor.SLA.Deadline = bank.Micros(1), 1e6
	for _, c := range []struct {
		strategy string
		r        *contracts.Request
		want     string
	}{
		{"cheapest", request(2), "0 at 0.5, 2 at 0.5, "},
		{"cheapest", request(4), "0 at 0.25, 2 at 0.25, 3 at 0.25, 4 at 0.25, "},
		{"cheapest", request(5), "too few hosts"},
		{"cheapest", poor, "budget is no spending rate"},
		{"random", request(5), "too few hosts"},
		{"random", poor, "budget is no spending rate"},
		{"best-response", request(1), "0 at 1, "},
		{"best-response", request(2), "0 at 1, 2 at 1e-09, "},
		{"best-response", request(4), "0 at 1, 2 at 1e-09, 3 at 1e-09, 4 at 1e-09, "},
		{"best-response", request(5), "too few hosts"},
		{"best-response", poor, "budget is no spending rate"},
	} {
		before := []contracts.Placement{{Host: 77}}
		placed, why := strategy(t, c.strategy).Place(c.r, v, before)
		got := string(why)
		for _, p := range placed[1:] {
			got += fmt.Sprintf("%d at %v, ", p.Host, p.Bid.Float64())
		}
		if got != c.want || placed[0].Host != 77 {
			t.Errorf("%s of %d nodes: %q, want %q", c.strategy, c.r.Nodes, got, c.want)
		}
	}
}

// TestPlaceAtRandom checks that one host is drawn per node, that the hosts are distinct,
// present and have room, and that every such host is drawn in some repetition.
func TestPlaceAtRandom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "hosts")
		v := &fleet{
			prices: make([]market.Rate, n),
			away:   rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "away"),
			room:   rapid.SliceOfN(rapid.SampledFrom([]float64{1, 2}), n, n).Draw(t, "room"),
		}
		r := request(rapid.IntRange(1, n).Draw(t, "nodes"))
		r.Needs.Min.Memory = rapid.SampledFrom([]float64{0, 2}).Draw(t, "memory")
		fit := 0
		for h := range hosts.ID(n) {
			if v.eligible(r, h) {
				fit++
			}
		}
		s, drawn := strategy(t, "random"), map[hosts.ID]bool{}
		for range 300 {
			placed, why := s.Place(r, v, nil)
			if fit < r.Nodes {
				if why != contracts.TooFewHosts || len(placed) > 0 {
					t.Fatalf("%v: placed on %v of %d hosts", why, placed, fit)
				}
				continue
			}
			var chosen []hosts.ID
			for _, p := range placed {
				if drawn[p.Host] = true; !v.eligible(r, p.Host) || p.Bid != r.NodeRate() || slices.Contains(chosen, p.Host) {
					t.Fatalf("placed on %v", placed)
				}
				chosen = append(chosen, p.Host)
			}
			if why != contracts.None || len(chosen) != r.Nodes {
				t.Fatalf("%v: placed on %v, want %d nodes", why, chosen, r.Nodes)
			}
		}
		if fit >= r.Nodes && len(drawn) != fit {
			t.Fatalf("of %d hosts only %v are drawn in 300 times", fit, drawn)
		}
	})
}

// TestEmptiest checks that bids go to the eligible hosts with the fewest tasks, whatever their
// prices, and that each host of a tie is chosen equally often.
func TestEmptiest(t *testing.T) {
	t.Parallel()
	v := &fleet{prices: []market.Rate{1, 2, 3, 4, 5, 6}, away: make([]bool, 6), room: make([]float64, 6), tasks: []int{2, 1, 0, 1, 1, 0}}
	v.away[2] = true
	s, chosen := strategy(t, "emptiest"), make([]int, 6)
	const n = 3000
	for range n {
		on, why := s.Place(request(3), v, nil)
		if why != contracts.None || len(on) != 3 {
			t.Fatalf("placed %v, %q", on, why)
		}
		for _, p := range on {
			chosen[p.Host]++
		}
	}
	for h, want := range []int{0, 2 * n / 3, 0, 2 * n / 3, 2 * n / 3, n} {
		if d := chosen[h] - want; d < -150 || d > 150 {
			t.Errorf("host %d chosen %d times of %d, want %d", h, chosen[h], n, want)
		}
	}
	if _, why := s.Place(request(6), v, nil); why != contracts.TooFewHosts {
		t.Errorf("six nodes on five hosts: %q", why)
	}
}
