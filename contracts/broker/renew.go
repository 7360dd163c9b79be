package broker

import "math"

// The paper derives the spending rate from budget and deadline once (§3: the default) and does
// not specify whether it stays constant. With renewal, a contract recomputes its bids every
// Renew seconds, counted from its start or its last placement, until its deadline. The hosts
// and the proportions of the bids do not change. For example, a contract has a budget of $10, a
// deadline of 1,000 s, and has spent $2 after 500 s. It raises its total bid from $0.010/s to
// $0.016/s.
//
// Renewal must not be combined with a policy that relies on the bids after admission, because
// renewed bids differ from the bids on which the policy decided.

// renewBids sets the bids of contract i, which is running, to the rest of its budget divided
// by the time until its deadline.
func (b *Broker) renewBids(i int32) {
	c := &b.contracts[i]
	b.floor.Renew(b.now, c.run, c.SLA.Budget.Float64(), c.Due())
	b.renewLater(i, c.renew)
}

// renewLater schedules the next renewal of contract i, which is running, b.Renew seconds after
// the given time. It schedules no renewal at or after the deadline.
func (b *Broker) renewLater(i int32, after float64) {
	c := &b.contracts[i]
	if b.rests(i); b.Renew > 0 && !c.OnDemand && after+b.Renew < c.Due() {
		c.renew = after + b.Renew
		b.renewals.Set(i, c.renew)
	}
}

// rests cancels the pending renewal of contract i.
func (b *Broker) rests(i int32) {
	b.contracts[i].renew = math.Inf(1)
	b.renewals.Remove(i)
}
