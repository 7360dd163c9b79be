package broker

import (
	"math"
	"math/rand/v2"

	"bourse/hosts"
	"bourse/hosts/remote"
	"bourse/hosts/remote/remotetest"
)

// A link is what lies between a market and hosts elsewhere, which it may lose, double and
// delay what they tell each other.
type link struct {
	rng    *rand.Rand
	prompt bool // it does none of that, and hosts obey at once
	hosts  []*remote.Machine
	agents []*remotetest.Agent
	next   float64 // instant of the next talk, +Inf if there is none to be had
	last   float64
	pace   float64 // s between talks, longer and longer while nothing else happens
}

// host returns a machine with an agent.
func (l *link) host(spec hosts.Spec) hosts.Machine {
	m := remote.New(spec)
	l.hosts, l.agents = append(l.hosts, m), append(l.agents, remotetest.New(spec))
	return m
}

// at returns the instant of the next talk.
func (l *link) at() float64 {
	at := l.next
	for _, a := range l.agents {
		at = min(at, a.Next())
	}
	return max(at, l.last)
}

// soon has the market talk with its hosts soon after at, at which it has changed its mind.
func (l *link) soon(at float64, b *Broker) {
	if l.prompt {
		l.obey(at, b)
		return
	}
	l.next, l.pace = min(l.next, at+1), 5
}

// talk lets hosts and market talk at now.
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
		case 0: // lost
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
	b.Next() // what is wanted now is dealt
	if ok {
		o := l.hosts[h].Orders(now, known)
		l.agents[h].Obey(now, &o)
	}
}

// obey lets hosts know at once what is wanted.
func (l *link) obey(now float64, b *Broker) {
	b.Next() // what is wanted now is dealt
	for h, a := range l.agents {
		o := l.hosts[h].Orders(now, nil)
		a.Obey(now, &o)
	}
}
