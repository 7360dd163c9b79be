package broker

import (
	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/floor"
	"bourse/contracts/settlement"
	"bourse/hosts"
)

// Join adds a host, whose charges go to owner, as the last of the fleet. The broker has
// been advanced to now.
func (b *Broker) Join(now float64, m hosts.Machine, owner bank.Account) error {
	b.now = now
	b.Fleet, b.Owners = append(b.Fleet, m), append(b.Owners, owner)
	b.floor.Join(now, m)
	b.hosts = append(b.hosts, settlement.Host{Owner: owner, Capacity: b.floor.Capacity(hosts.ID(len(b.hosts)))})
	return b.here(b.floor.Came(now, hosts.ID(len(b.hosts)-1)))
}

// Came lets h be there again, as Gone lets it leave: hosts of which no history says when.
// The broker has been advanced to now.
func (b *Broker) Came(now float64, h hosts.ID) error {
	b.now = now
	return b.here(b.floor.Came(now, h))
}

// Gone lets h leave.
func (b *Broker) Gone(now float64, h hosts.ID) error {
	b.now = now
	return b.here(b.floor.Gone(now, h))
}

// Shut lets h take no more tasks, or take them again; what is on it goes on.
func (b *Broker) Shut(now float64, h hosts.ID, shut bool) error {
	b.now = now
	b.floor.Shut(now, h, shut)
	b.freed = b.freed || !shut
	return b.Advance(now)
}

// here carries on with what has happened to hosts, and what comes of it.
func (b *Broker) here(events []floor.Event) error {
	if err := b.happened(events); err != nil {
		return err
	}
	return b.Advance(b.now)
}

// View returns the hosts and what is on them, as of the instant that b has been told.
func (b *Broker) View() contracts.View { return &b.floor }

// Phase returns the phase of a contract, and reports whether it is asked for or open.
func (b *Broker) Phase(id contracts.ID) (contracts.Phase, bool) {
	i, ok := b.find(id)
	if !ok {
		return contracts.Ended, false
	}
	return b.contracts[i].phase, true
}

// Read books what h, which is metered, has measured. [Broker.Advance] lets happen what it
// tells: what hosts tell at one instant happens at one. The broker has been advanced to now.
func (b *Broker) Read(now float64, h hosts.ID) {
	b.now = now
	b.floor.Read(now, h)
}
