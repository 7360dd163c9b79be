package sharing

import (
	"bourse/contracts"
	"bourse/hosts"
)

// planned allocates hosts by [Plan] (LibraSLA; Yeo, Buyya, "Service Level
// Agreement based Allocation of Cluster Resources: Handling Penalty to Enhance
// Utility", Algorithm 2). Like deadline it does so when a task comes or goes.
//
// What a task needs once its deadline has passed the paper does not say. Here a
// task whose share is cut is meant to be done when that share would have it done:
// it keeps the share, and is not cut again without cause.
type planned struct {
	plan  Plan
	tasks []Promise
}

func newPlanned(decode func(any) error) (Rule, error) {
	o := DefaultSLA()
	err := decode(&o)
	return &planned{plan: Plan{SLAOptions: o}}, err
}

// Ending implements [Ender].
func (*planned) Ending() Ending { return WithHost }

// Allocate implements [Rule].
func (p *planned) Allocate(now float64, h hosts.ID, on []contracts.Allocation, v contracts.View) {
	spec := v.Spec(h)
	p.tasks = p.tasks[:0]
	for i := range on {
		s := &on[i]
		p.tasks = append(p.tasks, PromiseOf(now, s, v.Contract(s.Contract), spec.Speed))
	}
	p.plan.Divide(NodeOf(spec), p.tasks)
	for i := range on {
		s, t, share := &on[i], &p.tasks[i], p.plan.Share[i]
		s.Share = hosts.Share{Weight: share}
		if t.Left > Tick && t.Target > Tick {
			s.Need = p.plan.Need[i]
		}
		if share > 0 && share < p.plan.Need[i] {
			s.Target = max(s.Target, now+t.Left/share)
		}
	}
}
