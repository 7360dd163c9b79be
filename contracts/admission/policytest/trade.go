package policytest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/broker"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/sim"
	"bourse/market"
)

// A Trade is a job in the golden cases of mechanisms, with amounts in micro-dollars.
type Trade struct {
	ID, User int64
	Submit   float64
	Nodes    int
	Estimate float64 // estimated runtime; 0 means the runtime
	Runtime  float64
	Deadline float64
	Budget   int64
	Bid      *int64 // bid in nano-dollars per node and second
	Class    string
	Lead     float64
	Memory   float64 // memory of each node, as a fraction of the host's memory
}

// A Traded is the outcome of a trade.
type Traded struct {
	Refused contracts.Reason   // None if the trade was admitted or is still open
	Numbers map[string]float64 // numbers of the rejection
	Settled *contracts.Settled
	Verdict map[string]any // verdict of the settlement
	Rates   []market.Rate  // rates of the first placements
	ByNode  []int64        // micro-dollars paid to the host of each node, if the trade was not interrupted
	Stays   [][3]float64   // start, end and micro-dollars per node of each stay on hosts
}

// A Market is a real market: a broker with simulated hosts of one processor, in which trades are
// submitted in order.
type Market struct {
	Broker  *broker.Broker
	Traded  map[int64]*Traded
	Cleared []map[string]float64 // results of clearings, with their times
	Entries []bank.Entry
}

// Append implements [bank.Journal].
func (m *Market) Append(e *bank.Entry) error {
	copied := *e
	copied.Moves, copied.Note = slices.Clone(e.Moves), slices.Clone(e.Note)
	m.Entries = append(m.Entries, copied)
	return nil
}

// Deal runs the trades in a market of n hosts until all have ended. The market has the given
// policy, sharing rule and payment rule.
func Deal(t TB, n int, cpus float64, p contracts.Policy, share, payment string, trades []Trade) *Market {
	t.Helper()
	m := &Market{Traded: map[int64]*Traded{}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	l := bank.New(m)
	c := broker.Config{Policy: p, Teller: l, Notes: true, Window: 300, Ties: rand.New(rand.NewPCG(0, 0))}
	account := func(name string) bank.Account {
		a, err := l.Account(name)
		must(err)
		return a
	}
	c.Provider = account("provider")
	for h := range n {
		spec := hosts.Spec{Name: fmt.Sprintf("h%02d", h), CPUs: cpus, Speed: 1, Room: hosts.Resources{Memory: 1}}
		c.Fleet, c.Owners = append(c.Fleet, sim.New(spec)), append(c.Owners, account("host:"+spec.Name))
	}
	var err error
	c.Sharing, err = sharing.Table().New(share, func(any) error { return nil })
	must(err)
	c.Payment, err = broker.Payments().New(payment, nil)
	must(err)
	user := account("user:0")
	must(l.Mint(0, user, bank.Micros(1e15)))
	m.Broker = broker.New(c)
	trades = slices.Clone(trades)
	slices.SortStableFunc(trades, func(a, b Trade) int { return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.ID, b.ID)) })
	late := m.Broker.Late(func() bool { return len(trades) > 0 })
	for {
		next, tick := math.Inf(1), late.Next()
		if len(trades) > 0 {
			next = trades[0].Submit
		}
		switch at := m.Broker.Next(); {
		case math.IsInf(min(at, next, tick), 1):
			m.read()
			return m
		case at <= min(next, tick):
			must(m.Broker.Advance(at))
		case next <= tick:
			must(m.Broker.Advance(next))
			m.submit(t, &trades[0], user)
			trades = trades[1:]
		default:
			must(errors.Join(m.Broker.Advance(tick), late.Advance(tick)))
		}
	}
}

func (m *Market) submit(t TB, j *Trade, user bank.Account) {
	t.Helper()
	j.Estimate = cmp.Or(j.Estimate, j.Runtime)
	r := contracts.Request{
		ID: contracts.ID(j.ID), Owner: user, User: j.User, Class: j.Class, Submit: j.Submit, Work: j.Estimate, Nodes: j.Nodes, PerHost: true, Lead: j.Lead,
		SLA: contracts.SLA{Budget: bank.Micros(j.Budget), Deadline: j.Deadline, Penalty: contracts.Penalty{Max: math.Inf(1)}},
	}
	r.Needs.Min.Memory = j.Memory
	out := &Traded{}
	m.Traded[j.ID] = out
	d, err := m.Broker.Submit(j.Submit, &r, hosts.Task{Work: cmp.Or(j.Runtime, j.Estimate)})
	if err != nil {
		t.Fatal(err)
	}
	out.refuse(d)
}

func (d *Traded) refuse(by *contracts.Decision) {
	d.Refused, d.Numbers = by.Reason, map[string]float64{}
	for _, n := range by.Numbers {
		name, x := n.Value()
		d.Numbers[name] = x
	}
}

// read sets the outcomes of the trades from the ledger and the broker.
func (m *Market) read() {
	for i := range m.Broker.Ended() {
		c := &m.Broker.Ended()[i]
		m.Traded[int64(c.ID)].Settled = c
	}
	for _, r := range m.Broker.Refused() {
		m.Traded[int64(r.ID)].refuse(&r.Decision)
	}
	type open struct {
		from  float64
		nodes int
	}
	runs := map[int64]*open{}
	spans := map[int64][]open{}
	leave := func(id int64, at float64) {
		if o := runs[id]; o != nil {
			delete(runs, id)
			spans[id] = append(spans[id], *o)
			m.Traded[id].Stays = append(m.Traded[id].Stays, [3]float64{o.from, at, 0})
		}
	}
	for i := range m.Entries {
		e := &m.Entries[i]
		var note map[string]any
		_ = json.Unmarshal(e.Note, &note)
		out := m.Traded[e.Contract]
		on, _ := note["on"].([]any)
		switch e.Kind {
		case bank.Admit, bank.Moved:
			if off, _ := note["off"].(bool); off {
				leave(e.Contract, e.Time)
				continue
			}
			o := &open{from: e.Time}
			bid := 0.0
			for _, x := range on {
				if f, ok := x.(float64); ok {
					bid = f
					continue
				}
				o.nodes++
				if e.Kind == bank.Admit {
					out.Rates = append(out.Rates, market.Rate(bid))
				}
			}
			runs[e.Contract] = o
		case bank.Cleared:
			line := map[string]float64{}
			_ = json.Unmarshal(e.Note, &line)
			line["time"] = e.Time
			m.Cleared = append(m.Cleared, line)
		case bank.Settle:
			leave(e.Contract, e.Time)
			out.Verdict = note
			for _, mv := range e.Moves {
				if mv.To != "user:0" {
					out.ByNode = append(out.ByNode, mv.Amount.Micros())
				}
			}
			k := 0
			for s := range out.Stays {
				if k < len(out.ByNode) && out.Stays[s][1] > out.Stays[s][0] {
					out.Stays[s][2] = float64(out.ByNode[k])
					k += spans[e.Contract][s].nodes
				}
			}
		}
	}
}

// State returns the state of a trade in the words used by the cases.
func (d *Traded) State() string {
	c := d.Settled
	switch {
	case d.Refused != contracts.None:
		return "refused"
	case d.Verdict["exhausted"] == true:
		return "budget used up"
	case c == nil:
		return "open"
	case c.Outcome == contracts.Cancelled:
		return "interrupted"
	}
	return c.Outcome.String()
}
