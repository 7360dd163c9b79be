package verify

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Held describes the resources of hosts other than processors. A task holds them from its
// start to its end. Each resource that has a price has its own auction.
type Held struct {
	Names  []string             // names of the resources: memory, disk, bandwidth, then the countable resources in alphabetical order
	Rooms  []map[string]float64 // amount of each resource on each host; the list repeats for further hosts
	Priced map[string]bool
	Floors map[string]float64 // minimum price of each resource, in $/s per unit
}

// room returns the amount of each resource on a host.
func (h *Held) room(host string) map[string]float64 {
	i, ok := number(host)
	if !ok {
		i = 0
	}
	return h.Rooms[i%len(h.Rooms)]
}

// A Licence describes the units of one resource that belong to the whole market.
type Licence struct {
	Units float64
	Floor float64 // minimum price in $/s per unit
}

// licences checks that the market has the licences of d, that no other contract holds them, and that
// the terms of d state their floor price. It counts them until d ends.
func (t *trail) licences(d *contract) (found, want string) {
	floor := 0.0
	for _, name := range slices.Sorted(maps.Keys(d.terms.Licences)) {
		n, l := d.terms.Licences[name], t.run.Rules.Licences[name]
		if n < 0 || t.licensed[name]+n > l.Units {
			return fmt.Sprintf("%v units of licence %s held", t.licensed[name]+n, name), fmt.Sprintf("at most %v, the number of units in the market", l.Units)
		}
		floor += n * l.Floor
	}
	if !near(d.terms.LicenceFloor, floor, 1e-12*floor) {
		return fmt.Sprintf("a floor price of %v $/s for licences", d.terms.LicenceFloor), fmt.Sprintf("%v, the sum of the market's floor prices", floor)
	}
	t.license(d, 1)
	return "", ""
}

// license adds the licences of d to those held, or subtracts them if sign is -1.
func (t *trail) license(d *contract, sign float64) {
	for name, n := range d.terms.Licences {
		if t.licensed == nil {
			t.licensed = make(map[string]float64)
		}
		t.licensed[name] += sign * n
	}
}

// A vector contains the amounts of each resource that a task holds, claims and bids.
// Processors come first, followed by the resources in the order of [Held.Names].
type vector struct {
	holds  []float64 // amounts that the task holds
	claims []float64 // fractions of the host that the task claims; 0 if the resource is not claimed or has no price
	bids   []int64   // bids in nano-dollars per second
	met    []int64   // lower bounds of the sums of the other bids when the task was placed, in nano-dollars per second
	over   []int64   // maximum excess of these sums over met, in nano-dollars per second
	least  float64   // floor price of the resources that the task holds, in nano-dollars per second
}

// order sorts the names of resources in the order of [Held.Names] and removes duplicates.
func order(names []string) []string {
	rank := map[string]int{"memory": -3, "disk": -2, "bandwidth": -1}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(rank[a], rank[b]), cmp.Compare(a, b)) })
	return slices.Compact(names)
}

// bid sets the bids of v for a task that bids b. It bids b for the resource with the largest claim. The
// bids for the other claimed resources are proportional to their claims, rounded toward zero and at least 1.
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

// own returns the bid of t for processors.
func (t *task) own() int64 {
	if t.vector != nil {
		return t.vector.bids[0]
	}
	return t.bid
}

// at returns the value for a node from the field with the given name. The field contains
// either one number for all nodes or a list with one number per node.
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

