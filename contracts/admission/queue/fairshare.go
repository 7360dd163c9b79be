package queue

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"bourse/contracts"
	"bourse/contracts/bidding"
)

// fairshare orders the queue by the past usage of users, as Slurm's classic formula does:
// users who have used less than their share come first. Priorities are recomputed at each
// pass, and once per period while requests wait.
type fairshare struct {
	FairShareOptions
	tracker
	tree   *usageTree
	plan   plan
	ranked []ranked
}

// FairShareOptions are the options of fairshare.
type FairShareOptions struct {
	HalfLife float64            `yaml:"half_life" validate:"gt=0" doc:"time after which use counts half, s"`
	Period   float64            `yaml:"period" validate:"min=1" doc:"length of the periods in which use is added up, s"`
	Damping  float64            `yaml:"damping" validate:"gt=0" doc:"a higher value makes past use count less"`
	Age      float64            `yaml:"age" validate:"min=0" doc:"priority of a request that has waited for age_max"`
	AgeMax   float64            `yaml:"age_max" validate:"gt=0" doc:"wait beyond which age does not count, s"`
	Size     float64            `yaml:"size" validate:"min=0" doc:"priority of a request that needs the whole fleet"`
	Backfill string             `yaml:"backfill" validate:"oneof=none easy conservative" doc:"requests that may overtake others: none, those that delay not the first (easy) or no other (conservative)"`
	Shares   map[string]float64 `yaml:"shares" doc:"shares by the number of the user; 1 for all others"`
	Accounts map[string]Account `yaml:"accounts" doc:"tree of accounts by name, to which users belong by their numbers; others are at the root"`
}

// An Account is a node of the tree of accounts.
type Account struct {
	Parent string  `yaml:"parent" doc:"account above it; empty for the root"`
	Shares float64 `yaml:"shares" validate:"min=0" doc:"shares, relative to its siblings' shares"`
}

// A ranked is a waiting request with its priority.
type ranked struct {
	contract                int32
	factor, usage, priority float64
	submitted               float64
	id                      contracts.ID
}

func newFairShare(decode func(any) error, _ bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	o := FairShareOptions{HalfLife: 7 * 86400, Period: 300, Damping: 1, AgeMax: 7 * 86400, Backfill: "easy"}
	if err := decode(&o); err != nil {
		return nil, err
	}
	tree, err := newUsageTree(&o)
	return &fairshare{FairShareOptions: o, tracker: newTracker(), tree: tree}, err
}

// Handle implements [contracts.Policy].
func (p *fairshare) Handle(now float64, e contracts.Event, m contracts.Market) []contracts.Action {
	return p.handle(p, now, e, m)
}

// drop ends the usage by contract i.
func (p *fairshare) drop(now float64, i int32) {
	if s := p.slots[i]; s != nil {
		p.tree.hold(now, s.user, -s.nodes)
		delete(p.slots, i)
	}
}

// pass returns the next action.
func (p *fairshare) pass(now float64, m contracts.Market) []contracts.Action {
	v := m.Hosts()
	p.look(v)
	if len(m.Waiting()) == 0 {
		return nil
	}
	p.next = (math.Floor(now/p.Period) + 1) * p.Period
	p.rank(now, m)
	blocked, easy, slow := false, p.Backfill != "none", slowest(v)
	if easy {
		p.running(&p.plan, now)
	}
	for _, k := range p.ranked {
		r := m.Request(k.contract)
		if p.hopeless(now, r) {
			return p.refuse(k.contract, contracts.TooLate)
		}
		span := 0.0
		if blocked {
			span = r.Work / slow
		}
		if (!blocked || p.plan.fits(now, span, r.Nodes)) && p.start(r, v) {
			a := p.admit(now, k.contract, m, contracts.Measured("factor", k.factor), contracts.Measured("usage", k.usage), contracts.Measured("priority", k.priority))
			p.tree.hold(now, r.User, r.Nodes)
			return a
		}
		if !easy {
			return nil
		}
		if !blocked || p.Backfill == "conservative" {
			span = r.Work / slow
			at := p.plan.earliest(math.Nextafter(now, math.Inf(1)), span, r.Nodes)
			p.plan.add(at, at+span, -r.Nodes)
		}
		blocked = true
	}
	return nil
}

// rank lists the waiting requests in order. Unless backfilling is conservative, it omits those
// that need too many processors to start now. Only the first of these matters, because it may
// block the others.
func (p *fairshare) rank(now float64, m contracts.Market) {
	p.ranked = p.ranked[:0]
	wide := ranked{contract: none}
	fleet := float64(m.Hosts().Fleet())
	for _, i := range m.Waiting() {
		r := m.Request(i)
		k := ranked{contract: i, submitted: r.Submit, id: r.ID}
		k.factor, k.usage = p.tree.factor(now, r.User)
		k.priority = k.factor + p.Age*min(1, (now-r.Submit)/p.AgeMax) + p.Size*float64(r.Nodes)/fleet
		room := p.count
		if r.Packed {
			room = p.free.slots
		}
		switch {
		case r.Nodes <= room || p.Backfill == "conservative" || p.hopeless(now, r):
			p.ranked = append(p.ranked, k)
		case wide.contract == none || order(k, wide) < 0:
			wide = k
		}
	}
	if wide.contract != none {
		p.ranked = append(p.ranked, wide)
	}
	slices.SortFunc(p.ranked, order)
}

