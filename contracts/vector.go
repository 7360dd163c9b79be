package contracts

import (
	"math"

	"bourse/hosts"
	"bourse/market"
)

// # Several resources
//
// A market can price held resources, such as memory and GPUs, in addition to processors. A
// task then claims a fraction a of each resource of a host. The resource with the largest
// fraction, D, is the dominant resource. The task bids its whole bid b for the dominant
// resource and b a/D for each other claimed resource. The price of a resource on a host is the
// sum of these bids.

// Claims are the fractions of a host that a task claims, by kind of resource, in [0,1]. The
// fraction is 0 for a kind that is not claimed or has no price.
type Claims struct {
	Of       [hosts.Kinds]float64
	Dominant hosts.Kind // the kind with the largest fraction; if equal, the first in the order of kinds
}

// ClaimsOn returns the claims of a task on a host of the given specification. The argument
// limit is the maximum number of processors of the task, or 0 for no limit. The fraction of
// processors is the number that the task can use, divided by the number that the host has. The
// kinds in priced have a price in addition to processors, in order.
func ClaimsOn(spec *hosts.Spec, limit float64, held *hosts.Resources, priced []hosts.Kind) (c Claims) {
	c.Of[hosts.CPU] = spec.Usable(limit) / spec.CPUs
	for _, k := range priced {
		if x := held.Of(k); x > 0 {
			c.Of[k] = x / spec.Room.Of(k)
			if c.Of[k] > c.Of[c.Dominant] {
				c.Dominant = k
			}
		}
	}
	return c
}

// Bid returns the part of the bid b that is for kind k. This is b if the fraction of k equals
// the dominant fraction. For any other claimed kind, it is b times a/D, rounded toward zero,
// but at least 1 nano-dollar per second. It is 0 if b is 0 or k is not claimed.
func (c *Claims) Bid(b market.Rate, k hosts.Kind) market.Rate {
	a, most := c.Of[k], c.Of[c.Dominant]
	switch {
	case b == 0 || a == 0:
		return 0
	case a == most:
		return b
	}
	return max(1, market.Rate(math.Floor(float64(b)*(a/most))))
}

// A Vector is the part of an [Allocation] that concerns resources other than processors. A
// Vector does not change: a new bid requires a new Vector.
type Vector struct {
	Claims
	Bids  [hosts.Kinds]market.Rate // bids by kind
	Met   [hosts.Kinds]market.Rate // sum of the other bids for each kind when the task was placed
	Floor float64                  // floor price of all resources that the task holds, dollars per second

	// All vectors of a task share Charged, which is nil unless the task's host is metered.
	Charged *Charged
}

// A Charged divides the charges of a task by resource. At any time, a task pays for the
// resource with the greatest charge. If the task pays the floor price, the charge is divided in
// proportion to the floor prices of its resources.
type Charged struct {
	By    ByKind // charges in dollars
	Least ByKind // floor price of the amount held, dollars per second; 0 for processors
}

// ByKind has a value for each kind of resource, and one for the licences of the market.
type ByKind [hosts.Kinds + 1]float64

// OfLicences is the index of licences in a [ByKind].
const OfLicences = hosts.Kinds

// AtFloor means, in the field For of an [Allocation], that the task pays the floor price.
const AtFloor hosts.Kind = 255

// Divide returns the given charge of s by kind. The argument cpu is the floor price of the
// processors that s gets, in dollars per second. The parts sum to the charge, except for rounding.
func (s *Allocation) Divide(charge, cpu float64) (by ByKind) {
	switch {
	case s.For != AtFloor:
		by[s.For] = charge
		return by
	case s.Vector == nil || s.Vector.Charged == nil:
		by[hosts.CPU] = charge
		return by
	}
	by = s.Vector.Charged.Least
	by[hosts.CPU] = cpu
	scale(&by, charge)
	return by
}

// By returns Owed by kind of resource.
func (p *Placement) By() (by ByKind) {
	if p.Charged != nil {
		by = p.Charged.By
	}
	scale(&by, p.Owed)
	return by
}

// scale multiplies the elements of by so that they sum to total. If all of them are 0, total counts
// for processors.
func scale(by *ByKind, total float64) {
	sum := 0.0
	for _, x := range by {
		sum += x
	}
	if sum == 0 {
		by[hosts.CPU] = total
		return
	}
	for k := range by {
		by[k] *= total / sum
	}
}

// Least returns the floor price of all resources that the task holds, in dollars per second,
// or 0 if v is nil.
func (v *Vector) Least() float64 {
	if v == nil {
		return 0
	}
	return v.Floor
}

// With returns a copy of v with the bid b.
func (v *Vector) With(b market.Rate) *Vector {
	n := *v
	for k := range n.Bids {
		n.Bids[k] = n.Bid(b, hosts.Kind(k))
	}
	return &n
}

// Own returns the bid of s for processors.
func (s *Allocation) Own() market.Rate {
	if s.Vector != nil {
		return s.Vector.Bids[hosts.CPU]
	}
	return s.Bid
}

// Affords returns the floor price of all resources that a node of r may use on the host of pl,
// in dollars per second. It reports whether the bid of pl reaches this price.
func Affords(r *Request, pl *Placement, v View) (least float64, ok bool) {
	f := v.Floors(pl.Host)
	if f == nil {
		return 0, true
	}
	spec := v.Spec(pl.Host)
	if least = f[hosts.CPU] * spec.Usable(r.Needs.Max.CPU); f.OnHeld() {
		held := r.Needs.Holds(spec, v.Room(pl.Host))
		least += f.Held(&held)
	}
	least += r.LicenceFloor
	const rounding = 1e-15 // tolerance in dollars per second; far below one nano-dollar, the unit of bids
	return least, pl.Bid.Float64()+rounding >= least
}

// Claims returns the claims of a node of r on h, given the free resources of h.
func (r *Request) Claims(h hosts.ID, v View) Claims {
	held := r.Needs.Holds(v.Spec(h), v.Room(h))
	return ClaimsOn(v.Spec(h), r.Needs.Max.CPU, &held, v.Priced())
}

// ClaimsHeld reports whether a node of r can claim a priced resource other than processors.
func (r *Request) ClaimsHeld(priced []hosts.Kind) bool {
	for _, k := range priced {
		if r.Needs.Min.Of(k) > 0 || r.Needs.Max.Of(k) > 0 {
			return true
		}
	}
	return false
}

// Meets returns the price that a node of r would pay on h: the price of the resource that is
// dominant for r there.
func Meets(h hosts.ID, r *Request, v View) market.Rate {
	if !r.ClaimsHeld(v.Priced()) {
		return v.Price(h)
	}
	c := r.Claims(h, v)
	return v.PriceOf(h, c.Dominant)
}
