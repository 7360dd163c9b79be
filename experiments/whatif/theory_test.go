package whatif

import (
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/hosts"
	"bourse/market"
	"bourse/workloadgen"
)

var (
	seed  = flag.Uint64("seed", 1, "seed of the random markets")
	draws = flag.Int("draws", 50, "families of intervals that TestCoverage draws")
)

// A resource is one divisible resource whose users have linear utilities. The numbers are the
// value of the whole resource to each user in $/s. Users bid for shares in an auction and pay
// their bids.
type resource struct {
	auction market.Auctioneer
	worth   []float64
	bids    []market.Rate
}

func newResource(t *testing.T, worth []float64) *resource {
	t.Helper()
	a, err := market.New(market.Config{})
	if err != nil {
		t.Fatal(err)
	}
	r := &resource{a, worth, make([]market.Rate, len(worth))}
	for i := range worth { // all users begin with the same bid
		r.bid(i, rate(t, worth[i]/float64(len(worth))))
	}
	return r
}

func rate(t *testing.T, x float64) market.Rate {
	t.Helper()
	r, err := market.Dollars(x)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *resource) bid(user int, b market.Rate) {
	r.auction.Bid(0, r.bids[user], b)
	r.bids[user] = b
}

// utility returns the utility of a user who bids x while the others keep their bids.
func (r *resource) utility(user int, x float64) float64 {
	others := (r.auction.Price() - r.bids[user]).Float64()
	return r.worth[user]*float64(market.Quote(x, others)) - x
}

// answer returns the best bid for a user, found numerically.
func (r *resource) answer(user int) float64 {
	return best(r.worth[user], func(x float64) float64 { return r.utility(user, x) })
}

// best returns the maximum of f, which has one peak in (0,hi), by golden-section search.
func best(hi float64, f func(float64) float64) float64 {
	const part = 0.6180339887498949
	lo := 0.0
	a, b := hi-part*(hi-lo), lo+part*(hi-lo)
	fa, fb := f(a), f(b)
	for range 80 {
		if fa > fb {
			hi, b, fb = b, a, fa
			a = hi - part*(hi-lo)
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + part*(hi-lo)
			fb = f(b)
		}
	}
	return (lo + hi) / 2
}

// efficiency returns the value of the shares divided by the maximum, which is the value if
// one user has the whole resource.
func (r *resource) efficiency() (sum float64) {
	price := r.auction.Price().Float64()
	for i, w := range r.worth {
		sum += w * float64(market.ShareIf(r.bids[i].Float64(), price, 0))
	}
	return sum / slices.Max(r.worth)
}

// settle lets users respond to one another until no user gains more than epsilon, in $/s.
func (r *resource) settle(t *testing.T, epsilon float64) int {
	t.Helper()
	n, settled, err := rounds(len(r.worth), 200, func(user int) (bool, error) {
		x := r.answer(user)
		if r.utility(user, x)-r.utility(user, r.bids[user].Float64()) <= epsilon {
			return false, nil
		}
		r.bid(user, rate(t, x))
		return true, nil
	}, func() bool { return false })
	if err != nil || !settled {
		t.Fatalf("%d users after %d rounds: settled %v, %v", len(r.worth), n, settled, err)
	}
	return n
}

// clear makes all users bid optimally at the price that results from all bids. If many
// users respond in turn, they reach this state slowly. At price p, a user with value w bids
// p - p²/w, or zero.
func (r *resource) clear(t *testing.T) {
	t.Helper()
	bid := func(w, p float64) float64 { return max(0, p-p*p/w) }
	lo, hi := 0.0, slices.Max(r.worth)
	for range 60 {
		p, sum := (lo+hi)/2, 0.0
		for _, w := range r.worth {
			sum += bid(w, p)
		}
		if sum > p {
			lo = p
		} else {
			hi = p
		}
	}
	for i, w := range r.worth {
		r.bid(i, rate(t, bid(w, lo)))
	}
	if rounds := r.settle(t, 1e-12); rounds != 1 {
		t.Errorf("%d users: somebody gains at the price that clears", len(r.worth))
	}
}

