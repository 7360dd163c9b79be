package booked

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/market"
	"bourse/market/clearing"
)

// noWindow means that the host does not have enough free units for the request within the
// windows on sale.
const noWindow contracts.Reason = "no room in any window"

// mostAhead is the number of windows on sale if the option ahead is 0.
const mostAhead = 1 << 20

// A Curve gives the price of the next node-second of a window, by the number of its
// node-seconds already sold. The price of a window must not fall as more node-seconds are
// sold.
type Curve interface {
	Price(window int, sold, of float64) market.Rate
}

// WindowsOptions are the options of windows.
type WindowsOptions struct {
	clearing.Curve `yaml:",inline"`
	Prices         []float64 `yaml:"prices" validate:"dive,gt=0,max=1e6" doc:"prices by window that replace low, $ per node and second; low applies beyond the list"`
	Width          float64   `yaml:"width" validate:"min=1,max=1e9" doc:"length of a window, s"`
	Ahead          int       `yaml:"ahead" validate:"min=0,max=1048576" doc:"windows on sale, including the current one; 0 for all"`
	CancelFee      float64   `yaml:"cancel_fee" validate:"min=0,max=1" doc:"minimum fraction of the price charged for a cancelled contract; more if a larger part of the interval has passed"`
}

// windows sells forward reservations. Time is divided into windows. The price of a window
// depends on the number of its node-seconds that are sold. A request buys n nodes for its
// estimated runtime, in the cheapest interval between its earliest start and its deadline.
// Bookings never move. If a contract ends early, the unused rest of its booking is on sale
// again and no longer counts as sold.
type windows struct {
	bookings
	o       WindowsOptions
	curve   Curve
	first   int      // number of the window of sold[0]
	sold    []window // sales in the current and later windows; nothing has been sold in windows after the last element
	gaps    []gap    // scratch
	said    contracts.Decision
	numbers contracts.Numbers
	place   [1]contracts.Placement
	pending *booking // booking that the policy has returned in a Book action
}

// A window records the number of node-seconds sold in one window.
type window struct {
	seconds float64     // node-seconds
	price   market.Rate // price of the next node-second
}

// A gap is a period in which a request can start.
type gap struct{ from, to float64 }

// newWindows returns a windows policy with the decoded options.
func newWindows(decode func(any) error, _ bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	p := &windows{o: WindowsOptions{Curve: clearing.DefaultCurve(), Width: 3600, CancelFee: 0.1}}
	if err := decode(&p.o); err != nil {
		return nil, err
	}
	list := &listed{p.o.Curve, p.o.Prices}
	for i := range p.o.Prices {
		if c := list.of(i); c.Validate() != nil {
			return nil, fmt.Errorf("prices: found %v, want at most high, %v", c.Low, c.High)
		}
	}
	p.curve = list
	return p, p.o.Validate()
}

// listed are list prices.
type listed struct {
	clearing.Curve
	prices []float64 // prices that replace Low, by window
}

// of returns the curve of a window.
func (l *listed) of(window int) clearing.Curve {
	c := l.Curve
	if window < len(l.prices) {
		c.Low = l.prices[window]
	}
	return c
}

// Price implements [Curve].
func (l *listed) Price(window int, sold, of float64) market.Rate {
	load := max(0, min(1, sold/of))
	if window >= len(l.prices) {
		return l.At(load)
	}
	c := l.of(window)
	return c.At(load)
}

// Next implements [contracts.Policy].
func (p *windows) Next() (at float64, last bool) { return p.next(), false }

// Handle implements [contracts.Policy].
func (p *windows) Handle(now float64, e contracts.Event, m contracts.Market) []contracts.Action {
	p.actions = p.actions[:0]
	switch e.Kind {
	case contracts.Submitted:
		p.see(m.Hosts())
		r := m.Request(e.Contract)
		x, verb := p.decide(now, r), contracts.Refuse
		if p.pending = x; x != nil {
			x.contract, verb = e.Contract, contracts.Book
		}
		p.actions = append(p.actions, contracts.Action{Verb: verb, Contract: e.Contract, Decision: &p.said})
	case contracts.Continue:
		if x := p.pending; x != nil && p.said.Verdict == contracts.Accept {
			p.add(x)
			p.sell(x, x.from, 1)
			p.carry(now, nil)
		}
		p.pending = nil
	case contracts.Done:
		p.finished(now, e.Contract)
	case contracts.Tick:
		p.carry(now, func(x *booking) { p.sell(x, min(now, x.to), -1) })
	case contracts.Withdrawn:
		if x := p.withdraw(now, e.Contract, p.o.CancelFee); x != nil {
			p.sell(x, max(now, x.from), -1)
		}
	}
	return p.actions
}

// decide decides r and returns its booking, unless r is refused. It reports the numbers start,
// the time of the start, and ask, the price of the cheapest interval in $. It reports these
// numbers even if r is refused because of the price.
func (p *windows) decide(now float64, r *contracts.Request) *booking {
	p.forget(now)
	p.said, p.numbers = contracts.Decision{}, p.numbers[:0]
	length, opens, due := p.span(r), max(now, r.Opens()), r.Due()
	switch p.said.Reason = p.wide(r); {
	case p.said.Reason != contracts.None:
		return nil
	case opens+length > due:
		p.said.Reason = contracts.TooLate
		return nil
	}
	from, cost, ok := p.cheapest(r.Nodes, length, opens, due)
	if !ok {
		p.said.Reason = noWindow
		return nil
	}
	ask := micros(cost / 1e3)
	if ask > r.SLA.Budget.Float64() {
		p.said.Reason, p.said.Numbers = contracts.TooDear, append(p.numbers, contracts.Measured("ask", ask))
		return nil
	}
	p.place[0] = contracts.Placement{Host: 0, Nodes: r.Nodes}
	p.said = contracts.Decision{Verdict: contracts.Accept, Placements: p.place[:], Numbers: append(p.numbers, contracts.Measured("start", from))}
	p.said.Price(ask)
	return &booking{units: r.Nodes, from: from, to: from + length}
}

