package broker

import (
	"math"
	"math/rand/v2"
	"reflect"

	"bourse/contracts"
	"bourse/contracts/floor"
	"bourse/contracts/sharing"
	"bourse/hosts/availability"
	"bourse/market"
)

// A Memo is the complete state of a broker at one time. It includes the state of the policy,
// the sharing rule, the forecaster and the random numbers. It excludes machines, accounts and
// the availability of hosts, which are outside the broker.
type Memo struct {
	broker State
	floor  floor.State

	policy   contracts.Policy
	sharing  sharing.Rule
	forecast market.Forecaster
	ties     *rand.Rand
}

// Memo returns the state of b. It shares memory with b, so make a deep copy before the next
// call to b. The copy may share values of the type that [Fixed] returns, because these never
// change.
func (b *Broker) Memo() *Memo {
	return &Memo{
		broker: b.State, floor: b.floor.Memo(),
		policy: b.Policy, sharing: b.Sharing, forecast: b.Forecast, ties: b.Ties,
	}
}

// Fixed returns the type of the values to which a Memo refers and which never change.
func Fixed() reflect.Type { return reflect.TypeFor[availability.History]() }

// Recall restores b to the state m, with the machines, accounts and availability of c. The
// policy, sharing rule, forecaster and ties of m replace those of c. Afterwards m belongs to
// b. To use m again, restore from a copy. The time of the next call sets the clock.
func (b *Broker) Recall(c Config, m *Memo) {
	c.Policy, c.Sharing, c.Forecast, c.Ties = m.policy, m.sharing, m.forecast, m.ties
	b.clear(c)
	b.floor.Recall(c.floor(), m.floor)
	b.State = m.broker
	for i := range b.contracts {
		switch c := &b.contracts[i]; {
		case c.phase != contracts.Ended && c.phase != contracts.Asked:
			b.runs(int32(i), c.run)
			b.license(c, 1)
		case c.phase == contracts.Asked && !math.IsInf(c.alarm, 1):
			b.timers.Set(int32(i), c.alarm)
		}
		if c := &b.contracts[i]; !math.IsInf(c.renew, 1) {
			b.renewals.Set(int32(i), c.renew)
		}
	}
}