// TestThreeQuarters checks that users of one divisible resource who anticipate their effect on
// the price lose exactly the efficiency that Johari and Tsitsiklis (2004) state. The whole
// resource is worth 1 to one user and w to each of the n others. In equilibrium, each has b =
// sqrt(w c) - c, so the first gets d1 and each other gets d with 1 - d1 = w (1 - d). The
// minimum, 3/4, is at w = 1/2 as n grows without bound.
func TestThreeQuarters(t *testing.T) {
	t.Parallel()
	const tolerance = 1e-3
	// efficiency in equilibrium, by its formula: d1 + n d = 1 and 1 - d1 = w (1 - d).
	formula := func(n int, w float64) float64 {
		d := w / (float64(n) + w) // share of each other user: 1 - d1 = n d = w (1 - d)
		return 1 - float64(n)*d*(1-w)
	}
	last := 1.0
	for _, n := range []int{1, 4, 16, 64, 256, 1000} {
		worth := slices.Repeat([]float64{0.5}, n+1)
		worth[0] = 1
		r := newResource(t, worth)
		r.clear(t)
		got, want := r.efficiency(), formula(n, 0.5)
		if math.Abs(got-want) > tolerance {
			t.Errorf("%d users: efficiency %v, want %v", n+1, got, want)
		}
		if got < 0.75-tolerance || got > last {
			t.Errorf("%d users: efficiency %v, want no less than 3/4, and less than %v of fewer", n+1, got, last)
		}
		last = got
		others := r.auction.Price() - r.bids[0]
		if x, want := r.answer(0), math.Sqrt(others.Float64())-others.Float64(); math.Abs(x-want) > 1e-6 {
			t.Errorf("%d users: the best answer is %v, want %v", n+1, x, want)
		}
	}
	for _, n := range []int{1, 2, 4} { // only a few users reach the equilibrium by responding in turn
		worth := slices.Repeat([]float64{0.5}, n+1)
		worth[0] = 1
		r := newResource(t, worth)
		if r.settle(t, 1e-12); math.Abs(r.efficiency()-formula(n, 0.5)) > tolerance {
			t.Errorf("%d users who answer one another: efficiency %v, want %v", n+1, r.efficiency(), formula(n, 0.5))
		}
	}
	if math.Abs(last-0.75) > tolerance {
		t.Errorf("of many users the efficiency is %v, want 3/4", last)
	}
}

// TestNoWorse checks that no resource loses more than 25 % of its efficiency, whatever its
// value to each user.
func TestNoWorse(t *testing.T) {
	t.Parallel()
	t.Logf("-seed %d", *seed)
	rng := rand.New(rand.NewPCG(*seed, 0))
	for range 30 {
		worth := make([]float64, 2+rng.IntN(12))
		for i := range worth {
			worth[i] = 0.05 + rng.Float64()
		}
		r := newResource(t, worth)
		r.clear(t)
		if e := r.efficiency(); e < 0.75-1e-3 || e > 1 {
			t.Errorf("worth %v: efficiency %v", worth, e)
		}
	}
}

// A view is a set of hosts with equal capacity and their prices, as seen by a strategy.
type view struct {
	contracts.View
	specs  []hosts.Spec
	prices []market.Rate
}

func (v *view) Fleet() int                   { return len(v.prices) }
func (v *view) Spec(h hosts.ID) *hosts.Spec  { return &v.specs[h] }
func (v *view) Price(h hosts.ID) market.Rate { return v.prices[h] }
func (v *view) Cheapest(_ *contracts.Request, out []hosts.ID) []hosts.ID {
	for h := range v.prices {
		out = append(out, hosts.ID(h))
	}
	return out
}
func (v *view) Priced() []hosts.Kind { return nil }

