package verify

import "math"

// The crowd of a host is a tree of tasks ordered by bid. If all tasks in a range of bids gain
// work or charges, the gain is recorded only once, at the roots of the subtrees that form the
// range. The gain is pushed down to the tasks when one of them is removed. The cost of a
// change on a host is therefore proportional to the logarithm of the number of its tasks. A
// task receives only the gains recorded after its arrival. Its work and its charge are sums of
// these gains. All gains have the same sign, as if each task had been updated at each change.
// After n changes, the relative error is at most 3n parts in 2^53. The tolerance for charges,
// in parts per 10^9, is sufficient for a million changes.
//
// The tree is a treap. It is also a heap, ordered by the field order, which is a hash of the
// task's number.

// A place is the position of a task in the crowd of its host.
type place struct {
	came        uint64 // number of the task; of equal bids, the one with the lower number comes first
	inside      bool
	order       uint64
	left, right *task
	due         gain // gain that has not been pushed to the subtrees yet

	// These fields are aggregates over the subtree whose root is this task.
	soonest  float64 // smallest remaining work per nano-dollar per second
	urgent   float64 // highest urge
	heaviest int64   // highest bid
}

// A gain adds w × work to the work done by each task that bids w. It also adds w × pay - w² ×
// less, multiplied by the task's field part, to the amount that the task owes.
type gain struct{ work, pay, less float64 }

func (t *task) get(g gain) {
	w := t.weight
	t.done += w * g.work
	t.owed += t.part * (w * (g.pay - w*g.less))
}

// all adds g to all tasks of the tree.
func (t *task) all(g gain) {
	if t == nil {
		return
	}
	t.get(g)
	t.soonest -= g.work
	t.due.work += g.work
	t.due.pay += g.pay
	t.due.less += g.less
}

// accrue adds low to the tasks that bid at most border, and high to the other tasks. Both
// gains must have the same work.
func (t *task) accrue(border float64, low, high gain) {
	if border < 1 {
		t.all(high)
		return
	}
	for t != nil {
		t.soonest -= low.work
		if t.weight <= border {
			t.get(low)
			t.left.all(low)
			t = t.right
		} else {
			t.get(high)
			t.right.all(high)
			t = t.left
		}
	}
}

// push passes the pending gain of t to its subtrees.
func (t *task) push() {
	if t.due != (gain{}) {
		t.left.all(t.due)
		t.right.all(t.due)
		t.due = gain{}
	}
}

// sum updates the aggregates of the tree with root t.
func (t *task) sum() {
	t.soonest, t.urgent, t.heaviest = t.remains(), t.urge, t.bid
	for _, c := range [...]*task{t.left, t.right} {
		if c != nil {
			t.soonest, t.urgent, t.heaviest = min(t.soonest, c.soonest), max(t.urgent, c.urgent), max(t.heaviest, c.heaviest)
		}
	}
}

// remains returns the work per nano-dollar per second after which t is done.
func (t *task) remains() float64 { return (t.need - t.done) / t.weight }

func (t *task) before(o *task) bool { return t.bid < o.bid || t.bid == o.bid && t.came < o.came }

// with returns the tree with task n added.
func (t *task) with(n *task) *task {
	if !n.inside {
		n.place = place{came: n.came, inside: true, order: hash(n.came)}
	}
	switch {
	case t == nil:
	case t.order >= n.order:
		t.push()
		if n.before(t) {
			t.left = t.left.with(n)
		} else {
			t.right = t.right.with(n)
		}
		t.sum()
		return t
	default:
		n.left, n.right = t.split(n)
	}
	n.sum()
	return n
}

// split returns two trees: the tasks before n and those after n.
func (t *task) split(n *task) (before, after *task) {
	if t == nil {
		return nil, nil
	}
	t.push()
	if t.before(n) {
		t.right, after = t.right.split(n)
		before = t
	} else {
		before, t.left = t.left.split(n)
		after = t
	}
	t.sum()
	return before, after
}

// without returns the tree without task n. It passes all pending gains to n first.
func (t *task) without(n *task) *task {
	t.push()
	switch {
	case t == n:
		n.inside = false
		return merge(n.left, n.right)
	case n.before(t):
		t.left = t.left.without(n)
	default:
		t.right = t.right.without(n)
	}
	t.sum()
	return t
}

// merge joins two trees. All tasks of a must sort before those of b.
func merge(a, b *task) *task {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.order >= b.order:
		a.push()
		a.right = merge(a.right, b)
		a.sum()
		return a
	}
	b.push()
	b.left = merge(a, b.left)
	b.sum()
	return b
}

// first returns the task that will be done first.
func (t *task) first() *task {
	for {
		t.push()
		least, next := t.remains(), t
		for _, c := range [...]*task{t.left, t.right} {
			if c != nil && c.soonest < least {
				least, next = c.soonest, c
			}
		}
		if next == t {
			return t
		}
		t = next
	}
}

// top returns the task with the highest urge.
func (t *task) top() *task {
	for t.urge < t.urgent {
		if t.left != nil && t.left.urgent == t.urgent {
			t = t.left
		} else {
			t = t.right
		}
	}
	return t
}

// last returns the task with the highest bid.
func (t *task) last() *task {
	for t.right != nil {
		t = t.right
	}
	return t
}

// ending returns the sum of the bids of the tasks that will be done after at most the given
// work per nano-dollar per second.
func (t *task) ending(work float64) (sum int64) {
	if t == nil || t.soonest > work || math.IsInf(t.soonest, 1) {
		return 0
	}
	t.push()
	if t.remains() <= work {
		sum = t.bid
	}
	return sum + t.left.ending(work) + t.right.ending(work)
}

// hash mixes the bits of x (splitmix64).
func hash(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
