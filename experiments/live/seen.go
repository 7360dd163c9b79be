package live

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"bourse/contracts"
	"bourse/hosts"
	"bourse/hosts/remote"
)

// A seen is the state published for readers that do not wait for the loop: orders for hosts,
// prices and events.
type seen struct {
	check float64 // time of the next check for silent hosts; only the loop uses it

	mu        sync.Mutex
	hosts     map[string]*hostSeen
	states    map[int64]string // states of open contracts
	ended     map[string]int   // number of contracts by final state, since the market was opened
	broken    map[string]int   // number of violated contracts by cause
	asking    float64          // time at which the current call to the bank started, or 0
	unsettled int              // number of calls that the bank has refused
	past      past
	events    []Event
	last      int64         // number of the last event
	more      chan struct{} // closed when a new event is published
}

// A hostSeen is the published state of one host.
type hostSeen struct {
	orders  remote.Orders // orders at time at
	at      float64
	here    bool
	removed bool
	closed  bool
	reach   reach
	drained bool
	whole   bool // whether the host has whole cores

	urged   bool          // whether the host must be answered immediately
	changed chan struct{} // closed when the host's orders have changed
	heard   float64       // time of the last report, by the market's clock
	told    remote.Told   // last report about itself
	pin     string
	prices  []Price

	delivered delivered
}

// A Price is the price of a host from a given time on.
type Price struct {
	At    float64 `json:"at" doc:"time from which the price applies"`
	Price float64 `json:"price" doc:"price in $/s, which is the sum of all bids"`
}

// An Event is a change in the market that readers may follow.
type Event struct {
	Seq      int64   `json:"seq"`
	At       float64 `json:"at" doc:"time of the event"`
	Kind     string  `json:"kind" doc:"contract or host"`
	Contract int64   `json:"contract,omitempty"`
	Host     string  `json:"host,omitempty"`
	State    string  `json:"state" doc:"state of the contract or, for a host, here or away"`
}

const (
	mostPrices = 1 << 14 // maximum number of prices kept per host
	mostEvents = 1 << 12
)

// init initializes the published state when a market is opened. The time while the market was
// down does not count as silence of hosts.
func (s *seen) init(m *Market) {
	s.hosts, s.states, s.ended, s.more = make(map[string]*hostSeen), make(map[int64]string), make(map[string]int), make(chan struct{})
	s.broken = make(map[string]int)
	s.past.init()
	s.last = m.log.seq << 20 // higher than any event number before the restart
	s.publish(m, m.core.now)
}

// publish updates the published state with the results of a step.
func (s *seen) publish(m *Market, now float64) {
	k := m.core
	s.mu.Lock()
	defer s.mu.Unlock()
	var changed []int64
	s.unsettled = len(k.unsettled)
	for id, c := range k.open {
		state := "waiting"
		switch phase, open := k.broker.Phase(contracts.ID(id)); {
		case !open:
			state = c.State // even if the contract is not settled yet
		case phase == contracts.Running:
			state = "running"
		}
		if s.states[id] != state {
			s.states[id] = state
			changed = append(changed, id)
		}
	}
	slices.Sort(changed)
	for _, id := range changed {
		s.event(Event{At: now, Kind: "contract", Contract: id, State: s.states[id]})
	}
	for _, c := range k.ended {
		delete(s.states, c.ID)
		s.ended[c.State]++
		if c.State == contracts.Late.State() && c.Served != nil {
			s.broken[c.Served.Cause]++
		}
		s.past.end(c, now)
		s.event(Event{At: c.Ended, Kind: "contract", Contract: c.ID, State: c.State})
	}
	v := k.broker.View()
	s.past.mark(k, v, now)
	for i, h := range k.hosts {
		name := h.Spec.Name
		p := s.hosts[name]
		if p == nil {
			p = &hostSeen{changed: make(chan struct{}), heard: m.world.Clock.Now()}
			s.hosts[name] = p
		}
		p.pin, p.whole, p.reach = h.Pin, h.Spec.Whole, h.reach
		if here := !h.gone; here != p.here {
			p.here = here
			s.event(Event{At: now, Kind: "host", Host: name, State: map[bool]string{true: "here", false: "away"}[here]})
		}
		o := h.orders
		if price := v.Price(hosts.ID(i)).Float64(); len(p.prices) == 0 || p.prices[len(p.prices)-1].Price != price {
			if len(p.prices) >= mostPrices {
				p.prices = slices.Delete(p.prices, 0, mostPrices/4)
			}
			p.prices = append(p.prices, Price{now, price})
		}
		same := func(a, b remote.Wanted) bool { return a.Name == b.Name }
		news := o.Deal != p.orders.Deal || !slices.EqualFunc(o.Wanted, p.orders.Wanted, same) || o.Session != p.orders.Session || h.removed != p.removed
		p.orders, p.at, p.removed, p.closed, p.drained = o, now, h.removed, h.closed, h.drained
		if news {
			p.delivered.deal(&p.orders, v.On(hosts.ID(i)), v)
			p.change()
		}
	}
}

// Urge makes the market answer a host immediately while on is true. The caller uses this while
// it has orders for the host that the market itself does not publish.
func (m *Market) Urge(host string, on bool) {
	s := &m.seen
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.hosts[host]; p != nil && p.urged != on {
		if p.urged = on; on {
			p.change()
		}
	}
}

// change notifies readers that the host has new orders.
func (p *hostSeen) change() {
	close(p.changed)
	p.changed = make(chan struct{})
}

func (s *seen) event(e Event) {
	s.last++
	e.Seq = s.last
	if len(s.events) >= mostEvents {
		s.events = slices.Delete(s.events, 0, mostEvents/4)
	}
	s.events = append(s.events, e)
	close(s.more)
	s.more = make(chan struct{})
}

// LastEvent returns the number of the last event.
func (m *Market) LastEvent() int64 {
	s := &m.seen
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// Events returns the stored events after the event with the given number. It waits until there
// is at least one.
func (m *Market) Events(ctx context.Context, after int64) ([]Event, error) {
	s := &m.seen
	for {
		s.mu.Lock()
		at, _ := slices.BinarySearchFunc(s.events, after+1, func(e Event, seq int64) int { return int(e.Seq - seq) })
		out, more := slices.Clone(s.events[at:]), s.more
		s.mu.Unlock()
		if len(out) > 0 {
			return out, nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Prices returns the prices of a host since the given time. The first price is the one in
// force at that time.
func (m *Market) Prices(name string, since float64) ([]Price, error) {
	s := &m.seen
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.hosts[name]
	if p == nil {
		return nil, ErrNoHost
	}
	at, found := slices.BinarySearchFunc(p.prices, since, func(p Price, t float64) int { return cmp.Compare(p.At, t) })
	if !found && at > 0 {
		at--
	}
	return slices.Clone(p.prices[at:]), nil
}

// silent returns one message for each host that has sent no report for too long. Each message
// states that the host is lost.
func (s *seen) silent(now float64, m *Market) (out []*letter) {
	if now < s.check {
		return nil
	}
	s.check = now + 1
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(s.hosts)) {
		if p := s.hosts[name]; p.here && now-p.heard > m.conf.Link.lostOf(p.whole) {
			out = append(out, newLetter(message{Gone: name}))
		}
	}
	return out
}