// TestClosedForm checks that the best-response strategy makes the bids that a numerical search
// finds. A user with linear utility bids on each host separately the x that maximizes w x/(x +
// c)
// - x. Given the total of these bids, the strategy must bid the same.
func TestClosedForm(t *testing.T) {
	t.Parallel()
	t.Logf("-seed %d", *seed)
	rng := rand.New(rand.NewPCG(*seed, 1))
	strategy, err := bidding.Table(rng).New("best-response", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		v := &view{}
		var want []float64
		all := 0.0
		for range 1 + rng.IntN(6) {
			capacity, price := float64(1+rng.IntN(8)), 0.05+2*rng.Float64()
			worth := capacity // a processor is worth 1 $/s
			v.specs = append(v.specs, hosts.Spec{CPUs: capacity, Speed: 1, Cap: capacity})
			v.prices = append(v.prices, rate(t, price))
			x := best(worth, func(x float64) float64 { return worth*float64(market.Quote(x, price)) - x })
			if worth <= price {
				x = 0 // the utility decreases from x = 0 on
			}
			want = append(want, x)
			all += x
		}
		if all == 0 {
			continue
		}
		budget, err := bank.Dollars(all)
		if err != nil {
			t.Fatal(err)
		}
		r := contracts.Request{Nodes: len(want), Work: 1, SLA: contracts.SLA{Budget: budget, Deadline: 1}}
		places, reason := strategy.Place(&r, v, nil)
		if reason != contracts.None {
			t.Fatal(reason)
		}
		for _, p := range places {
			if got := p.Bid.Float64(); math.Abs(got-want[p.Host]) > 1e-5 {
				t.Errorf("prices %v: bid %v on host %d, want %v", v.prices, got, p.Host, want[p.Host])
			}
		}
	}
}

// oneUnit sells one unit to the highest bid. The function of returns the price from the two
// highest bids.
func oneUnit(truth workloadgen.Plan, of func(first, second float64) float64) *game {
	return &game{Truth: truth, Alpha: 1, Run: func(said reported) ([]reportedOutcome, error) {
		fates := make([]reportedOutcome, len(said.Plan))
		won, first, second := -1, 0.0, 0.0
		for i := range said.Plan {
			switch v := said.Plan[i].Value; {
			case v > first:
				won, first, second = i, v, first
			case v > second:
				second = v
			}
		}
		if won >= 0 {
			fates[won] = reportedOutcome{Done: said.Plan[won].Work(), Paid: of(first, second)}
		}
		return fates, nil
	}}
}

// posted sells to every user who reports that the work is worth at least the posted price, in $
// per processor-second.
func posted(truth workloadgen.Plan, price float64) *game {
	return &game{Truth: truth, Alpha: 1, Run: func(said reported) ([]reportedOutcome, error) {
		fates := make([]reportedOutcome, len(said.Plan))
		for i := range said.Plan {
			if j := &said.Plan[i]; j.Value >= price*j.Work() {
				fates[i] = reportedOutcome{Done: j.Work(), Paid: price * j.Work()}
			}
		}
		return fates, nil
	}}
}

// bidders are users with one job each.
func bidders(rng *rand.Rand) (plan workloadgen.Plan) {
	for i := range int64(8) {
		plan = append(plan, workloadgen.Job{
			ID: i, User: i, Arrival: float64(i), Nodes: 1 + rng.IntN(4), Runtime: 60, Estimate: 60, Deadline: 60, Value: 100 * rng.Float64(),
		})
	}
	return plan
}

// inMarkets returns the gains by misreporting in 40 markets, and whether any user changed its
// report in any market when users responded to one another.
func inMarkets(t *testing.T, market func(workloadgen.Plan) *game) (rows []gainRow, moved bool) {
	t.Helper()
	t.Logf("-seed %d", *seed)
	rng := rand.New(rand.NewPCG(*seed, 2))
	lies := UsualDeviations()
	samples := make([]sample, len(lies))
	for range 40 {
		m := market(bidders(rng))
		truth, gains, err := m.gains(usersOf(m.Truth), lies)
		if err != nil {
			t.Fatal(err)
		}
		for d := range lies {
			var of []float64
			for _, g := range gains {
				of = append(of, g.By[d])
			}
			samples[d] = append(samples[d], of)
		}
		a, err := m.respond(truth, lies, 1e-9, 30)
		if err != nil {
			t.Fatal(err)
		}
		moved = moved || !a.Settled || slices.ContainsFunc(a.Plays, func(d Deviation) bool { return d != Deviation{} })
	}
	for d := range lies {
		r := weighed(samples[d], 1e-9, len(lies))
		r.Deviation = lies[d].String()
		rows = append(rows, r)
	}
	return rows, moved
}

