package sharing

import (
	"math"

	"bourse/contracts"
	"bourse/hosts"
)

// deadline gives each task what it needs to end by its deadline, as its owner
// estimates it (Libra; Yeo, Buyya, "Managing Risk of Inaccurate Runtime Estimates
// for Deadline Constrained Job Admission Control in Clusters", eq. 1, 2).
//
// Shares are allocated when a task comes or goes, and held in between. While needs
// fit the host, nobody gets less than its need, so no need grows: with accurate
// estimates nobody is late. Where they do not, all are slowed alike.
type deadline struct {
	deadlineOptions
	required []float64
	shares   []hosts.Share
}

// deadlineOptions are the options of deadline.
type deadlineOptions struct {
	Spare   Spare  `yaml:"spare" validate:"oneof=none proportional equal" doc:"processors that nobody needs: proportional (to needs), equal (parts) or none (idle)"`
	Overrun string `yaml:"overrun" validate:"oneof=keep zero kill" doc:"a task that outlives its estimate: keep (the share it had), zero (only spare ones until its deadline) or kill (it is stopped)"`
}

func newDeadline(decode func(any) error) (Rule, error) {
	o := deadlineOptions{Spare: Proportional, Overrun: "keep"}
	err := decode(&o)
	return &deadline{deadlineOptions: o}, err
}

// Ending implements [Ender].
func (*deadline) Ending() Ending { return WithHost }

// Allocate implements [Rule].
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

// Limit implements [Limiter].
func (d *deadline) Limit(r *contracts.Request) float64 {
	if d.Overrun == "kill" {
		return r.Work
	}
	return math.Inf(1)
}
