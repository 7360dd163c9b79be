package verify

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Held are the resources of hosts other than processors. A task holds them from its start to its
// end, and those with a price have auctions of their own.
type Held struct {
	Names  []string           // memory, disk, bandwidth, then the countable ones by name
	Room   map[string]float64 // of each host
	Priced map[string]bool
	Floors map[string]float64 // minimum prices, $/s and unit
}

// A vector is what a task holds, and what it claims and bids for each resource: processors, then those
// of [Held.Names].
type vector struct {
	holds  []float64 // amounts
	claims []float64 // fractions of the host; 0 if not claimed or without a price
	bids   []int64   // nano-dollars per second
	met    []int64   // lower bounds of the other bids when it was placed,
	over   []int64   // and possible excess over them
	least  float64   // the floor price of what it holds, nano-dollars per second
}

// order sorts the names of resources in the order of [Held.Names], each once.
func order(names []string) []string {
	rank := map[string]int{"memory": -3, "disk": -2, "bandwidth": -1}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(rank[a], rank[b]), cmp.Compare(a, b)) })
	return slices.Compact(names)
}

// bid sets the bids of v for a bid of b: all of b for the resource of the largest claim, and for the
// others in proportion, rounded toward zero, but at least 1.
func (v *vector) bid(b int64) {
	most := slices.Max(v.claims)
	for k, a := range v.claims {
		switch v.bids[k] = 0; {
		case b == 0 || a == 0:
		case a == most:
			v.bids[k] = b
		default:
			v.bids[k] = max(1, int64(math.Floor(float64(b)*(a/most))))
		}
	}
}

// own returns the bid of n for processors.
func (n *task) own() int64 {
	if n.vector != nil {
		return n.vector.bids[0]
	}
	return n.bid
}

// at returns the value for a node under a name: a number for all nodes, or a list with one for each.
func at(of map[string]any, name string, node int) (x float64, ok bool) {
	switch value := of[name].(type) {
	case nil:
		return 0, true
	case float64:
		return value, true
	case []any:
		if node < len(value) {
			x, ok = value[node].(float64)
		}
	}
	return x, ok
}

// claim sets the vector of node i of d, on h, to what its terms say that it holds. It checks that all
// that is held on h fits, and the prices that d met.
func (t *trail) claim(n *task, d *contract, i int, now float64) (found, want string) {
	r, h := t.run.Rules, n.host
	if r.Held == nil {
		return "", ""
	}
	most := h.cpus
	for _, limit := range [...]float64{r.Cap, n.most} {
		if limit > 0 {
			most = min(most, limit)
		}
	}
	size := len(r.Held.Names) + 1
	v := &vector{holds: make([]float64, size), claims: make([]float64, size), bids: make([]int64, size), met: make([]int64, size), over: make([]int64, size)}
	v.claims[0] = most / h.cpus
	if h.held == nil {
		h.held, h.sums, h.gone = make([]float64, size), make([]int64, size), make([]int64, size)
	}
	for _, names := range [...]map[string]any{d.terms.Holds, d.terms.Met} {
		for name, x := range names {
			if !slices.Contains(r.Held.Names, name) {
				return fmt.Sprintf("%v of %s held", x, name), fmt.Sprintf("none but %v", r.Held.Names)
			}
		}
	}
	several := false
	for k, name := range r.Held.Names {
		k++
		x, ok := at(d.terms.Holds, name, i)
		if !ok || x < 0 {
			return fmt.Sprintf("%v of %s held", d.terms.Holds[name], name), "an amount, or one for each node"
		}
		if v.holds[k] = x; x == 0 {
			continue
		}
		if held, room := h.held[k]+x-h.leaving(now, k), r.Held.Room[name]; held > room {
			return fmt.Sprintf("%v of %s held on %q", held, name, h.name), fmt.Sprintf("at most %v, all that it has", room)
		}
		v.least += 1e9 * r.Held.Floors[name] * x
		if !r.Held.Priced[name] {
			continue
		}
		v.claims[k] = x / r.Held.Room[name]
		v.met[k] = h.sums[k] - h.ending(now, k)
		if v.over[k] = h.sums[k] - v.met[k]; now-h.ended <= instant*now {
			v.over[k] += h.gone[k]
		}
		if met, ok := at(d.terms.Met, name, i); !ok || int64(met) < v.met[k] || int64(met) > v.met[k]+v.over[k] {
			return fmt.Sprintf("a price of %v for %s on %q", d.terms.Met[name], name, h.name), fmt.Sprintf("%d nano-dollars per second, the sum of the bids for it", v.met[k])
		}
		several = true
	}
	if several || v.least > 0 {
		v.bid(n.bid)
		n.vector = v
	}
	n.holds = v.holds
	return "", ""
}