// cheapest returns the start of the cheapest interval for n nodes and its cost in nano-dollars.
// Ties go to the earliest interval. The candidates for the start are opens, the boundaries of
// windows and the ends of bookings. Further candidates are the boundaries, the starts of
// bookings and the deadline, each minus the length.
func (p *windows) cheapest(n int, length, opens, due float64) (start, cost float64, ok bool) {
	width, ahead := p.o.Width, p.o.Ahead
	if ahead == 0 {
		ahead = mostAhead
	}
	until := min(due, float64(p.first+ahead)*width)
	// After the last sold interval and the last listed price, the cost depends only on the
	// position within a window.
	quiet := max(opens, float64(max(p.first+len(p.sold), len(p.o.Prices)))*width) + width
	p.gaps = p.room(p.gaps[:0], n)
	cost = math.Inf(1)
	k := 0 // index of the current gap
	try := func(from float64) {
		if from < opens || from+length > until {
			return
		}
		for k > 0 && from < p.gaps[k].from {
			k--
		}
		for from >= p.gaps[k].to {
			k++
		}
		if from < p.gaps[k].from || from+length > p.gaps[k].to {
			return
		}
		// Sums that differ only by rounding count as equal.
		if c := p.cost(n, from, from+length, cost); c < cost*(1-rounding) || from < start && c <= cost*(1+rounding) {
			start, cost = from, c
		}
	}
	try(opens)
	for w := p.at(opens); float64(w)*width <= min(until, quiet); w++ {
		try(float64(w) * width)
	}
	for w := p.at(opens + length); float64(w)*width <= min(until, quiet+length); w++ {
		try(before(float64(w)*width, length))
	}
	for i := range p.steps {
		if s := &p.steps[i]; s.units < 0 {
			try(s.at)
		}
	}
	for i := range p.steps {
		if s := &p.steps[i]; s.units > 0 {
			try(before(s.at, length))
		}
	}
	if !math.IsInf(due, 1) {
		try(before(due, length))
	}
	return start, cost, !math.IsInf(cost, 1)
}

// before returns the latest start of an interval of the given length that ends by end.
func before(end, length float64) float64 {
	from := end - length
	for from+length > end {
		from = math.Nextafter(from, math.Inf(-1))
	}
	return from
}

// cost returns the price of n nodes in [from, to), in nano-dollars. In each window, node i
// pays as if i nodes had already bought the same time. If the price exceeds most, cost may
// return any higher number.
func (p *windows) cost(n int, from, to, most float64) (sum float64) {
	width, of := p.o.Width, float64(p.units)*p.o.Width
	first := p.at(from)
	for w := first; float64(w)*width < to; w++ { // first compute the price as if all nodes were the first
		sum += float64(n) * float64(p.window(w).price) * (min(to, float64(w+1)*width) - max(from, float64(w)*width))
	}
	if n == 1 || sum > most*(1+rounding) {
		return sum
	}
	least := sum
	sum = 0
	for w := first; float64(w)*width < to; w++ {
		at := p.window(w)
		o, rates := min(to, float64(w+1)*width)-max(from, float64(w)*width), at.price
		for i := 1; i < n; i++ {
			rates += p.curve.Price(w, at.seconds+float64(i)*o, of)
		}
		sum += float64(rates) * o
		if least += float64(rates-market.Rate(n)*at.price) * o; least > most*(1+rounding)*(1+rounding) {
			return least
		}
	}
	return sum
}

// at returns the window that contains t.
func (p *windows) at(t float64) int {
	w := int(t / p.o.Width)
	for float64(w)*p.o.Width > t {
		w--
	}
	for float64(w+1)*p.o.Width <= t {
		w++
	}
	return w
}

// window returns the sales of window w, which has not ended.
func (p *windows) window(w int) window {
	if i := w - p.first; i < len(p.sold) {
		return p.sold[i]
	}
	return window{price: p.curve.Price(w, 0, float64(p.units)*p.o.Width)}
}

// forget drops the windows that have ended.
func (p *windows) forget(now float64) {
	w := p.at(now)
	p.sold = slices.Delete(p.sold, 0, min(len(p.sold), w-p.first))
	p.first = w
}

// sell adds the node-seconds of x after time from to the sales, or subtracts them if sign is
// -1.
func (p *windows) sell(x *booking, from, sign float64) {
	width := p.o.Width
	for w := p.at(from); float64(w)*width < x.to; w++ {
		i := w - p.first
		for len(p.sold) <= i {
			p.sold = append(p.sold, p.window(p.first+len(p.sold)))
		}
		s := &p.sold[i]
		s.seconds += sign * float64(x.units) * (min(x.to, float64(w+1)*width) - max(from, float64(w)*width))
		s.price = p.curve.Price(w, s.seconds, float64(p.units)*width)
	}
}
