package sharing

import (
	"math"

	"bourse/contracts"
	"bourse/hosts"
)

// deadline gives each task the processors that it needs to end by its deadline, according to
// its owner's estimate. The rule is from Libra (Yeo, Buyya, "Managing Risk of Inaccurate
// Runtime Estimates for Deadline Constrained Job Admission Control in Clusters", eq. 1, 2).
//
// Shares are computed when a task arrives or leaves, and do not change between such events.
// While the needs fit the host, each task receives at least its need, so no need increases.
// With accurate estimates, no task is then late. If the needs do not fit, all tasks are slowed
// by the same factor.
type deadline struct {
	deadlineOptions
	required []float64
	shares   []hosts.Share
}

// deadlineOptions are the options of deadline, as a scenario sets them.
type deadlineOptions struct {
	Spare   Spare  `yaml:"spare" validate:"oneof=none proportional equal" doc:"how processors that no task needs are allocated: proportional (to needs), equal (parts) or none (idle)"`
	Overrun string `yaml:"overrun" validate:"oneof=keep zero kill" doc:"for a task that exceeds its estimate: keep (its share), zero (only idle processors until its deadline) or kill"`
}

func newDeadline(decode func(any) error) (Rule, error) {
	o := deadlineOptions{Spare: Proportional, Overrun: "keep"}
	err := decode(&o)
	return &deadline{deadlineOptions: o}, err
}

// Ending implements [Ender]: tasks on a host with at most a [Tick] of work left end together.
func (*deadline) Ending() Ending { return WithHost }

// Allocate implements [Rule]. Allocate also records the need of each task whose estimate is
// not used up. Under the option keep, this value remains the need of the task afterwards.
func (d *deadline) Allocate(now float64, h hosts.ID, on []contracts.Allocation, v contracts.View) {
	spec := v.Spec(h)
	node := NodeOf(spec)
	d.required = d.required[:0]
	for i := range on {
		s := &on[i]
		c := v.Contract(s.Contract)
		left, span := s.Left(now, c)/spec.Speed, c.Due()-now
		need := Required(left, span, s.Need)
		if left > Tick && span > Tick && d.Overrun != "zero" {
			s.Need = min(need, node.Most)
		}
		d.required = append(d.required, need)
	}
	d.shares = node.Split(d.Spare, d.required, d.shares[:0])
	for i := range on {
		on[i].Share = d.shares[i]
	}
}

// Limit implements [Limiter]. Under the option kill, a task stops when it has done its
// estimate.
func (d *deadline) Limit(r *contracts.Request) float64 {
	if d.Overrun == "kill" {
		return r.Work
	}
	return math.Inf(1)
}