// ending returns the sum of the bids for resource k of the tasks on h that end now, whose entries may
// come later.
func (h *machine) ending(now float64, k int) (sum int64) {
	for _, n := range h.alone {
		if n.vector != nil && n.ends(h, now) {
			sum += n.vector.bids[k]
		}
	}
	return sum
}

// leaving is ending for the amounts that the tasks hold.
func (h *machine) leaving(now float64, k int) (sum float64) {
	for _, n := range h.alone {
		if n.holds != nil && n.ends(h, now) {
			sum += n.holds[k]
		}
	}
	return sum
}

// ends reports whether the work of n is done now, up to rounding.
func (n *task) ends(h *machine, now float64) bool {
	return n.rate > 0 && (n.need-n.done)/n.rate <= instant*now
}

// count adds the bids of n to the prices of its host, or removes them if sign is -1.
func (m *market) count(n *task, at float64, sign int64) {
	h := n.host
	h.price += sign * n.own()
	m.prices.change(at, sign*n.own())
	if n.vector != nil {
		for k, b := range n.vector.bids[1:] {
			h.sums[k+1] += sign * b
		}
	}
}

// hold adds what n holds to what is held on its host, or removes it if sign is -1.
func (n *task) hold(sign float64) {
	for k, x := range n.holds {
		n.host.held[k] += sign * x
	}
}

// rebid replaces the bid of n by b.
func (m *market) rebid(n *task, at float64, b int64) {
	m.count(n, at, -1)
	if n.bid = b; n.vector != nil {
		n.vector.bid(b)
	}
	m.count(n, at, 1)
}

// free records that n leaves h at a time, so that arrivals at that time may still have met its bids.
func (h *machine) free(n *task, at float64) {
	if h.ended != at {
		h.ended, h.freed = at, 0
		clear(h.gone)
	}
	h.freed += n.own()
	if n.vector != nil {
		for k, b := range n.vector.bids {
			h.gone[k] += b
		}
	}
}

// pays returns the payment of n, which has a vector or shares its host with a task that has one, in
// nano-dollars per second and before its part. Got is the fraction of the processors, spare means that
// some are idle under the rule scarce, and high counts the possible excess of prices that it met.
func (m *market) pays(n *task, got float64, spare, high bool) float64 {
	h, rule := n.host, m.rules.Payment
	term := func(own, price, met, over int64, q float64) float64 {
		switch rule {
		case "spot", "scarce":
			return q * float64(price-own)
		case "usage", "resource":
			return q * float64(price)
		case "admission":
			if high {
				met += over
			}
			return q * float64(met)
		case "bid":
			return float64(own)
		}
		return 0
	}
	most := term(n.own(), h.price, n.met, n.over, got)
	if spare {
		most = 1e9 * m.rules.Reserve * n.rate / h.speed
	}
	if v := n.vector; v != nil {
		for k, a := range v.claims {
			if k > 0 && a > 0 {
				most = max(most, term(v.bids[k], h.sums[k], v.met[k], v.over[k], a))
			}
		}
	}
	return min(float64(n.bid), most)
}

// several reports whether a task on h has a vector.
func (h *machine) several() bool {
	return slices.ContainsFunc(h.alone, func(n *task) bool { return n.vector != nil })
}

// floors compares the floor prices of held resources in the terms of d with those of the hosts.
func (t *trail) floors(d *contract) (found, want string) {
	if t.run.Rules.Held == nil || len(d.terms.Holds) == 0 {
		return "", ""
	}
	floors := maps.Clone(t.run.Rules.Held.Floors)
	maps.DeleteFunc(floors, func(_ string, x float64) bool { return x == 0 })
	if !maps.EqualFunc(d.terms.Floors, floors, func(a, b float64) bool { return near(a, b, 1e-12*b) }) {
		return fmt.Sprintf("floor prices %v $/s", d.terms.Floors), fmt.Sprintf("%v, the hosts' floor prices", floors)
	}
	return "", ""
}
