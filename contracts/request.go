package contracts

import (
	"fmt"
	"math"

	"bourse/bank/exact"
	"bourse/hosts"
	"bourse/market"
)

// Holds returns the resources that a task reserves on a host with the given room. The task
// reserves all that is available of each resource, but at least the minimum and at most the
// maximum. For example, a task that needs 1 to 4 GB of memory reserves 3 GB if the host has 3
// GB left. Units of countable resources are reserved exactly. On a host that allocates whole
// cores only, cores are reserved exactly, too.
func (r *Requirement) Holds(spec *hosts.Spec, room hosts.Resources) hosts.Resources {
	cores, _ := spec.Cores(r.Max.CPU)
	return hosts.Resources{
		Cores: cores, Counts: r.Min.Counts,
		Memory:    max(r.Min.Memory, min(r.Max.Memory, room.Memory)),
		Disk:      max(r.Min.Disk, min(r.Max.Disk, room.Disk)),
		Bandwidth: max(r.Min.Bandwidth, min(r.Max.Bandwidth, room.Bandwidth)),
	}
}

// Fits reports whether a node fits into room on a host of the given specification.
func (r *Requirement) Fits(spec *hosts.Spec, room hosts.Resources) bool {
	cores, ok := spec.Cores(r.Max.CPU)
	return ok && cores <= room.Cores && r.Min.Resources.Fit(room)
}

// Eligible reports whether h is present, accepts tasks and has room for a node of r.
func Eligible(h hosts.ID, r *Request, v View) bool {
	if v.Unavailable(h) {
		return false
	}
	spec := v.Spec(h)
	return !spec.Whole && r.Needs.Min.Resources.Zero() || r.Needs.Fits(spec, v.Room(h))
}

// Shortage returns the reason why fewer hosts are eligible than r has nodes: [NoRoom] if enough
// hosts would be eligible when all hosts are idle, and [TooFewHosts] if not.
func Shortage(r *Request, v View) Reason {
	n := 0
	for h := range hosts.ID(v.Fleet()) {
		spec := v.Spec(h)
		if !v.Unavailable(h) && r.Needs.Fits(spec, spec.Offers()) {
			if n++; n == r.Nodes {
				return NoRoom
			}
		}
	}
	return TooFewHosts
}

// Rate returns b, the spending rate over all nodes at which the budget is used up exactly by
// the deadline (§3).
func (r *Request) Rate() market.Rate { return r.NodeRate() * market.Rate(r.Nodes) }

// NodeRate returns the spending rate of one node, which is also its bid on its host: budget /
// (deadline × nodes) in nano-dollars per second. The quotient is exact and rounded toward zero.
// If the quotient is out of range, NodeRate returns 0. For example, $1 over 1,000 s and 2 nodes
// gives 500,000 nano-dollars per second.
func (r *Request) NodeRate() market.Rate {
	const places = 9 - 6 // digits by which micro-dollars and nano-dollars differ
	rate, ok := exact.Trunc(places, []float64{float64(r.SLA.Budget.Micros())}, []float64{r.SLA.Deadline, float64(r.Nodes)})
	if !ok || market.Rate(rate) > market.MaxRate {
		return 0
	}
	return market.Rate(rate)
}

// LeastBid returns the bid of a node for policies that choose hosts without regard to prices:
// the rate of the node, but at least 1 nano-dollar per second. A task that bids 0 would make no
// progress. The bid matters only if hosts are shared by auction.
func (r *Request) LeastBid() market.Rate { return max(1, r.NodeRate()) }

// Due returns the time of the deadline in seconds, or +Inf if no deadline is promised.
func (r *Request) Due() float64 {
	if r.OnDemand {
		return math.Inf(1)
	}
	return r.Submit + r.SLA.Deadline
}

// Opens returns the earliest time at which the contract may start, in seconds.
func (r *Request) Opens() float64 { return r.Submit + r.Lead }

// Span returns the number of seconds within which the work must be done or, for an on-demand
// request, the budget may be spent.
func (r *Request) Span(now float64) float64 {
	if r.Repeat && !r.OnDemand {
		return r.Due() - now
	}
	return r.SLA.Deadline
}

// Late reports whether an end at the given time misses the deadline. It tolerates 1e-6 s plus
// 1e-9 of the deadline, because rounding can delay a job by this much even if its share is
// exactly the required one.
func (r *Request) Late(end float64) bool {
	return end-r.Due() > 1e-6+Tolerance*r.SLA.Deadline
}

// Gangs returns the number of parts in which the request is booked. Each part has at least one
// node.
func (r *Request) Gangs() int { return max(1, min(r.Parts, r.Nodes)) }

// Gang returns the number of nodes of part n, in [0, Gangs). Nodes are divided equally; if the
// division leaves a remainder, each of the first parts has one more node. For example, 7 nodes
// in 3 parts are divided into 3, 2 and 2.
func (r *Request) Gang(n int) int {
	nodes := r.Nodes / r.Gangs()
	if n < r.Nodes%r.Gangs() {
		nodes++
	}
	return nodes
}

// Total returns the estimated work over all nodes, in processor-seconds.
func (r *Request) Total() float64 { return r.Work * float64(r.Nodes) }

// Validate returns an error for the first field whose value is not valid for a contract. It
// also rejects a request whose bid per node rounds to 0.
func (r *Request) Validate() error {
	switch {
	case !finite(r.Submit):
		return fmt.Errorf("request %d: submit is %v, want a finite time", r.ID, r.Submit)
	case !(finite(r.Work) && r.Work > 0):
		return fmt.Errorf("request %d: work is %v, want processor-seconds above 0", r.ID, r.Work)
	case !(finite(r.Lead) && r.Lead >= 0):
		return fmt.Errorf("request %d: lead is %v, want seconds, 0 or more", r.ID, r.Lead)
	case r.Nodes < 1:
		return fmt.Errorf("request %d: nodes is %d, want at least 1", r.ID, r.Nodes)
	case r.Parts < 0 || r.Parts > r.Nodes:
		return fmt.Errorf("request %d: parts is %d, want 0 to %d (nodes)", r.ID, r.Parts, r.Nodes)
	}
	if err := r.SLA.Validate(); err != nil {
		return fmt.Errorf("request %d: %w", r.ID, err)
	}
	if err := r.Needs.validate(); err != nil {
		return fmt.Errorf("request %d: %w", r.ID, err)
	}
	if r.NodeRate() == 0 {
		return fmt.Errorf("request %d: a budget of $%v over %v s and %d nodes is not a valid rate: want 1e-9 to %v $/s per node",
			r.ID, r.SLA.Budget, r.SLA.Deadline, r.Nodes, market.MaxRate)
	}
	return nil
}

func (r *Requirement) validate() error {
	for _, b := range []struct {
		name     string
		min, max float64
	}{
		{"cpu", r.Min.CPU, r.Max.CPU},
		{"memory", r.Min.Memory, r.Max.Memory},
		{"disk", r.Min.Disk, r.Max.Disk},
		{"bandwidth", r.Min.Bandwidth, r.Max.Bandwidth},
	} {
		if !finite(b.min) || !finite(b.max) || b.min < 0 || b.max < 0 {
			return fmt.Errorf("%s is %v to %v, want bounds of 0 or more", b.name, b.min, b.max)
		}
		if b.max != 0 && b.max < b.min {
			return fmt.Errorf("%s is %v to %v, want a maximum of at least the minimum", b.name, b.min, b.max)
		}
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
