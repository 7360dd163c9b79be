package sharing

import (
	"bourse/contracts"
	"bourse/hosts"
)

// planned allocates hosts by [Plan] (LibraSLA; Yeo, Buyya, "Service Level Agreement based
// Allocation of Cluster Resources: Handling Penalty to Enhance Utility", Algorithm 2). Like
// deadline, planned computes shares when a task arrives or leaves.
//
// The paper does not define the need of a task whose deadline has passed. Here, when the share
// of a late task is reduced, its target becomes the time at which it completes with the
// reduced share. The task then needs only this share, so later events do not reduce it again
// unnecessarily.
type planned struct {
	plan  Plan
	tasks []Promise
}

func newPlanned(decode func(any) error) (Rule, error) {
	o := DefaultSLA()
	err := decode(&o)
	return &planned{plan: Plan{SLAOptions: o}}, err
}

// Ending implements [Ender]: tasks on a host with at most a [Tick] of work left end together.
func (*planned) Ending() Ending { return WithHost }

// Allocate implements [Rule]. It also updates the need and the target of each task.
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
