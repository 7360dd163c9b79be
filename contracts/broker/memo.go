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

// A Memo is all that a broker knows at an instant, with the memory of its policy, its
// sharing rule and its forecaster and their streams of chance. Machines, accounts, and
// when hosts come and go are the world: not its own.
type Memo struct {
	broker State
	floor  floor.State

	policy   contracts.Policy
	sharing  sharing.Rule
	forecast market.Forecaster
	ties     *rand.Rand
}

// Memo returns what b knows. It is b's own: copy it, with all that it leads to but for what
// is [Fixed], before b is told anything else.
func (b *Broker) Memo() *Memo {
	return &Memo{
		broker: b.State, floor: b.floor.Memo(),
		policy: b.Policy, sharing: b.Sharing, forecast: b.Forecast, ties: b.Ties,
	}
}

// Fixed is the type of what a memo leads to and never changes.
func Fixed() reflect.Type { return reflect.TypeFor[availability.History]() }

// Recall makes b the broker that m was taken from, in the world of c: its policy,
// sharing rule, forecaster and ties are those of m, which is b's from now on: to recall m
// again, give a copy. The next call says what instant it is.
func (b *Broker) Recall(c Config, m *Memo) {
	c.Policy, c.Sharing, c.Forecast, c.Ties = m.policy, m.sharing, m.forecast, m.ties
	b.clear(c)
	b.floor.Recall(c.floor(), m.floor)
	b.State = m.broker
	for i := range b.contracts {
		switch c := &b.contracts[i]; {
		case c.phase != contracts.Ended && c.phase != contracts.Asked:
			b.runs(int32(i), c.run)
		case c.phase == contracts.Asked && !math.IsInf(c.alarm, 1):
			b.timers.Set(int32(i), c.alarm)
		}
		if c := &b.contracts[i]; !math.IsInf(c.renew, 1) {
			b.renewals.Set(int32(i), c.renew)
		}
	}
}