// claim sets the vector of node i of contract d to the amounts in the contract's terms, for
// the host of the node. It checks that the host has enough of each resource for all its tasks.
// It also checks the prices in the terms.
func (t *trail) claim(n *task, d *contract, i int, now float64) (found, want string) {
	r, h := t.run.Rules, n.host
	if r.Held == nil {
		return "", ""
	}
	size := len(r.Held.Names) + 1
	v := &vector{holds: make([]float64, size), claims: make([]float64, size), bids: make([]int64, size), met: make([]int64, size), over: make([]int64, size)}
	v.claims[0] = r.usable(h.cpus, n.most) / h.cpus
	if h.held == nil {
		h.held, h.sums, h.gone = make([]float64, size), make([]int64, size), make([]int64, size)
	}
	for _, names := range [...]map[string]any{d.terms.Holds, d.terms.Met} {
		for name, x := range names {
			if !slices.Contains(r.Held.Names, name) {
				return fmt.Sprintf("%v of %s held", x, name), fmt.Sprintf("only %v", r.Held.Names)
			}
		}
	}
	several, full := false, r.Held.room(h.name)
	for k, name := range r.Held.Names {
		k++
		x, ok := at(d.terms.Holds, name, i)
		if !ok || x < 0 {
			return fmt.Sprintf("%v of %s held", d.terms.Holds[name], name), "an amount, or one for each node"
		}
		if v.holds[k] = x; x == 0 {
			continue
		}
		if held, room := h.held[k]+x-h.leaving(now, k), full[name]; held > room {
			return fmt.Sprintf("%v of %s held on %q", held, name, h.name), fmt.Sprintf("at most %v, the full capacity of the host", room)
		}
		v.least += 1e9 * r.Held.Floors[name] * x
		if !r.Held.Priced[name] {
			continue
		}
		v.claims[k] = x / full[name]
		v.met[k] = h.sums[k] - h.ending(now, k)
		if v.over[k] = h.sums[k] - v.met[k]; now-h.ended <= instant*now {
			v.over[k] += h.gone[k]
		}
		if met, ok := at(d.terms.Met, name, i); !ok || int64(met) < v.met[k] || int64(met) > v.met[k]+v.over[k] {
			return fmt.Sprintf("a price of %v for %s on %q", d.terms.Met[name], name, h.name), fmt.Sprintf("%d nano-dollars per second, the sum of the bids for this resource", v.met[k])
		}
		several = true
	}
	v.least += 1e9 * d.terms.LicenceFloor / float64(max(1, len(d.terms.on)))
	if several || v.least > 0 {
		v.bid(n.bid)
		n.vector = v
	}
	n.holds = v.holds
	return "", ""
}

// ending returns the sum of the bids for resource k of the tasks on h that end at now. The
// entries for their ends may come later in the ledger.
func (h *machine) ending(now float64, k int) (sum int64) {
	for _, n := range h.alone {
		if n.vector != nil && n.ends(now) {
			sum += n.vector.bids[k]
		}
	}
	return sum
}

// leaving returns the amount of resource k that is held by the tasks on h that end at now.
func (h *machine) leaving(now float64, k int) (sum float64) {
	for _, n := range h.alone {
		if n.holds != nil && n.ends(now) {
			sum += n.holds[k]
		}
	}
	return sum
}

// ends reports whether the work of t is done at now, except for rounding.
func (t *task) ends(now float64) bool {
	return t.rate > 0 && (t.need-t.done)/t.rate <= instant*now
}

// count adds the bids of n to the prices of its host, or subtracts them if sign is -1.
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

// hold adds the amounts that t holds to the amounts held on its host, or subtracts them if sign is -1.
func (t *task) hold(sign float64) {
	for k, x := range t.holds {
		t.host.held[k] += sign * x
	}
}

// rebid replaces the bid of n with b.
func (m *market) rebid(n *task, at float64, b int64) {
	m.count(n, at, -1)
	if n.bid = b; n.vector != nil {
		n.vector.bid(b)
	}
	m.count(n, at, 1)
}

// free records that n leaves h at time at. The price for a task that arrives at this time may
// still include the bids of n.
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

// pays returns the payment of n in nano-dollars per second, before it is multiplied by the
// task's fraction part. The task n, or another task on its host, has a vector. The argument
// got is the fraction of the processors that n receives. The argument spare means that some
// processors are idle under the rule scarce. If high is true, pays adds the possible excess
// over the known prices at the start of the task.
func (m *market) pays(n *task, got float64, spare, high bool) float64 {
	h, rule := n.host, m.rules.Payment
	term := func(own, price, met, over int64, q float64) float64 {
		switch rule {
		case "spot", "scarce", "percentile":
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
	most := term(n.own(), max(h.price, n.own()+n.promised), n.met, n.over, got)
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

// floors compares the floor prices of held resources in the terms of d with the floor prices
// of the hosts.
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
