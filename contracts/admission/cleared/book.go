package cleared

import (
	"bourse/hosts"
	"bourse/market"
	"bourse/market/clearing"
)

// begin starts a new book of the class, with the bids of the jobs that want units.
func (c *class) begin(p *Policy) {
	c.book.Asks, c.book.Bids, c.bidders = c.book.Asks[:0], c.book.Bids[:0], c.bidders[:0]
	for _, j := range p.jobs {
		if j.class == c && !j.onDemand && !j.idle {
			c.bidders = append(c.bidders, j)
			c.book.Bids = append(c.book.Bids, clearing.Bid{ID: int64(j.id), User: j.user, Units: j.nodes, Running: j.state == running, Submit: j.submit, Price: j.bid})
		}
	}
}

// offer adds to the book the given number of units of each available host, at the ask of the
// host. A unit on which a job runs is linked to the bid of that job.
func (c *class) offer(p *Policy, ask func(hosts.ID) market.Rate, units func(hosts.ID) int) {
	on := map[hosts.ID][]int32{} // bids whose jobs run on each host
	for i, j := range c.bidders {
		for _, h := range j.on {
			on[h] = append(on[h], int32(i+1))
		}
	}
	for _, h := range c.hosts {
		for unit := range units(h) {
			if !p.present[h] {
				break
			}
			a := clearing.Ask{Seller: int32(h), Host: int32(h) + 1, Price: ask(h)}
			if bids := on[h]; unit < len(bids) {
				a.On = bids[unit]
			}
			c.book.Asks = append(c.book.Asks, a)
		}
	}
}

// clear clears the book of the class. It records which jobs win, and on which hosts if a host
// has several processors.
func (c *class) clear(m clearing.Mechanism) {
	if err := m.Clear(&c.book, &c.result); err != nil {
		panic("cleared: " + err.Error())
	}
	for i, j := range c.bidders {
		j.takes, j.wins, j.to = true, c.result.Units[i] > 0, nil
	}
	for a, taker := range c.result.Takers {
		if taker > 0 {
			j := c.bidders[taker-1]
			j.to = append(j.to, hosts.ID(c.book.Asks[a].Seller))
		}
	}
}
