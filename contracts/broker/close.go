package broker

import "bourse/contracts"

// Idle reports whether no contract is active and no request waits.
func (b *Broker) Idle() bool {
	return b.Active() == 0 && len(b.queue) == 0 && b.entrusted.len() == 0
}

// Waiting returns the number of requests that wait and are no contracts yet.
func (b *Broker) Waiting() int {
	n := b.entrusted.len()
	for i := range b.queue {
		if b.queue[i].repeat == 0 {
			n++
		}
	}
	return n
}

// Close ends the market at now, which Advance has been told, or just after: what
// is active is cancelled and pays nothing, whatever it has done; what waits stays
// undecided. Contracts that it ends are Open.
func (b *Broker) Close(now float64) error {
	b.now = now
	for i := range b.contracts {
		c := &b.contracts[i]
		if c.State != contracts.Active {
			continue
		}
		delete(b.planned, c.ID)
		c.Open, c.cancelled = true, true
		waits := c.Waiting
		if err := b.end(now, int32(i)); err != nil {
			return err
		}
		b.ended[len(b.ended)-1].Waiting = waits
	}
	return nil
}
