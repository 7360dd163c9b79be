package verify

import "math"

// The crowd of a host is a tree of tasks by bid. What all between two bids gain is
// written once, at the roots of the trees that hold them, and goes down when a task is
// taken out: so a change on a host costs the logarithm of how many are there. A task
// gains from what was written since it came alone. Its work and its charge are sums of
// what it gained between changes, all of one sign, as if it had been looked at each time:
// after n changes they are off by 3n parts in 2^53 at most, of which the parts in 10^9
// that charges may be off by allow for a million.
//
// It is a treap: a heap by order, which is a hash of the task's number.

// A place of a task is in the crowd of its host.
type place struct {
	came        uint64 // its number; of equal bids the lower comes first
	inside      bool
	order       uint64
	left, right *task
	due         gain // to those below, who have not got it yet

	// Of the tree of which it is the root.
	soonest  float64 // the least work for a nano-dollar per second after which one leaves
	urgent   float64 // the highest urge
	heaviest int64   // bid
}

// A gain of a task that bids w is w × work, and it owes w × pay - w² × less.
type gain struct{ work, pay, less float64 }

func (t *task) get(g gain) {
	w := t.weight
	t.done += w * g.work
	t.owed += w * (g.pay - w*g.less)
}

// all gives g to all tasks of the tree.
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

// accrue gives low to those that bid no more than border, and high to others. Work is
// the same in both.
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

// push gives those below what they are due.
func (t *task) push() {
	if t.due != (gain{}) {
		t.left.all(t.due)
		t.right.all(t.due)
		t.due = gain{}
	}
}

// sum sums up the tree of which t is the root.
func (t *task) sum() {
	t.soonest, t.urgent, t.heaviest = t.remains(), t.urge, t.bid
	for _, c := range [...]*task{t.left, t.right} {
		if c != nil {
			t.soonest, t.urgent, t.heaviest = min(t.soonest, c.soonest), max(t.urgent, c.urgent), max(t.heaviest, c.heaviest)
		}
	}
}

// remains returns after how much more work for a nano-dollar per second t leaves.
func (t *task) remains() float64 { return (t.need - t.done) / t.weight }

func (t *task) before(o *task) bool { return t.bid < o.bid || t.bid == o.bid && t.came < o.came }

// with returns the tree with n in it.
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

// split returns the trees of those before n and after.
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

// without returns the tree without n, which has got all that it is due.
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

// merge returns one tree of two, all of one before those of the other.
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

// first returns who leaves first.
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

// top returns who has the highest urge.
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

// last returns who bids most.
func (t *task) last() *task {
	for t.right != nil {
		t = t.right
	}
	return t
}

// ending returns the bids of those that leave after no more than so much work for a
// nano-dollar per second.
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
