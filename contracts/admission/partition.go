package admission

import (
	"math"
	"math/rand/v2"
	"strings"

	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/hosts"
)

// partition keeps some hosts for reservations and sells the others on the spot (§5: a provider
// "might want to increase the spot-market partition compared to the reservation partition").
// Who names a class, be or rac on the spot, sac or cac of reservations, is decided there; who
// names none asks for a reservation, and if that is refused buys on the spot. Nobody on the spot
// can slow down who has a reservation: they share no host.
type partition struct {
	reserved          float64 // of the hosts, in [0,1]
	reservation, spot contracts.Decider
	named             map[string]bool       // by class: it is of reservations
	admitted          map[contracts.ID]bool // reservations under way
	chosen            []hosts.ID
	numbers           contracts.Numbers
}

// partitionOptions are the options of partition.
type partitionOptions struct {
	Reserved    float64 `yaml:"reserved" validate:"min=0,max=1" doc:"part of the hosts that is kept for reservations: the first so many, rounded to a whole number"`
	Reservation string  `yaml:"reservation" validate:"oneof=sac cac" doc:"policy that grants reservations: sac or cac"`
	Spot        string  `yaml:"spot" validate:"oneof=be rac" doc:"policy on the spot: be or rac"`

	ClassPolicies `yaml:",inline"`
}

func newPartition(decode func(any) error, bid bidding.Strategy, rng *rand.Rand) (contracts.Decider, error) {
	o := partitionOptions{Reserved: 0.5, Reservation: "cac", Spot: "be", ClassPolicies: defaultClassPolicies()}
	err := decode(&o)
	all := o.policies(bid, rng)
	return &partition{
		reserved: o.Reserved, reservation: all[o.Reservation], spot: all[o.Spot],
		named:    map[string]bool{"be": false, "rac": false, "sac": true, "cac": true},
		admitted: make(map[contracts.ID]bool),
	}, err
}

// Decide implements [contracts.Decider]. It gives the numbers of the policy that decided last,
// and before them reserved, 1 if that was of reservations and 0 otherwise.
func (p *partition) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	border := hosts.ID(math.Round(p.reserved * float64(v.Fleet())))
	reserves, named := p.named[strings.ToLower(r.Class)]
	if r.Class != "" && !named {
		return contracts.Decision{Reason: noClass}
	}
	if reserves || !named {
		d := p.within(p.reservation, 1, now, r, &side{v, 0, border, &p.chosen})
		if named || d.Verdict == contracts.Accept {
			return d
		}
	}
	return p.within(p.spot, 0, now, r, &side{v, border, hosts.ID(v.Fleet()), &p.chosen})
}

// within decides by one of the policies, which sees its own hosts.
func (p *partition) within(by contracts.Decider, reserved int, now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	d := by.Decide(now, r, v)
	if d.Verdict == contracts.Accept && reserved == 1 {
		p.admitted[r.ID] = true
	}
	p.numbers = append(append(p.numbers[:0], contracts.Counted("reserved", reserved)), d.Numbers...)
	d.Numbers = p.numbers
	return d
}

// Judged implements judge: the policy that grants reservations hears of its own.
func (p *partition) Judged(r *contracts.Request, o contracts.Outcome) {
	if p.admitted[r.ID] {
		judged(p.reservation, r, o)
	}
	delete(p.admitted, r.ID)
}

// A side is a market of which the hosts from one to before another are there, and no others.
type side struct {
	contracts.View
	from, to hosts.ID
	all      *[]hosts.ID // memory
}

// Away implements [contracts.View].
func (v *side) Away(h hosts.ID) bool { return h < v.from || h >= v.to || v.View.Away(h) }

// Cheapest implements [contracts.View].
func (v *side) Cheapest(r *contracts.Request, out []hosts.ID) []hosts.ID {
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
