package broker

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"bourse/bank"
	"bourse/contracts"
	"bourse/hosts"
	"bourse/hosts/agenda"
	"bourse/hosts/availability"
	"bourse/hosts/availability/predictors"
	"bourse/market"
)

// A Presence says when hosts are there, and what it means that one leaves.
type Presence struct {
	Histories []*availability.History // one per host
	Leaving   Leaving
	Charged   bool                 // what accrued on work that is lost stays owed
	Predictor predictors.Predictor // what policies may ask; nil: nobody foretells
}

// A Leaving is a rule for the tasks on a host that leaves.
type Leaving uint8

const (
	Resubmit Leaving = iota // their contracts stop everywhere and are placed again, from scratch
	Lose                    // they are gone, with their work
	Suspend                 // they stand still until it is back
)

// leavings is the table of those rules by the name scenarios use.
var leavings = map[string]Leaving{"resubmit": Resubmit, "lost": Lose, "suspend": Suspend}

// LeavingOf returns the named rule.
func LeavingOf(name string) (Leaving, error) {
	l, ok := leavings[name]
	if !ok {
		return 0, fmt.Errorf("unknown rule of leaving %q, want one of %s", name, strings.Join(slices.Sorted(maps.Keys(leavings)), ", "))
	}
	return l, nil
}

// comings are what is to become of the hosts.
type comings struct {
	change   agenda.Agenda // hosts, by when they come or leave
	interval []int32       // by host: the one it is in, or the next
}

// An arrear is what a contract owes for work that was lost.
type arrear struct {
	host hosts.ID
	owed float64
}

// arrive puts every host where it is at instant 0.
func (b *Broker) arrive() {
	b.comings.change.Reset()
	b.comings.interval = b.comings.interval[:0]
	for h := range b.Fleet {
		past := b.Presence.Histories[h]
		k := past.After(0)
		b.comings.interval = append(b.comings.interval, int32(k))
		at, here := past.At(0)
		if here {
			b.comings.change.Set(int32(h), at.End)
			continue
		}
		b.remove(hosts.ID(h))
		if k < len(past.Intervals()) {
			b.comings.change.Set(int32(h), past.Intervals()[k].Start)
		}
	}
}

// remove hides h from who looks for cheap hosts.
func (b *Broker) remove(h hosts.ID) {
	b.venues[h].away = true
	b.absent++
	b.ranking.Set(int32(h), market.MaxRate)
}

// alter lets the first host due come or leave.
func (b *Broker) alter(now float64) error {
	i, _, _ := b.comings.change.Min()
	h, v := hosts.ID(i), &b.venues[i]
	b.touch(now, v)
	intervals := b.Presence.Histories[h].Intervals()
	k := &b.comings.interval[h]
	if v.away {
		b.comings.change.Set(i, intervals[*k].End)
		v.away = false
		v.tell(now)
		b.absent--
		b.freed = true
		b.ranking.Set(i, v.auction.Price())
		if b.dispatcher != nil {
			b.dispatcher.Came(now, h)
		}
		b.deal(now)
		return nil
	}
	if *k++; int(*k) < len(intervals) {
		b.comings.change.Set(i, intervals[*k].Start)
	} else {
		b.comings.change.Remove(i)
	}
	if b.Presence.Leaving != Suspend {
		if err := b.vacate(now, h); err != nil {
			return err
		}
	}
	b.remove(h)
	if b.dispatcher != nil {
		b.dispatcher.Gone(now, h)
	}
	b.deal(now)
	return nil
}

// still lets the tasks on v, which is away, stand still. Nothing accrues.
func (b *Broker) still(now float64, v *venue) {
	for i := range v.on {
		s := &v.on[i]
		if s.Told != (hosts.Share{}) {
			s.Told = hosts.Share{}
			v.machine.SetShare(now, s.Slot, hosts.Share{})
		}
		s.Rate, s.Paying = 0, 0
		b.contracts[s.Contract].rates[s.Node] = 0
		b.change(s.Contract)
	}
}

