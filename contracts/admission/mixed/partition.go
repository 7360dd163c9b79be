package mixed

import (
	"math"
	"math/rand/v2"
	"strings"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/bidding"
	"bourse/hosts"
)

// partition reserves some hosts for reservations and sells the other hosts on the spot market
// (§5: a provider "might want to increase the spot-market partition compared to the reservation
// partition").
//
// A request that names a class is decided in the partition of that class: be and rac in the
// spot partition, sac and cac in the reservation partition. A request that names no class
// first tries a reservation and, if it is rejected, the spot market. Spot contracts cannot
// slow down reservations, because the two kinds never share a host.
type partition struct {
	reserved          float64 // fraction of the hosts, in [0,1]
	reservation, spot contracts.Decider
	named             map[string]bool       // for each class, whether it is a class of reservations
	admitted          map[contracts.ID]bool // active reservations
	chosen            []hosts.ID
	numbers           contracts.Numbers
}

// partitionOptions are the options of partition.
type partitionOptions struct {
	Reserved    float64 `yaml:"reserved" validate:"min=0,max=1" doc:"fraction of hosts for reservations: the first ones, rounded to a whole number"`
	Reservation string  `yaml:"reservation" validate:"oneof=sac cac" doc:"policy that grants reservations: sac or cac"`
	Spot        string  `yaml:"spot" validate:"oneof=be rac" doc:"policy on the spot market: be or rac"`

	admission.Classes `yaml:",inline"`
}

// newPartition returns a partition policy with the decoded options.
func newPartition(decode func(any) error, bid bidding.Strategy, rng *rand.Rand) (contracts.Policy, error) {
	o := partitionOptions{Reserved: 0.5, Reservation: "cac", Spot: "be", Classes: admission.DefaultClasses()}
	err := decode(&o)
	all := o.Deciders(bid, rng)
	return admission.Immediate(&partition{
		reserved: o.Reserved, reservation: all[o.Reservation], spot: all[o.Spot],
		named:    map[string]bool{"be": false, "rac": false, "sac": true, "cac": true},
		admitted: make(map[contracts.ID]bool),
	}), err
}

// Decide implements [contracts.Decider]. Decide reports the numbers of the policy that decided
// last. The first number is reserved, which is 1 for the policy for reservations and 0 for the
// other policy.
func (p *partition) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	// The hosts up to the border are for reservations.
	border := hosts.ID(math.Round(p.reserved * float64(v.Fleet())))
	reserves, named := p.named[strings.ToLower(r.Class)]
	if r.Class != "" && !named {
		return contracts.Decision{Reason: noClass}
	}
	// A request that names no class tries a reservation first. A request that names a class of
	// reservations has no other choice.
	if reserves || !named {
		d := p.within(p.reservation, 1, now, r, &side{v, 0, border, &p.chosen})
		if named || d.Verdict == contracts.Accept {
			return d
		}
	}
	return p.within(p.spot, 0, now, r, &side{v, border, hosts.ID(v.Fleet()), &p.chosen})
}

// within asks one of the policies, whose view contains only its own hosts.
func (p *partition) within(by contracts.Decider, reserved int, now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	d := by.Decide(now, r, v)
	if d.Verdict == contracts.Accept && reserved == 1 {
		p.admitted[r.ID] = true
	}
	p.numbers = append(append(p.numbers[:0], contracts.Counted("reserved", reserved)), d.Numbers...)
	d.Numbers = p.numbers
	return d
}

// Rebid implements [contracts.Rebidder] by asking the policy for reservations about its own
// contracts.
func (p *partition) Rebid(now float64, i int32, on []contracts.Placement, v contracts.View) contracts.Decision {
	if p.admitted[v.Contract(i).ID] {
		return admission.Rebid(p.reservation, now, i, on, v)
	}
	return contracts.Decision{Verdict: contracts.Accept}
}

// Judged is called by [admission.Judged]. It notifies the policy for reservations of the outcome of its own
// contracts.
func (p *partition) Judged(r *contracts.Request, o contracts.Outcome) {
	if p.admitted[r.ID] {
		admission.Judged(p.reservation, r, o)
	}
	delete(p.admitted, r.ID)
}

// A side is the view of one partition, in which only the hosts from (inclusive) to (exclusive)
// are present.
type side struct {
	contracts.View
	from, to hosts.ID
	all      *[]hosts.ID // scratch memory
}

// Unavailable implements [contracts.View].
func (v *side) Unavailable(h hosts.ID) bool { return h < v.from || h >= v.to || v.View.Unavailable(h) }

// Cheapest implements [contracts.View].
func (v *side) Cheapest(r *contracts.Request, out []hosts.ID) []hosts.ID {
	// All hosts in order of price are needed, because the cheapest ones may belong to the
	// other partition.
	wide := *r
	wide.Nodes = v.Fleet()
	*v.all = v.View.Cheapest(&wide, (*v.all)[:0])
	found := 0
	for _, h := range *v.all {
		if found == r.Nodes {
			break
		}
		if h >= v.from && h < v.to {
			out = append(out, h)
			found++
		}
	}
	return out
}
