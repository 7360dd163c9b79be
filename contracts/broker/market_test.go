package broker

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/contracts/floor"
	"bourse/contracts/policies"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/sim"
	"bourse/market/forecast"
)

// A trial is a random market with its requests.
type trial struct {
	churn *floor.Availability // availability of hosts; nil means that hosts stay

	seed    uint64
	spec    hosts.Spec // specification of every host
	hosts   int
	policy  string
	payment string
	funds   float64 // funds of the provider, $
	window  float64
	asks    []ask
}

// An ask is a request with its true work per node.
type ask struct {
	contracts.Request
	truth float64
}

func (m *trial) String() string {
	return fmt.Sprintf("seed %d: %s, %s, %d hosts of %g CPUs, cap %g, speed %g", m.seed, m.policy, m.payment, m.hosts, m.spec.CPUs, m.spec.Cap, m.spec.Speed)
}

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

// newTrial draws a market with n requests of every kind.
func newTrial(seed uint64, n int) *trial {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := &trial{
		seed: seed, hosts: 1 + rng.IntN(6), policy: pick(rng, "be", "sac", "cac", "rac"),
		payment: pick(rng, Payments().Names()...), funds: pick(rng, 0, 0.5, 1000), window: pick(rng, 10.0, 300),
		spec: hosts.Spec{
			CPUs: pick(rng, 0.5, 1, 2, 4, 7.3), Speed: pick(rng, 1, 1, 0.3, 2.5), Cap: pick(rng, 0, 1, 1, 0.4),
			Room: hosts.Resources{Memory: 8, Disk: 100, Bandwidth: 10},
		},
	}
	now := pick(rng, 0.0, 0, 3e7)
	for range n {
		if rng.IntN(5) > 0 {
			now += rng.ExpFloat64() * pick(rng, 1.0, 20, 100)
		}
		r := contracts.Request{
			ID: contracts.ID(len(m.asks)), Submit: now, Nodes: 1 + rng.IntN(m.hosts), PerHost: rng.IntN(4) == 0,
			Work: math.Exp(6 * rng.Float64()),
		}
		fastest := m.spec.Cap
		if fastest == 0 || fastest > m.spec.CPUs {
			fastest = m.spec.CPUs
		}
		r.SLA.Deadline = r.Work / (fastest * m.spec.Speed) * pick(rng, 1, 1, 1.3, 4, 0.8)
		r.SLA.Budget = bank.Micros(1 + rng.Int64N(pick(rng, int64(1e2), 1e5, 1e7)))
		r.SLA.Soft = rng.IntN(3) == 0
		r.SLA.Penalty = contracts.Penalty{Rate: pick(rng, 0, 0, 1e-3, 1), Max: pick(rng, 0.1, math.Inf(1))}
		if rng.IntN(4) == 0 {
			r.Needs.Max.CPU = 0.1 + rng.Float64()
		}
		if rng.IntN(4) == 0 {
			r.Needs.Min.Memory, r.Needs.Max.Memory = 3*rng.Float64(), 3+3*rng.Float64()
		}
		if rng.IntN(8) == 0 {
			r.Needs.Min.CPU = 0.1 * rng.Float64()
		}
		truth := r.Work
		if rng.IntN(4) == 0 {
			truth *= 0.3 + 1.4*rng.Float64()
		}
		if r.NodeRate() > 0 {
			m.asks = append(m.asks, ask{r, truth})
		}
	}
	return m
}

// A played is the result of a trial.
type played struct {
	ledger    *bank.Ledger
	broker    *Broker
	users     []bank.Account
	decisions []contracts.Decision // one per request; placements are copies
}

// open makes the market of m.
func (m *trial) open(t testing.TB) *played {
	t.Helper()
	fail := func(err error) {
		if err != nil {
			t.Fatalf("%v: %v", m, err)
		}
	}
	must := func(a bank.Account, err error) bank.Account { fail(err); return a }
	l := bank.New(nil)
	c := Config{
		Provider: must(l.Account("provider")), Window: m.window, Teller: l,
		Ties: rand.New(rand.NewPCG(m.seed, 2)), Availability: m.churn,
	}
	for h := range m.hosts {
		spec := m.spec
		spec.Name = fmt.Sprintf("h%d", h)
		c.Fleet = append(c.Fleet, sim.New(spec))
		c.Owners = append(c.Owners, must(l.Account("host:"+spec.Name)))
	}
	users := make([]bank.Account, 3)
	for u := range users {
		users[u] = must(l.Account(fmt.Sprintf("user:%d", u)))
		fail(l.Mint(0, users[u], bank.Micros(1e9)))
	}
	if m.funds > 0 {
		funds, err := bank.Dollars(m.funds)
		fail(err)
		fail(l.Mint(0, c.Provider, funds))
	}
	var err error
	bid, err := bidding.Table(nil).New("cheapest", noOptions)
	fail(err)
	c.Policy, err = policies.Table(bid, rand.New(rand.NewPCG(m.seed, 3))).New(m.policy, noOptions)
	fail(err)
	c.Sharing, err = sharing.Table().New("auction", noOptions)
	fail(err)
	c.Payment, err = Payments().New(m.payment, nil)
	fail(err)
	c.Forecast, err = forecast.Table().New("chebyshev", nil)
	fail(err)

	return &played{ledger: l, broker: New(c), users: users}
}

// play runs m to its end and calls check after every step, if it is not nil.
func (m *trial) play(t testing.TB, check func(p *played)) *played {
	t.Helper()
	return m.playIn(t, m.open(t), check)
}

// playIn is like play, but in an open market.
func (m *trial) playIn(t testing.TB, p *played, check func(p *played)) *played {
	t.Helper()
	fail := func(err error) {
		if err != nil {
			t.Fatalf("%v: %v", m, err)
		}
	}
	step := func() {
		if check != nil {
			check(p)
		}
	}
	for i := range m.asks {
		r := m.asks[i].Request
		r.Owner = p.users[i%len(p.users)]
		for p.broker.Next() <= r.Submit {
			fail(p.broker.Advance(p.broker.Next()))
			step()
		}
		fail(p.broker.Advance(r.Submit))
		d, err := p.broker.Submit(r.Submit, &r, hosts.Task{Work: m.asks[i].truth})
		fail(err)
		d.Placements = append([]contracts.Placement(nil), d.Placements...)
		p.decisions = append(p.decisions, *d)
		step()
	}
	for !math.IsInf(p.broker.Next(), 1) {
		fail(p.broker.Advance(p.broker.Next()))
		step()
	}
	return p
}
