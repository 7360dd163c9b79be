package sched

import (
	"math"

	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/hosts/availability/predictors"
)

// A Pool is a scheduler's view of a fleet: which hosts are available, how many jobs each runs,
// and which are idle, in the order in which they became idle. Only the driver and [Queue.Tick]
// change it.
type Pool struct {
	pasts    []predictors.Past
	owners   []owner
	hosts    []member
	speeds   bool
	up, idle int
	pace     []float64 // speeds of the hosts; nil to use their MIPS
	entered  int       // number of times that a host became idle

	first, last hosts.ID // ends of the list of idle hosts
}

// A member is the state of one host.
type member struct {
	up         bool
	jobs       int32
	since      float64  // time at which it became idle
	prev, next hosts.ID // neighbors in the list of idle hosts
}

// An owner uses load of its host until the given time.
type owner struct{ load, until float64 }

// NewPool returns the pool of hosts with these histories, in fleet order, all unavailable. If
// speeds is true, a job takes less time on a host with more MIPS; if not, it takes the same
// time on all hosts, as in the paper.
func NewPool(histories []*availability.History, speeds bool) *Pool {
	p := &Pool{pasts: make([]predictors.Past, len(histories)), owners: make([]owner, len(histories)), hosts: make([]member, len(histories)), speeds: speeds, first: None, last: None}
	for h := range histories {
		p.pasts[h].History, p.owners[h].until = histories[h], math.Inf(-1)
	}
	return p
}

// Len returns the number of hosts, available or not.
func (p *Pool) Len() int { return len(p.hosts) }

// Available returns the number of available hosts, idle or not.
func (p *Pool) Available() int { return p.up }

// History returns the history of a host.
func (p *Pool) History(h hosts.ID) *availability.History { return p.pasts[h].History }

// load returns the owner's load of a host. Times must not decrease.
func (p *Pool) load(now float64, h hosts.ID) float64 {
	o := &p.owners[h]
	if now >= o.until {
		o.load, o.until = p.History(h).Load(now)
	}
	return o.load
}

// Speed returns the progress per second of a job that is the only one on a host.
func (p *Pool) Speed(h hosts.ID) float64 {
	switch {
	case p.pace != nil:
		return p.pace[h]
	case p.speeds:
		return p.History(h).MIPS
	}
	return 1
}

// SetSpeeds sets the speeds of the hosts, which replace their MIPS.
func (p *Pool) SetSpeeds(speeds []float64) { p.speeds, p.pace = true, speeds }

// IsAvailable reports whether a host is available.
func (p *Pool) IsAvailable(h hosts.ID) bool { return p.hosts[h].up }

// isIdle reports whether a host is available and runs no job.
func (p *Pool) isIdle(h hosts.ID) bool { return p.hosts[h].up && p.hosts[h].jobs == 0 }

// jobs returns the number of jobs on a host.
func (p *Pool) jobs(h hosts.ID) int { return int(p.hosts[h].jobs) }

// firstIdle returns the host that has been idle longest, or None if there is none.
func (p *Pool) firstIdle() hosts.ID { return p.first }

// nextIdle returns the host that became idle after h, which must be idle, or None if h is the
// last. Hosts that became idle at the same time are in order of index.
func (p *Pool) nextIdle(h hosts.ID) hosts.ID { return p.hosts[h].next }

// Rise makes a host available.
func (p *Pool) Rise(now float64, h hosts.ID) {
	p.hosts[h].up = true
	p.up++
	if p.hosts[h].jobs == 0 {
		p.enter(now, h)
	}
}

// Fall makes a host unavailable. Its jobs must have ended, or wait on it until it returns.
func (p *Pool) Fall(h hosts.ID) {
	if p.hosts[h].jobs == 0 {
		p.leave(h)
	}
	p.hosts[h].up = false
	p.up--
}

// Begin starts a job on an available host.
func (p *Pool) Begin(h hosts.ID) {
	if p.hosts[h].jobs == 0 {
		p.leave(h)
	}
	p.hosts[h].jobs++
}

// End removes a job from a host.
func (p *Pool) End(now float64, h hosts.ID) {
	if p.hosts[h].jobs--; p.hosts[h].jobs == 0 && p.hosts[h].up {
		p.enter(now, h)
	}
}

// enter inserts h after the hosts that became idle before now. Hosts that became idle at now
// are ordered by index.
func (p *Pool) enter(now float64, h hosts.ID) {
	at := p.last
	for at != None && p.hosts[at].since == now && at > h {
		at = p.hosts[at].prev
	}
	m := &p.hosts[h]
	m.since, m.prev, m.next = now, at, p.first
	if at != None {
		m.next = p.hosts[at].next
		p.hosts[at].next = h
	} else {
		p.first = h
	}
	if m.next != None {
		p.hosts[m.next].prev = h
	} else {
		p.last = h
	}
	p.idle++
	p.entered++
}

func (p *Pool) leave(h hosts.ID) {
	m := &p.hosts[h]
	if m.prev != None {
		p.hosts[m.prev].next = m.next
	} else {
		p.first = m.next
	}
	if m.next != None {
		p.hosts[m.next].prev = m.prev
	} else {
		p.last = m.prev
	}
	p.idle--
}
