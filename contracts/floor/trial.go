package floor

import (
	"math/rand/v2"

	"bourse/contracts"
	"bourse/hosts"
)

// A trial is a view of a floor in which a policy can make a trial decision. Reading a trial
// does not change the floor, its price histories or its random numbers.
type trial struct {
	*Floor
	ties *rand.Rand
}

// Trial returns a view of f at now, a time before the next event. Ties are broken by the given
// random numbers. The view is valid until the next change of f.
func (f *Floor) Trial(now float64, ties *rand.Rand) contracts.View {
	f.MoveTo(now)
	return trial{f, ties}
}

// Percentile implements [contracts.View].
func (t trial) Percentile(h hosts.ID, g float64) float64 {
	return t.PercentileOf(h, hosts.CPU, g)
}

// PercentileOf implements [contracts.View].
func (t trial) PercentileOf(h hosts.ID, k hosts.Kind, g float64) float64 {
	past := t.auction(h, k).History().Snapshot()
	return t.percentile(&past, h, k, g)
}

// Cheapest implements [contracts.View].
func (t trial) Cheapest(r *contracts.Request, out []hosts.ID) []hosts.ID {
	was := t.Ties
	t.Ties = t.ties
	out = t.Floor.Cheapest(r, out)
	t.Ties = was
	return out
}

// Changed implements [contracts.View]. Repeated calls return the same hosts.
func (t trial) Changed() []hosts.ID {
	was := t.news.old
	changed := t.Floor.Changed()
	t.news.old = was
	return changed
}
