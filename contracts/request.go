package contracts

import (
	"fmt"
	"math"

	"bourse/bank/exact"
	"bourse/hosts"
	"bourse/market"
)

// Holds returns what a task reserves on a host with room left: as much as there
// is, between the minimum and the maximum of each resource.
func (r *Requirement) Holds(room hosts.Resources) hosts.Resources {
	return hosts.Resources{
		Memory:    max(r.Min.Memory, min(r.Max.Memory, room.Memory)),
		Disk:      max(r.Min.Disk, min(r.Max.Disk, room.Disk)),
		Bandwidth: max(r.Min.Bandwidth, min(r.Max.Bandwidth, room.Bandwidth)),
	}
}

// Rate returns b, the spending rate that uses up the budget by the deadline,
// over all nodes together (§3).
func (r *Request) Rate() market.Rate { return r.NodeRate() * market.Rate(r.Nodes) }

// NodeRate returns the spending rate of one node: the exact quotient budget / (deadline
// nodes), rounded toward zero, 0 if it is out of range.
func (r *Request) NodeRate() market.Rate {
	const places = 9 - 6 // nano-dollars of micro-dollars
	rate, ok := exact.Trunc(places, []float64{float64(r.SLA.Budget.Micros())}, []float64{r.SLA.Deadline, float64(r.Nodes)})
	if !ok || market.Rate(rate) > market.MaxRate {
		return 0
	}
	return market.Rate(rate)
}

// Due returns the instant of the deadline, +Inf if none is promised.
func (r *Request) Due() float64 {
	if r.OnDemand {
		return math.Inf(1)
	}
	return r.Submit + r.SLA.Deadline
}

// Opens returns the instant before which it is not to start.
func (r *Request) Opens() float64 { return r.Submit + r.Lead }

// Late reports whether an end at that instant misses the deadline: by more than
// the 1e-6 s, and 1e-9 of the deadline, that rounding may cost a job whose share
// is just what it needs.
func (r *Request) Late(end float64) bool {
	return end-r.Due() > 1e-6+Tolerance*r.SLA.Deadline
}

// Gangs returns the number of its parts, each of which has a node at least.
func (r *Request) Gangs() int { return max(1, min(r.Parts, r.Nodes)) }

// Gang returns the nodes of part n, in [0, Gangs): all have as many, but for one more in
// the first of them where the nodes do not come out even.
func (r *Request) Gang(n int) int {
	nodes := r.Nodes / r.Gangs()
	if n < r.Nodes%r.Gangs() {
		nodes++
	}
	return nodes
}

// Total returns the work asked for over all nodes.
func (r *Request) Total() float64 { return r.Work * float64(r.Nodes) }

// Validate reports the first field that no contract can be made of.
func (r *Request) Validate() error {
	switch {
	case !finite(r.Submit):
		return fmt.Errorf("request %d: submit is %v, want an instant", r.ID, r.Submit)
	case !(finite(r.Work) && r.Work > 0):
		return fmt.Errorf("request %d: work is %v, want processor-seconds above 0", r.ID, r.Work)
	case !(finite(r.Lead) && r.Lead >= 0):
		return fmt.Errorf("request %d: lead is %v, want seconds, 0 or more", r.ID, r.Lead)
	case r.Nodes < 1:
		return fmt.Errorf("request %d: nodes is %d, want at least 1", r.ID, r.Nodes)
	case r.Parts < 0 || r.Parts > r.Nodes:
		return fmt.Errorf("request %d: parts is %d, want 0 to its %d nodes", r.ID, r.Parts, r.Nodes)
	}
	if err := r.SLA.Validate(); err != nil {
		return fmt.Errorf("request %d: %w", r.ID, err)
	}
	if err := r.Needs.validate(); err != nil {
		return fmt.Errorf("request %d: %w", r.ID, err)
	}
	if r.NodeRate() == 0 {
		return fmt.Errorf("request %d: a budget of $%v over %v s and %d nodes is no rate: want 1e-9 to %v $/s a node",
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
			return fmt.Errorf("%s is %v to %v, want a maximum not below the minimum", b.name, b.min, b.max)
		}
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