// order compares requests by descending priority, then by submission, then by number.
func order(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.submitted, b.submitted), cmp.Compare(a.id, b.id))
}

// A usageTree is the tree of accounts and users with their usage.
type usageTree struct {
	period, decay, damping float64
	nodes                  []usageNode // the first node is the root; parents come before their children
	byName                 map[string]int32
	byUser                 map[int64]int32
	shares                 map[string]float64
}

// A usageNode is an account or a user.
type usageNode struct {
	parent int32
	shares float64
	below  float64 // sum of the shares of the children

	before, used float64 // decayed node-seconds of earlier periods, and node-seconds of the current period up to time at
	at           float64
	holds        float64 // number of nodes that running contracts hold

	factor   float64 // result of [usageTree.factor] at time factored with the given number of nodes in the tree
	factored float64
	among    int
}

func newUsageTree(o *FairShareOptions) (*usageTree, error) {
	t := &usageTree{
		period: o.Period, decay: math.Exp2(-o.Period / o.HalfLife), damping: o.Damping, nodes: make([]usageNode, 1),
		byName: map[string]int32{"": 0}, byUser: make(map[int64]int32), shares: o.Shares,
	}
	names := slices.Sorted(maps.Keys(o.Accounts))
	for added := true; added; {
		added = false
		for _, name := range names {
			a := o.Accounts[name]
			parent, known := t.byName[a.Parent]
			if _, done := t.byName[name]; !done && known {
				t.byName[name] = t.add(parent, a.Shares)
				added = true
			}
		}
	}
	for _, name := range names {
		if _, ok := t.byName[name]; !ok {
			return nil, fmt.Errorf("accounts: %s: parent %q: want another account that leads to the root", name, o.Accounts[name].Parent)
		}
	}
	for name, n := range o.Shares {
		if !(n >= 0) {
			return nil, fmt.Errorf("shares: %s: found %v, want at least 0", name, n)
		}
	}
	return t, nil
}

// add adds a node and returns its index.
func (t *usageTree) add(parent int32, shares float64) int32 {
	t.nodes = append(t.nodes, usageNode{parent: parent, shares: shares})
	t.nodes[parent].below += shares
	return int32(len(t.nodes) - 1)
}

// user returns the node of a user. A user without an account becomes a child of the root.
func (t *usageTree) user(user int64) int32 {
	i, ok := t.byUser[user]
	if !ok {
		name := strconv.FormatInt(user, 10)
		if i, ok = t.byName[name]; !ok {
			shares, given := t.shares[name]
			if !given {
				shares = 1
			}
			i = t.add(0, shares)
		}
		t.byUser[user] = i
	}
	return i
}

// hold adds n to the number of nodes that a user and the accounts above the user hold from now
// on.
func (t *usageTree) hold(now float64, user int64, n int) {
	for i := t.user(user); ; i = t.nodes[i].parent {
		t.usage(now, i)
		if t.nodes[i].holds += float64(n); i == 0 {
			return
		}
	}
}

// usage returns U_H of node i: u_now + D u_last + D^2 u_before + ...
func (t *usageTree) usage(now float64, i int32) float64 {
	n := &t.nodes[i]
	for end := (math.Floor(n.at/t.period) + 1) * t.period; end <= now; end += t.period {
		n.before = (n.before + n.used + n.holds*(end-n.at)) * t.decay
		if n.used, n.at = 0, end; n.holds == 0 { // the periods up to now have no further usage
			whole := math.Floor((now - end) / t.period)
			n.before *= math.Pow(t.decay, whole)
			n.at += whole * t.period
			break
		}
	}
	n.used += n.holds * (now - n.at)
	n.at = now
	return n.before + n.used
}

// factor returns F = 2^(-U_E/S/damping) of a user, and the user's usage U_H.
func (t *usageTree) factor(now float64, user int64) (factor, usage float64) {
	i := t.user(user)
	n := &t.nodes[i]
	if n.factored != now || n.among != len(t.nodes) {
		n.factor, n.factored, n.among = 0, now, len(t.nodes)
		if effective, shares := t.effective(now, i); shares > 0 {
			n.factor = math.Exp2(-effective / shares / t.damping)
		}
	}
	return n.factor, t.usage(now, i)
}

// effective returns U_E and S of node i.
func (t *usageTree) effective(now float64, i int32) (used, shares float64) {
	n := &t.nodes[i]
	if all := t.usage(now, 0); all > 0 {
		used = t.usage(now, i) / all
	}
	part := 0.0
	if siblings := t.nodes[n.parent].below; siblings > 0 {
		part = n.shares / siblings
	}
	if n.parent == 0 {
		return used, part
	}
	above, of := t.effective(now, n.parent)
	return used + (above-used)*part, of * part
}
