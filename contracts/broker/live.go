package broker

import (
	"math/rand/v2"
	"slices"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/floor"
	"bourse/contracts/settlement"
	"bourse/hosts"
)

// Join adds a host as the last of the fleet; its charges go to owner. The host is available at
// once. The broker must already have been advanced to now.
func (b *Broker) Join(now float64, m hosts.Machine, owner bank.Account) error {
	b.now = now
	b.Fleet, b.Owners = append(b.Fleet, m), append(b.Owners, owner)
	b.floor.Join(now, m)
	b.hosts = append(b.hosts, settlement.Host{Owner: owner, Capacity: b.floor.Capacity(hosts.ID(len(b.hosts)))})
	return b.here(b.floor.Came(now, hosts.ID(len(b.hosts)-1)))
}

// Came makes h available again. Came and Gone are for hosts without a history of availability,
// such as real hosts. The broker must already have been advanced to now.
func (b *Broker) Came(now float64, h hosts.ID) error {
	b.now = now
	return b.here(b.floor.Came(now, h))
}

// Gone makes h leave. The rule of [floor.Availability] determines what happens to its tasks.
func (b *Broker) Gone(now float64, h hosts.ID) error {
	b.now = now
	return b.here(b.floor.Gone(now, h))
}

// Shut sets whether h rejects new tasks. Its running tasks continue.
func (b *Broker) Shut(now float64, h hosts.ID, shut bool) error {
	b.now = now
	b.floor.Shut(now, h, shut)
	b.freed = b.freed || !shut
	return b.Advance(now)
}

// here processes events of arriving and leaving hosts, with their consequences.
func (b *Broker) here(events []floor.Event) error {
	if err := b.happened(events); err != nil {
		return err
	}
	return b.Advance(b.now)
}

// Try returns the decision that p would make for r at now, a time before the next event. It
// assumes that the owner can pay. Try changes p and ties, which must be copies of the policy
// and ties of b. It does not change b.
func (b *Broker) Try(now float64, r *contracts.Request, p contracts.Decider, ties *rand.Rand) contracts.Decision {
	r.LicenceFloor = b.licenceFloor(r)
	d := p.Decide(now, r, b.floor.Trial(now, ties))
	if d.Verdict == contracts.Accept && b.bars(now, r, &d, contracts.Admit) {
		d.Verdict = contracts.Reject
	}
	return d
}

// Expect returns the charges, without amounts, and the total work per second that a contract with
// request r would have just after its placement on metered hosts. As [Broker.Charges], it returns
// nil if the contract would pay only for processors. Expect does not change b.
func (b *Broker) Expect(r *contracts.Request, on []contracts.Placement) (all []Charge, speed float64) {
	var t tally
	for i := range on {
		s := b.floor.Expect(r, &on[i])
		t.add(&s, b.floor.FloorOf(on[i].Host, &s))
		speed += s.Rate
	}
	return t.charges(), speed
}

// View returns the hosts and their allocations as of the last call.
func (b *Broker) View() contracts.View { return &b.floor }

// Phase returns the phase of a contract. Phase also reports whether the contract exists and has
// not ended.
func (b *Broker) Phase(id contracts.ID) (contracts.Phase, bool) {
	i, ok := b.find(id)
	if !ok {
		return contracts.Ended, false
	}
	return b.contracts[i].phase, true
}

// A Charge is the charges of a contract for one kind of resource.
type Charge struct {
	Kind hosts.Kind // kind of resource, or [contracts.OfLicences]
	Rate float64    // current charge, dollars per second
	Owed float64    // charges so far, dollars
}

// A tally sums the charges of the tasks of a contract by kind of resource.
type tally struct {
	rates, owed contracts.ByKind
	held        contracts.ByKind // not 0 if the contract holds the resource or has been charged for it
}

// add adds the charges of an allocation. The argument cpu is the floor price of its processors.
func (t *tally) add(s *contracts.Allocation, cpu float64) {
	now := contracts.Placement{Owed: s.Owed}
	if s.Vector != nil {
		now.Charged = s.Vector.Charged
		for kind, a := range s.Vector.Of {
			t.held[kind] += a
		}
		for kind, x := range s.Vector.Charged.Least {
			t.held[kind] += x
		}
	}
	for kind, x := range now.By() {
		t.owed[kind] += x
	}
	for kind, x := range s.Divide(s.Paying, cpu) {
		t.rates[kind] += x
	}
}

// charges returns the sums, or nil if they are only for processors.
func (t *tally) charges() (all []Charge) {
	for kind := range hosts.Kinds + 1 {
		if kind == hosts.CPU || t.held[kind] > 0 {
			all = append(all, Charge{kind, t.rates[kind], t.owed[kind]})
		}
	}
	if len(all) == 1 {
		return nil
	}
	return all
}

// Charges returns the charges of a contract that is on metered hosts: for processors, and for each
// other resource with a price or a floor price that it holds or has been charged for. It returns
// nil if there is no such resource.
func (b *Broker) Charges(id contracts.ID) []Charge {
	i, ok := b.find(id)
	if !ok || b.contracts[i].run == none {
		return nil
	}
	run := b.contracts[i].run
	k := b.floor.Contract(run)
	var t tally
	copy(t.owed[:], chargedFor(b.floor.Arrears(run), k.Placements))
	t.held = t.owed
	for n := range k.Placements {
		pl := &k.Placements[n]
		if pl.Left {
			continue
		}
		on := b.floor.On(pl.Host)
		s := &on[slices.IndexFunc(on, func(a contracts.Allocation) bool { return a.Contract == run && a.Node == int32(n) })]
		t.add(s, b.floor.FloorOf(pl.Host, s))
	}
	return t.charges()
}

// Rate returns the work per second that a contract does at present, over all nodes. The rate is
// 0 if the contract is not on hosts.
func (b *Broker) Rate(id contracts.ID) float64 {
	if i, ok := b.find(id); ok && b.contracts[i].run != none {
		return b.floor.Contract(b.contracts[i].run).Rate
	}
	return 0
}

// Keep records that the work of a node of a contract is saved and is not lost with the node's
// host. The given unsaved amount, done last, is not included. It does nothing if the contract
// is not running.
func (b *Broker) Keep(id contracts.ID, node int32, unsaved float64) {
	if i, ok := b.find(id); ok && b.contracts[i].phase == contracts.Running {
		b.floor.Keep(b.contracts[i].run, node, unsaved)
	}
}

// Read records the usage that h, which is metered, has measured. The next [Broker.Advance]
// processes the consequences, so that reports of several hosts at the same time are processed
// together. The broker must already have been advanced to now.
func (b *Broker) Read(now float64, h hosts.ID) {
	b.now = now
	b.floor.Read(now, h)
}