// vacate takes everything off h, which leaves, in order of admission. What is done
// at this instant, to rounding, is done.
func (b *Broker) vacate(now float64, h hosts.ID) error {
	for v := &b.venues[h]; len(v.on) > 0; {
		s := &v.on[0]
		i, n := s.Contract, s.Node
		c := &b.contracts[i]
		c.bring(now)
		var err error
		switch {
		case c.PerHost && b.finished(now, c, s):
			b.takeOff(now, v, s, c.task.Work)
			b.change(i)
			if c.left == 0 {
				err = b.end(now, i)
			}
		case !c.PerHost && b.done(now, c):
			err = b.end(now, i)
		case b.Presence.Leaving == Lose:
			err = b.lose(now, i, n)
		default:
			err = b.recall(now, i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// finished reports whether what is left of s would take no time that counts.
func (b *Broker) finished(now float64, c *contract, s *contracts.Standing) bool {
	if b.limiter != nil && b.limiter.Limit(&c.Request) < c.task.Work {
		return false // it is not let do all its work
	}
	capacity := b.venues[c.Placements[s.Node].Host].capacity
	return c.task.Work-s.Done <= contracts.Tolerance*c.task.Work+2*contracts.Moment(now)*capacity
}

// bring counts the work of c up to now.
func (c *contract) bring(now float64) {
	c.Done += c.Rate * (now - c.At)
	c.At = now
}

// lose ends node n of contract i, with all that it has done. A contract that is
// judged as a whole goes on with its other nodes.
func (b *Broker) lose(now float64, i, n int32) error {
	b.stop(now, i, n)
	c := &b.contracts[i]
	pl := &c.Placements[n]
	c.Losses++
	c.Wasted += pl.Done
	c.Done -= pl.Done
	pl.Done = 0
	if !b.Presence.Charged {
		pl.Owed = 0
	}
	if c.PerHost || c.left == 0 {
		return b.breaks(now, i)
	}
	b.change(i)
	return nil
}

// breaks ends contract i, which a host has left.
func (b *Broker) breaks(now float64, i int32) error {
	b.contracts[i].Broken = true
	return b.end(now, i)
}

// recall stops contract i everywhere. It keeps its id and its escrow, and waits to
// be placed again, from scratch, unless it is late already.
func (b *Broker) recall(now float64, i int32) error {
	c := &b.contracts[i]
	for n := range c.Placements {
		if !c.Placements[n].Left {
			b.stop(now, i, int32(n))
		}
		pl := &c.Placements[n]
		c.Wasted += pl.Done
		if b.Presence.Charged && pl.Owed > 0 {
			c.arrears = append(c.arrears, arrear{pl.Host, pl.Owed})
		}
		pl.Done, pl.Owed = 0, 0
	}
	c.Losses++
	c.Done, c.Rate = 0, 0
	c.Repeat = true
	if c.late || b.dispatcher != nil && !b.dispatcher.Again(now, c.ID) {
		return b.breaks(now, i)
	}
	c.Waiting = true
	c.Resent++
	b.change(i)
	if b.dispatcher != nil {
		if b.again == nil {
			b.again = make(map[contracts.ID]int32)
		}
		b.again[c.ID] = i
		return nil
	}
	w := waiting{request: c.Request, task: c.task, repeat: i + 1}
	if order, ok := b.Policy.(contracts.Orderer); ok {
		b.enqueue(order, w)
	} else {
		b.wait(len(b.queue), w)
	}
	return nil
}

// repeat carries out what the policy has decided of the contract that waits in w,
// which is not held again. Refused, it waits on, until its deadline ends it; but
// if it cannot end in time it ends now.
func (b *Broker) repeat(now float64, w *waiting, d *contracts.Decision) error {
	i := w.repeat - 1
	c := &b.contracts[i]
	switch {
	case d.Verdict == contracts.Accept:
		c.Waiting = false
		return b.put(now, i, d.Placements)
	case d.Verdict == contracts.Reject && d.Reason == contracts.TooLate:
		c.Waiting = false
		return b.breaks(now, i)
	}
	d.Verdict = contracts.Defer
	return nil
}

// unqueue takes contract i, which waits, out of the queue.
func (b *Broker) unqueue(i int32) {
	c := &b.contracts[i]
	c.Waiting = false
	if b.dispatcher != nil {
		delete(b.again, c.ID)
		b.dispatcher.Withdraw(c.ID)
		return
	}
	b.queue = slices.DeleteFunc(b.queue, func(w waiting) bool { return w.repeat == i+1 })
}

// pays enters what is owed to the owner of h, rounded half to even, at most what
// is left.
func (b *Broker) pays(h hosts.ID, owed float64, left bank.Amount) (bank.Amount, error) {
	due, err := bank.Nearest(owed)
	if err != nil {
		return left, err
	}
	if due.Cmp(left) > 0 {
		due = left
	}
	left, _ = left.Sub(due)
	b.pay = append(b.pay, bank.Payment{To: b.Owners[h], Amount: due})
	return left, nil
}
