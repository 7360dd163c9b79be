package queue

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/hosts"
)

// drf starts the first request of the user with the lowest dominant share. The dominant share
// of a user is the largest fraction of any resource that the user holds (dominant resource
// fairness; Ghodsi et al., "Dominant Resource Fairness: Fair Allocation of Multiple Resource
// Types", NSDI 2011, Algorithm 1).
type drf struct {
	drfOptions
	tracker
	held dominance
}

type drfOptions struct {
	Skip   bool               `yaml:"skip" doc:"if the first request does not fit, continue with the other users"`
	Shares map[string]float64 `yaml:"shares" doc:"weight by the number of the user; 1 for all others"`
}

func newDRF(decode func(any) error, _ bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	var o drfOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	for name, n := range o.Shares {
		if !(n > 0) {
			return nil, fmt.Errorf("shares: %s: found %v, want more than 0", name, n)
		}
	}
	return &drf{drfOptions: o, tracker: newTracker(), held: dominance{skip: o.Skip, users: make(map[int64]*holding)}}, nil
}

// Handle implements [contracts.Policy].
func (p *drf) Handle(now float64, e contracts.Event, m contracts.Market) []contracts.Action {
	if e.Kind == contracts.Submitted || e.Kind == contracts.Lost {
		whole := dominance{total: totals(m.Hosts(), true)}
		if !whole.fits(demandOf(m.Request(e.Contract))) {
			p.drop(now, e.Contract)
			return p.refuse(e.Contract, contracts.TooFewHosts)
		}
	}
	return p.handle(p, now, e, m)
}

// drop releases the resources of contract i.
func (p *drf) drop(_ float64, i int32) {
	if s := p.slots[i]; s != nil {
		p.held.take(s.user, s.demand, -1)
		delete(p.slots, i)
	}
}

// pass returns the next action.
func (p *drf) pass(now float64, m contracts.Market) []contracts.Action {
	v := m.Hosts()
	if p.capacity < 0 {
		p.held.total = totals(v, false)
	}
	p.look(v)
	p.held.begin()
	for _, i := range m.Waiting() {
		r := m.Request(i)
		if p.hopeless(now, r) {
			return p.refuse(i, contracts.TooLate)
		}
		if u := p.held.users[r.User]; u != nil && u.waits {
			continue // an earlier request of this user is already entered
		}
		weight, given := p.Shares[strconv.FormatInt(r.User, 10)]
		if !given {
			weight = 1
		}
		p.held.offer(r.User, weight, i, demandOf(r))
	}
	u := p.held.choose(func(u *holding) bool { return p.start(m.Request(u.first), v) })
	if u == nil {
		return nil
	}
	share, resource := p.held.dominant(u)
	a := p.admit(now, u.first, m, contracts.Measured("dominant", share), contracts.Counted("resource", resource))
	p.slots[u.first].demand = u.wants
	p.held.take(u.user, u.wants, 1)
	return a
}

// totals returns the resources of the hosts that are present or, if all is true, of all hosts.
func totals(v contracts.View, all bool) (sum demand) {
	for h := range hosts.ID(v.Fleet()) {
		if spec := v.Spec(h); all || !v.Unavailable(h) {
			sum.add(demand{max(1, math.Floor(spec.CPUs)), spec.Room.Memory, spec.Room.Disk, spec.Room.Bandwidth}, 1)
		}
	}
	return sum
}

// demandOf returns the amount of each resource that r needs over all nodes. Each task takes a
// processor, or more if it needs more.
func demandOf(r *contracts.Request) demand {
	least, n := &r.Needs.Min, float64(r.Nodes)
	cpu := least.CPU
	if cpu == 0 {
		cpu = 1
	}
	return demand{n * cpu, n * least.Memory, n * least.Disk, n * least.Bandwidth}
}

// A demand is an amount of processors, memory, disk and bandwidth.
type demand [4]float64

func (d *demand) add(o demand, n float64) {
	for k := range d {
		d[k] += n * o[k]
	}
}

// A dominance records the resources that each user holds, and chooses the user whose request
// is next.
type dominance struct {
	skip        bool
	total, used demand
	users       map[int64]*holding
	open        []*holding // users with a request, sorted by user number
}

// A holding contains the resources that a user holds, and the user's first request.
type holding struct {
	user    int64
	held    demand
	weight  float64
	waits   bool
	first   int32 // number of the contract of this request
	wants   demand
	skipped bool
}

// take adds n times the given demand to the holding of a user.
func (d *dominance) take(user int64, what demand, n float64) {
	d.used.add(what, n)
	d.users[user].held.add(what, n)
}

// begin forgets all requests.
func (d *dominance) begin() {
	for _, u := range d.open {
		u.waits, u.skipped = false, false
	}
	d.open = d.open[:0]
}

// offer enters the first request of a user.
func (d *dominance) offer(user int64, weight float64, contract int32, wants demand) {
	u := d.users[user]
	if u == nil {
		u = &holding{user: user}
		d.users[user] = u
	}
	u.weight, u.waits, u.first, u.wants = weight, true, contract, wants
	at, _ := slices.BinarySearchFunc(d.open, user, func(o *holding, user int64) int { return int(o.user - user) })
	d.open = slices.Insert(d.open, at, u)
}

// choose returns the user with the lowest dominant share relative to the user's weight, if the
// user's request fits, or nil if it does not. If skip is set, it skips users whose requests do
// not fit.
func (d *dominance) choose(fits func(u *holding) bool) *holding {
	for {
		var least *holding
		lowest := 0.0
		for _, u := range d.open {
			if share := d.relative(u); !u.skipped && (least == nil || share < lowest) {
				least, lowest = u, share
			}
		}
		switch {
		case least == nil:
			return nil
		case d.fits(least.wants) && fits(least):
			return least
		case !d.skip:
			return nil
		}
		least.skipped = true
	}
}

// fits reports whether enough of every resource in wants is free.
func (d *dominance) fits(wants demand) bool {
	for k := range wants {
		if wants[k] > 0 && d.used[k]+wants[k] > d.total[k] {
			return false
		}
	}
	return true
}

// relative returns the dominant share of u divided by its weight. The quotient of whole
// numbers is rounded only once, so equal fractions are equal.
func (d *dominance) relative(u *holding) (most float64) {
	for k := range u.held {
		if u.held[k] > 0 {
			most = max(most, u.held[k]/(d.total[k]*u.weight))
		}
	}
	return most
}

// dominant returns the dominant share of u, and the index of the dominant resource in
// [demand].
func (d *dominance) dominant(u *holding) (share float64, resource int) {
	for k := range u.held {
		if x := u.held[k] / d.total[k]; u.held[k] > 0 && x > share {
			share, resource = x, k
		}
	}
	return share, resource
}
