package broker

import "math"

// The paper derives the spending rate from budget and deadline once (§3: the default) and
// does not say that it stays so. Renewed, each contract bids again every Renew seconds from
// its own start, or from when it was placed again, as long as that is before its deadline;
// it keeps its hosts and the proportions of its bids. Whose bids are promises to others, or
// were weighed when it was let in, is for whoever sets Renew.

// renewBids lets contract i, which runs, bid what is left of its budget over what is left
// of the time.
func (b *Broker) renewBids(i int32) {
	c := &b.contracts[i]
	b.floor.Renew(b.now, c.run, c.SLA.Budget.Float64(), c.Due())
	b.renewLater(i, c.renew)
}

// renewLater enters when contract i, which runs, bids again, if that is before its deadline:
// so long after an instant.
func (b *Broker) renewLater(i int32, after float64) {
	c := &b.contracts[i]
	if b.rests(i); b.Renew > 0 && !c.OnDemand && after+b.Renew < c.Due() {
		c.renew = after + b.Renew
		b.renewals.Set(i, c.renew)
	}
}

// rests lets the bids of contract i stand.
func (b *Broker) rests(i int32) {
	b.contracts[i].renew = math.Inf(1)
	b.renewals.Remove(i)
}
