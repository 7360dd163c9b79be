package contracts

import (
	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/market"
)

// A Decider says yes, no or later of one request at a time.
//
// Decide depends only on its arguments, on the source of randomness the decider
// was made with, and on memory of its own. It changes nothing: the broker
// carries the decision out.
type Decider interface {
	Decide(now float64, r *Request, v View) Decision
}

// A View is the market as a policy sees it: the truth at this instant, and
// read-only. Slices returned are valid until the broker is next called.
type View interface {
	// Fleet returns the number of hosts; they are 0 to Fleet()-1.
	Fleet() int
	Spec(h hosts.ID) *hosts.Spec
	Room(h hosts.ID) hosts.Resources

	// Price returns the spot price of h: the sum of all bids on it.
	Price(h hosts.ID) market.Rate

	// Percentile returns F⁻¹(g) of h in dollars per second (eq. 5).
	Percentile(h hosts.ID, g float64) float64

	// Away reports whether h is not to be given work: it has left, or takes no more.
	Away(h hosts.ID) bool

	// Stays returns the probability, in [0,1], that h, which is not away, stays
	// for span seconds from now, as it is foretold. It is 1 where hosts stay.
	Stays(h hosts.ID, span float64) float64

	// History returns when h was and will be available, nil where hosts stay. It
	// is for those who predict, who look at its past.
	History(h hosts.ID) *availability.History

	// Cheapest appends to out the n hosts of lowest spot price, fewer if fewer
	// are not away and have the room for what a task of r needs at least; ties
	// are broken at random.
	Cheapest(r *Request, out []hosts.ID) []hosts.ID

	// On returns what is on h, in order of admission.
	On(h hosts.ID) []Allocation

	// Changed returns the hosts on which a task has come or gone, or which
	// themselves have, since Changed was asked before this, each once. A policy
	// that remembers hosts looks at these alone, after it has looked at all of
	// them the first time.
	Changed() []hosts.ID

	// Contract returns the contract that an Allocation names.
	Contract(i int32) *Contract
}

// An Allocation is one node of an active contract, as it stands on its host.
type Allocation struct {
	// What every event on the host touches is in one place.
	Contract int32 // for View.Contract
	Node     int32 // index in the contract's placements
	Slot     hosts.Slot
	Bid      market.Rate
	Rate     float64 // work per second that it gets
	Paying   float64 // dollars per second that it is charged
	Done     float64 // work done, as of At
	Owed     float64 // dollars charged, as of At
	At       float64 // instant of the host's last event

	Share hosts.Share
	Told  hosts.Share // as the machine was told, which is the market's concern alone
	Met   market.Rate // what the others bid when it was placed

	// What sharing rules by deadline remember of it; 0 under other rules.
	Need   float64 // processors that it needed when its estimate still lasted
	Target float64 // instant by which it is meant to be done, after its deadline if it was delayed
}

// Left returns the estimated work that is left at now, below 0 if the estimate
// was too low. C is the contract that s is a node of.
func (s *Allocation) Left(now float64, c *Contract) float64 {
	return c.Work - s.Done - s.Rate*(now-s.At)
}