// TestTruthIsBest checks that the code finds no user who gains by misreporting if truth is
// known to be optimal: at the second price (Vickrey 1961) and at a posted price.
func TestTruthIsBest(t *testing.T) {
	t.Parallel()
	for name, market := range map[string]func(workloadgen.Plan) *game{
		"second price": func(p workloadgen.Plan) *game {
			return oneUnit(p, func(_, second float64) float64 { return second })
		},
		"posted price": func(p workloadgen.Plan) *game { return posted(p, 0.3) },
	} {
		rows, moved := inMarkets(t, market)
		losing := 0
		for _, r := range rows {
			if r.Share.Value != 0 || r.Most > 1e-9 || r.Verdict == gains {
				t.Errorf("%s, %s: %v of users gain, %v at most, verdict %s", name, r.Deviation, r.Share.Value, r.Most, r.Verdict)
			}
			if r.Verdict == loses {
				losing++
			}
		}
		if moved {
			t.Errorf("%s: users who answer one another leave the truth", name)
		}
		if losing == 0 {
			t.Errorf("%s: no lie costs who tells it", name)
		}
	}
}

// TestFirstPrice checks that the same code finds users who gain if truth is not optimal: a
// user who pays its bid bids less.
func TestFirstPrice(t *testing.T) {
	t.Parallel()
	rows, moved := inMarkets(t, func(p workloadgen.Plan) *game {
		return oneUnit(p, func(first, _ float64) float64 { return first })
	})
	for _, r := range rows {
		switch gains := r.Verdict == gains; r.Deviation {
		case "value=0.8":
			if !gains || r.Share.Value == 0 || r.Gain.Lo == nil || r.Most <= 0 {
				t.Errorf("%s: %+v", r.Deviation, r)
			}
		case "value=2", "value=1.25":
			if gains || r.Most > 0 {
				t.Errorf("%s: %+v", r.Deviation, r)
			}
		}
	}
	if !moved {
		t.Error("users who answer one another stay with the truth")
	}
}

// TestCoverage checks that all intervals of a family are correct at the same time in at
// least 95 of 100 markets, within 3 standard errors of the simulation.
func TestCoverage(t *testing.T) {
	t.Parallel()
	t.Logf("-seed %d", *seed)
	rng := rand.New(rand.NewPCG(*seed, 3))
	const family = 10
	held := 0
	for range *draws {
		all := true
		for range family {
			var s sample
			for range 20 {
				both := rng.NormFloat64() // users in the same replication share a market
				s = append(s, []float64{1 + both + rng.NormFloat64(), 1 + both + rng.NormFloat64()})
			}
			r := weighed(s, 0, family)
			all = all && *r.Gain.Lo <= 1 && 1 <= *r.Gain.Hi
		}
		if all {
			held++
		}
	}
	if least := 0.95 - 3*math.Sqrt(0.95*0.05/float64(*draws)); float64(held) < least*float64(*draws) {
		t.Errorf("all intervals held in %d of %d families", held, *draws)
	}
}

// TestNoMarket checks that an operation that a market does not support is an error.
func TestNoMarket(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	m := &game{Truth: workloadgen.Plan{{ID: 1, Nodes: 1, Runtime: 1}}, Run: func(reported) ([]reportedOutcome, error) { return nil, broken }}
	if _, _, err := m.gains([]int64{0}, UsualDeviations()); !errors.Is(err, broken) {
		t.Errorf("gains: %v", err)
	}
	if _, err := m.respond(payoff{}, UsualDeviations(), 1, 3); !errors.Is(err, broken) {
		t.Errorf("answer: %v", err)
	}
}
