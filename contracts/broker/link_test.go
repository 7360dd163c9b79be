package broker

import (
	"math"
	"math/rand/v2"

	"bourse/hosts"
	"bourse/hosts/remote"
	"bourse/hosts/remote/remotetest"
)

// A link connects a market with remote hosts. It may lose, duplicate and delay their messages.
type link struct {
	rng    *rand.Rand
	prompt bool // whether messages are never lost, duplicated or delayed, and hosts obey at once
	hosts  []*remote.Machine
	agents []*remotetest.Agent
	next   float64 // time of the next exchange, or +Inf if there is none
	last   float64
	pace   float64 // seconds between exchanges, which increase while nothing else happens
}

// host returns a machine with an agent.
func (l *link) host(spec hosts.Spec) hosts.Machine {
	m := remote.New(spec)
	l.hosts, l.agents = append(l.hosts, m), append(l.agents, remotetest.New(spec))
	return m
}

// at returns the time of the next exchange.
func (l *link) at() float64 {
	at := l.next
	for _, a := range l.agents {
		at = min(at, a.Next())
	}
	return max(at, l.last)
}

// soon schedules an exchange with the hosts shortly after at, the time of a change in the
// market.
func (l *link) soon(at float64, b *Broker) {
	if l.prompt {
		l.obey(at, b)
		return
	}
	l.next, l.pace = min(l.next, at+1), 5
}

// talk exchanges messages between hosts and market at now.
func (l *link) talk(now float64, b *Broker) {
	b.Next()
	l.last, l.next, l.pace = now, math.Inf(1), 1.3*l.pace
	for h, a := range l.agents {
		told := a.Tell(now)
		if l.prompt {
			l.hear(now, b, h, told)
			continue
		}
		if a.Running() > 0 || len(l.hosts[h].Orders(now, nil).Wanted) > 0 {
			l.next = min(l.next, now+l.pace)
		}
		switch l.rng.IntN(6) {
		case 0: // the message is lost
		case 1:
			l.hear(now, b, h, told)
			l.hear(now, b, h, told)
		case 2: // the answer is lost
			l.hosts[h].Hear(now, told)
			b.Read(now, hosts.ID(h))
		case 3:
			a.Restart()
			l.hear(now, b, h, a.Tell(now))
		default:
			l.hear(now, b, h, told)
		}
	}
	must(0, b.Advance(now))
	if l.prompt {
		l.obey(now, b)
	}
}

func (l *link) hear(now float64, b *Broker, h int, told *remote.Told) {
	known, ok := l.hosts[h].Hear(now, told)
	b.Read(now, hosts.ID(h))
	b.Next() // allocate shares to the tasks that are wanted now
	if ok {
		o := l.hosts[h].Orders(now, known)
		l.agents[h].Obey(now, &o)
	}
}

// obey sends the wanted tasks to the hosts at once.
func (l *link) obey(now float64, b *Broker) {
	b.Next() // allocate shares to the tasks that are wanted now
	for h, a := range l.agents {
		o := l.hosts[h].Orders(now, nil)
		a.Obey(now, &o)
	}
}
