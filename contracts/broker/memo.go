package broker

import (
	"math"
	"math/rand/v2"
	"reflect"

	"bourse/contracts"
	"bourse/contracts/floor"
	"bourse/contracts/memo"
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

// Memo returns a copy of what b knows.
func (b *Broker) Memo() *Memo {
	return (&Memo{
		broker: b.State, floor: b.floor.Memo(),
		policy: b.Policy, sharing: b.Sharing, forecast: b.Forecast, ties: b.Ties,
	}).clone()
}

func (m *Memo) clone() *Memo { return memo.Copy(m, reflect.TypeFor[availability.History]()) }

// Recall makes b the broker that m was taken from, in the world of c: its policy,
// sharing rule, forecaster and ties are those of m. M can be recalled again. The next
// call says what instant it is.
func (b *Broker) Recall(c Config, m *Memo) {
	m = m.clone()
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
