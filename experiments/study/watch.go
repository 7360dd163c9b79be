package study

import (
	"slices"

	"bourse/contracts"
	"bourse/hosts"
	"bourse/market"
)

// A watcher is a policy that wraps another policy and observes its price promises. For each
// percentile queried for a request, it observes the prices of the other bids on that host
// until the request's deadline.
type watcher struct {
	contracts.Policy
	now     float64
	about   *contracts.Request // request that was decided last
	hosts   []watched
	done    []asked
	highest market.Rate
}

// A watched is a host with promises that are still open.
type watched struct {
	id    hosts.ID
	price market.Rate
	open  []asked
}

// An asked is a promise made for a request.
type asked struct {
	promise
	id  contracts.ID
	due float64
	own market.Rate // current bid of the request on this host
}

// Handle implements [contracts.Policy].
func (w *watcher) Handle(now float64, e contracts.Event, m contracts.Market) []contracts.Action {
	w.pass(now)
	if e.Kind != contracts.Over { // after Over, the policy must not read the market; the event Freed follows at the same time
		w.look(m.Hosts())
	}
	return w.Policy.Handle(now, e, watchedMarket{m, w})
}

// Err returns the error that stopped the policy, if any.
func (w *watcher) Err() error {
	if f, ok := w.Policy.(interface{ Err() error }); ok {
		return f.Err()
	}
	return nil
}

// pass advances the time to now. It assumes that prices have not changed since the last call
// of look.
func (w *watcher) pass(now float64) {
	if now <= w.now {
		return
	}
	for i := range w.hosts {
		h := &w.hosts[i]
		left := h.open[:0]
		for _, p := range h.open {
			if until := min(now, p.due); until > w.now {
				p.stand((h.price - p.own).Float64(), until-w.now)
			}
			if p.due > now {
				left = append(left, p)
			} else {
				w.close(p)
			}
		}
		h.open = left
	}
	w.hosts = slices.DeleteFunc(w.hosts, func(h watched) bool { return len(h.open) == 0 })
	w.now = now
}

// look records the current bids and prices.
func (w *watcher) look(v contracts.View) {
	for i := range w.hosts {
		h := &w.hosts[i]
		h.price = v.Price(h.id)
		w.highest = max(w.highest, h.price)
		for k := range h.open {
			h.open[k].own = 0
		}
		for _, a := range v.On(h.id) {
			id := v.Contract(a.Contract).ID
			for k := range h.open {
				if h.open[k].id == id {
					h.open[k].own = a.Bid
				}
			}
		}
	}
}

// close marks p as done. It drops p if no time has passed since the query.
func (w *watcher) close(p asked) {
	if p.span > 0 {
		w.done = append(w.done, p)
	}
}

// told records that the policy has requested a percentile of a host's price.
func (w *watcher) told(v contracts.View, h hosts.ID, g, price float64) {
	r := w.about
	if r == nil || !(r.Due() > w.now) {
		return
	}
	i := slices.IndexFunc(w.hosts, func(o watched) bool { return o.id == h })
	if i < 0 {
		i = len(w.hosts)
		w.hosts = append(w.hosts, watched{id: h, price: v.Price(h)})
	}
	w.highest = max(w.highest, w.hosts[i].price)
	w.hosts[i].open = append(w.hosts[i].open, asked{promise: promise{g: g, price: max(0, price)}, id: r.ID, due: r.Due()})
}

// end closes the open promises. It is called after the last event.
func (w *watcher) end() {
	for _, h := range w.hosts {
		for _, p := range h.open {
			w.close(p)
		}
	}
	w.hosts = nil
}

// A watchedMarket wraps a market and reports queries to w.
type watchedMarket struct {
	contracts.Market
	w *watcher
}

// Request implements [contracts.Market].
func (m watchedMarket) Request(i int32) *contracts.Request {
	m.w.about = m.Market.Request(i)
	return m.w.about
}

// Hosts implements [contracts.Market].
func (m watchedMarket) Hosts() contracts.View { return watchedView{m.Market.Hosts(), m.w} }

type watchedView struct {
	contracts.View
	w *watcher
}

// Percentile implements [contracts.View].
func (v watchedView) Percentile(h hosts.ID, g float64) float64 {
	price := v.View.Percentile(h, g)
	v.w.told(v.View, h, g, price)
	return price
}

// Pending returns the result of the wrapped policy's method Pending, if there is one (see
// [bourse/contracts/broker.Broker.Late]).
func (w *watcher) Pending(idle bool) bool {
	p, ok := w.Policy.(interface{ Pending(idle bool) bool })
	return !ok || p.Pending(idle)
}
