package broker

import (
	"bourse/contracts"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// What ends at one instant float64 may put a few moments apart. In between a task
// that has nothing left would still be there: its deadline has passed, so it asks
// for all of its host and the others are cut; or its processor is not free yet.
// This file ends at once what rounding leaves.

// nearly ends what would end moments after now: who asks for a host now finds it
// free.
func (b *Broker) nearly(now float64) error {
	for soon := now + 4*contracts.Moment(now); next(&b.finish) <= soon; {
		i, _, _ := b.finish.Min()
		b.reports = b.reports[:0]
		v := &b.venues[i]
		b.touch(now, v)
		b.rest(now, v)
		if len(b.reports) == 0 {
			break
		}
		if b.ending == sharing.WithNodes {
			for _, r := range b.reports {
				b.together(now, int32(r.Key))
			}
		}
		if err := b.conclude(now); err != nil {
			return err
		}
	}
	if !b.freed {
		return nil
	}
	return b.offer(now, nobody)
}

// together ends the other tasks of contract i, whose tasks keep pace, where one
// has ended.
func (b *Broker) together(now float64, i int32) {
	c := &b.contracts[i]
	if !c.PerHost || c.left == 0 {
		return
	}
	for n := range int32(len(c.Placements)) {
		pl := &c.Placements[n]
		if pl.Left {
			continue
		}
		v := &b.venues[pl.Host]
		b.touch(now, v)
		if s := &v.on[v.find(i, n)]; contracts.Enough(s.Done, c.task.Work) {
			b.takeOff(now, v, s, c.task.Work)
		}
	}
}

// rest ends the tasks on v, which has been touched, that have no more than a tick
// left, and appends to reports.
func (b *Broker) rest(now float64, v *venue) {
	for at := 0; at < len(v.on); {
		s := &v.on[at]
		c := &b.contracts[s.Contract]
		work := c.task.Work
		if b.limiter != nil {
			work = min(work, b.limiter.Limit(&c.Request))
		}
		if !c.PerHost || work-s.Done > sharing.Tick {
			at++
			continue
		}
		b.change(s.Contract)
		b.reports = append(b.reports, b.takeOff(now, v, s, work))
	}
}

// takeOff takes s, whose work is done, off v.
func (b *Broker) takeOff(now float64, v *venue, s *contracts.Standing, work float64) hosts.Report {
	i, n := s.Contract, s.Node
	r := v.machine.Stop(now, s.Slot)
	r.Done = work
	b.leave(now, v, i, n, r)
	return r
}
